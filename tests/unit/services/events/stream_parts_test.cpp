// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/stream_parts.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace millrace {
namespace {

using Gaps = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

TEST(StreamParts, SaysWhatIsMissing) {
  StreamParts parts;
  EXPECT_EQ(parts.missing(5, 9), (Gaps{{0, 5}}));
  parts.add(2, 4);
  parts.add(6, 8);
  parts.add(9, 9);
  EXPECT_EQ(parts.missing(10, 9), (Gaps{{0, 2}, {4, 6}, {8, 10}}));
  EXPECT_EQ(parts.missing(10, 1), (Gaps{{0, 2}}));
  parts.move(1);
  EXPECT_EQ(parts.missing(9, 9), (Gaps{{0, 3}, {5, 7}}));
  EXPECT_EQ(parts.bytes(), 4u);
  EXPECT_EQ(parts.end(), 9u);
}

TEST(StreamParts, AreWhatWasAdded) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    StreamParts parts;
    std::set<std::uint64_t> known;
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t begin = random() % 200, end = begin + random() % 20;
      parts.add(begin, end);
      for (std::uint64_t at = begin; at < end; ++at) known.insert(at);
      ASSERT_EQ(parts.bytes(), known.size()) << "seed " << seed;
    }
    std::size_t missing = 0;
    for (const auto& [begin, end] : parts.missing(300, 1000)) {
      for (std::uint64_t at = begin; at < end; ++at, ++missing) ASSERT_FALSE(known.contains(at));
    }
    ASSERT_EQ(missing, 300 - known.size());
  }
}

}  // namespace
}  // namespace millrace
