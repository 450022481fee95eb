// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/streams/told_bytes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace millrace {
namespace {

using Piece = std::pair<std::uint64_t, std::uint32_t>;  // position, bytes

std::vector<Piece> told(ToldBytes& bytes, std::uint32_t sequence, std::uint32_t count,
                        std::uint64_t depth = 0, std::optional<std::uint32_t> acknowledged = {}) {
  std::array<NewBytes, kNewBytesMax> out;
  std::vector<Piece> pieces;
  const std::size_t found = tell_bytes(bytes, sequence, count, depth, acknowledged, out);
  for (std::size_t i = 0; i < found; ++i) pieces.emplace_back(out[i].position, out[i].bytes);
  return pieces;
}

TEST(ToldBytes, EachByteIsNewOnce) {
  ToldBytes bytes{};
  begin_told(bytes, 1000);
  EXPECT_EQ(told(bytes, 1000, 10), (std::vector<Piece>{{0, 10}}));
  EXPECT_EQ(told(bytes, 1000, 10), std::vector<Piece>{});
  EXPECT_EQ(told(bytes, 1005, 10), (std::vector<Piece>{{10, 5}}));
  EXPECT_EQ(told(bytes, 1020, 10), (std::vector<Piece>{{20, 10}}));
  EXPECT_EQ(bytes.next, 15u);
  EXPECT_EQ(told(bytes, 1010, 25), (std::vector<Piece>{{15, 5}, {30, 5}}));
  EXPECT_EQ(bytes.next, 35u);
  EXPECT_EQ(bytes.ahead_count, 0u);
}

TEST(ToldBytes, AKeepAliveInFrontOfAllIsNotNew) {
  ToldBytes bytes{};
  begin_told(bytes, 0);
  EXPECT_EQ(told(bytes, UINT32_MAX, 1), std::vector<Piece>{});
  EXPECT_EQ(told(bytes, UINT32_MAX, 3), (std::vector<Piece>{{0, 2}}));
}

TEST(ToldBytes, WhatWasInFrontOfTheFirstSegmentMayComeLater) {
  ToldBytes bytes{};
  pick_up_told(bytes, 5);
  EXPECT_EQ(told(bytes, 5, 5), (std::vector<Piece>{{kStreamOrigin, 5}}));
  EXPECT_EQ(told(bytes, UINT32_MAX - 4, 5), (std::vector<Piece>{{kStreamOrigin - 10, 5}}));
  EXPECT_EQ(told(bytes, 0, 6), (std::vector<Piece>{{kStreamOrigin - 5, 5}}));
  EXPECT_EQ(bytes.first, kStreamOrigin - 10);
  EXPECT_EQ(bytes.next, kStreamOrigin + 5);
}

TEST(ToldBytes, WhatIsBehindTheDepthIsSeenAndNotTold) {
  ToldBytes bytes{};
  begin_told(bytes, 7);
  EXPECT_EQ(told(bytes, 7, 10, 6), (std::vector<Piece>{{0, 6}}));
  EXPECT_EQ(told(bytes, 17, 10, 6), std::vector<Piece>{});
  EXPECT_EQ(bytes.seen, 20u);
}

TEST(ToldBytes, WhatIsFarAheadIsNotOfTheStream) {
  ToldBytes bytes{};
  begin_told(bytes, 0);
  EXPECT_EQ(told(bytes, (1u << 31) + 1, 1), std::vector<Piece>{});
  EXPECT_EQ(bytes.seen, 0u);
}

TEST(ToldBytes, AHoleThatIsLongPastIsGivenUp) {
  ToldBytes bytes{};
  begin_told(bytes, 0);
  std::uint64_t at = 1;  // byte 0 never comes
  constexpr std::uint32_t kStep = 1u << 28;
  for (int i = 0; i < 40; ++i, at += kStep) {
    EXPECT_EQ(told(bytes, static_cast<std::uint32_t>(at), 1), (std::vector<Piece>{{at, 1}})) << i;
  }
}

/// With few enough holes, over the wrap of sequence numbers: against a set of positions.
TEST(ToldBytes, NewBytesAreThoseOfNoSegmentBefore) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    ToldBytes bytes{};
    const std::uint32_t start = 0u - random() % 2000;
    begin_told(bytes, start);
    std::set<std::uint64_t> known;
    std::uint64_t next = 0;
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t at = next + random() % 60 - std::min<std::uint64_t>(next, random() % 60);
      const std::uint32_t count = 1 + random() % 50;
      std::vector<std::uint64_t> fresh, got;
      for (std::uint64_t p = at; p < at + count; ++p) {
        if (known.insert(p).second) fresh.push_back(p);
      }
      for (const auto& [position, size] :
           told(bytes, start + static_cast<std::uint32_t>(at), count)) {
        for (std::uint32_t k = 0; k < size; ++k) got.push_back(position + k);
      }
      ASSERT_EQ(got, fresh) << "seed " << seed << ", segment " << i;
      while (known.contains(next)) ++next;
      ASSERT_EQ(bytes.next, next);
    }
  }
}

TEST(ToldBytes, WithTooManyHolesNothingIsLost) {
  ToldBytes bytes{};
  begin_told(bytes, 0);
  for (std::uint32_t at = 2; at < 200; at += 2) {
    EXPECT_EQ(told(bytes, at, 1), (std::vector<Piece>{{at, 1}}));
  }
  EXPECT_EQ(bytes.ahead_count, ToldBytes::kAheadMax);
  std::set<std::uint64_t> got;
  for (const auto& [position, size] : told(bytes, 0, 200)) {
    for (std::uint32_t k = 0; k < size; ++k) got.insert(position + k);
  }
  EXPECT_TRUE(got.contains(1) && got.contains(199));
  EXPECT_EQ(bytes.next, 200u);
}

TEST(ToldBytes, WhatIsAcknowledgedIsNotNewThoughItWasForgotten) {
  ToldBytes bytes{};
  begin_told(bytes, 0);
  for (std::uint32_t at = 2; at < 200; at += 2) told(bytes, at, 1);
  EXPECT_EQ(told(bytes, 198, 1, 0, 100), (std::vector<Piece>{{198, 1}}));
  EXPECT_EQ(told(bytes, 98, 4, 0, 100), (std::vector<Piece>{{100, 2}}));
  EXPECT_EQ(told(bytes, 150, 50, 0, 1000), (std::vector<Piece>{{199, 1}}));
  // Where nothing was forgotten, it fills a hole.
  begin_told(bytes, 0);
  told(bytes, 10, 5);
  EXPECT_EQ(told(bytes, 0, 15, 0, 15), (std::vector<Piece>{{0, 10}}));
}

}  // namespace
}  // namespace millrace
