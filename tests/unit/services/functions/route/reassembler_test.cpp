// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/reassembler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace millrace {
namespace {

using Bytes = std::vector<std::byte>;
using Outcome = Reassembler::Outcome;
constexpr std::uint64_t kSecondNs = 1'000'000'000;

Bytes some_bytes(std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = std::byte(random() & 255);
  return bytes;
}

/// A datagram, piece by piece.
struct Whole {
  std::uint32_t identification = 1;
  Bytes data = some_bytes(4000);
  Bytes front = some_bytes(34, 2);

  Fragment piece(std::size_t at, std::size_t bytes) const {
    return {.key = {.source = {10, 1, 0, 5}, .identification = identification, .protocol = 1},
            .at = at,
            .more = at + bytes < data.size(),
            .data = std::span(data).subspan(at, bytes),
            .front = front};
  }
  Bytes bytes() const {
    Bytes all = front;
    all.insert(all.end(), data.begin(), data.end());
    return all;
  }
};

TEST(Reassembler, PutsADatagramTogetherInAnyOrder) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    Whole whole{.data = some_bytes(1 + random() % 4096, random())};
    std::vector<Fragment> pieces;
    for (std::size_t at = 0; at < whole.data.size();) {
      const std::size_t bytes =
          std::min<std::size_t>(8 + random() % 100 * 8, whole.data.size() - at);
      pieces.push_back(whole.piece(at, bytes));
      at += bytes;
    }
    std::ranges::shuffle(pieces, random);
    Reassembler reassembler;
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
      ASSERT_EQ(reassembler.add(pieces[i], 0), Outcome::kWaits);
      ASSERT_EQ(reassembler.add(pieces[random() % (i + 1)], 0), Outcome::kWaits) << "once more";
    }
    ASSERT_EQ(reassembler.add(pieces.back(), 0), Outcome::kWhole);
    EXPECT_TRUE(std::ranges::equal(reassembler.whole(), whole.bytes()));
  }
}

TEST(Reassembler, FragmentsOfTwoDatagramsDoNotMix) {
  const Whole one, other{.identification = 2, .data = some_bytes(4000, 9)};
  Reassembler reassembler;
  EXPECT_EQ(reassembler.add(one.piece(0, 2000), 0), Outcome::kWaits);
  EXPECT_EQ(reassembler.add(other.piece(2000, 2000), 0), Outcome::kWaits);
  EXPECT_EQ(reassembler.add(other.piece(0, 2000), 0), Outcome::kWhole);
  EXPECT_TRUE(std::ranges::equal(reassembler.whole(), other.bytes()));
  EXPECT_EQ(reassembler.add(one.piece(2000, 2000), 0), Outcome::kWhole);
  EXPECT_TRUE(std::ranges::equal(reassembler.whole(), one.bytes()));
}

TEST(Reassembler, AnOverlapRefusesTheDatagramAndWhatComesOfItLater) {
  const Whole whole;
  const Bytes other = some_bytes(2000, 5);
  Fragment same_place = whole.piece(0, 2000);
  same_place.data = other;
  for (const Fragment& overlap :
       {whole.piece(1992, 2008), whole.piece(8, 2000), same_place, whole.piece(0, 2008)}) {
    Reassembler reassembler;
    EXPECT_EQ(reassembler.add(whole.piece(0, 2000), 0), Outcome::kWaits);
    EXPECT_EQ(reassembler.add(overlap, 0), Outcome::kRefused);
    EXPECT_EQ(reassembler.add(whole.piece(2000, 2000), 0), Outcome::kRefused);
    EXPECT_EQ(reassembler.add(whole.piece(0, 2000), 0), Outcome::kRefused);
  }
}

TEST(Reassembler, WhatContradictsOrIsTooLongIsRefused) {
  const Whole whole;
  Fragment early_end = whole.piece(2000, 80), behind_end = whole.piece(2000, 2000);
  early_end.more = false;
  behind_end.more = true;
  Fragment uneven = whole.piece(2000, 81), too_long = whole.piece(2000, 2000);
  too_long.at = 2104;
  Fragment empty = whole.piece(2000, 0), off_place = whole.piece(2000, 80);
  off_place.at = 2001;
  Fragment another_end = whole.piece(3000, 400);
  another_end.more = false;
  const auto outcome_behind = [&](const Fragment& first, const Fragment& then) {
    Reassembler reassembler;
    EXPECT_EQ(reassembler.add(first, 0), Outcome::kWaits);
    return reassembler.add(then, 0);
  };
  EXPECT_EQ(outcome_behind(whole.piece(2080, 80), early_end), Outcome::kRefused);
  EXPECT_EQ(outcome_behind(early_end, behind_end), Outcome::kRefused);
  EXPECT_EQ(outcome_behind(whole.piece(3600, 400), another_end), Outcome::kRefused);
  for (const Fragment& wrong : {uneven, too_long, empty, off_place}) {
    EXPECT_EQ(outcome_behind(whole.piece(0, 80), wrong), Outcome::kRefused);
  }
}

TEST(Reassembler, WhatIsNotWholeInAMinuteIsForgotten) {
  const Whole whole;
  Reassembler reassembler;
  EXPECT_EQ(reassembler.add(whole.piece(0, 2000), kSecondNs), Outcome::kWaits);
  EXPECT_EQ(reassembler.add(whole.piece(2000, 2000), 61 * kSecondNs), Outcome::kWaits);
  EXPECT_EQ(reassembler.add(whole.piece(0, 2000), 120 * kSecondNs), Outcome::kWhole)
      << "the new one's minute is not over";
}

TEST(Reassembler, OfTooManyDatagramsTheOldestIsForgotten) {
  Reassembler reassembler;
  std::vector<Whole> all(Reassembler::kDatagramsMax + 1);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    all[i].identification = i;
    EXPECT_EQ(reassembler.add(all[i].piece(0, 2000), i), Outcome::kWaits);
  }
  for (std::size_t i = all.size(); i-- > 1;) {
    EXPECT_EQ(reassembler.add(all[i].piece(2000, 2000), 100), Outcome::kWhole) << i;
  }
  EXPECT_EQ(reassembler.add(all[0].piece(2000, 2000), 100), Outcome::kWaits);
}

}  // namespace
}  // namespace millrace
