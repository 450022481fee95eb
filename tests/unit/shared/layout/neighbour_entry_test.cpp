// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/layout/neighbour_entry.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "tests/unit/shared/layout/neighbour_memory.hpp"

namespace millrace {
namespace {

TEST(NeighbourWord, KeepsItsPartsApart) {
  const auto word = NeighbourWord::of(NeighbourPhase::kClaimed, true, 0x1abcdef0, 0xfedcba98);
  EXPECT_EQ(word.phase(), NeighbourPhase::kClaimed);
  EXPECT_TRUE(word.pinned());
  EXPECT_EQ(word.generation(), 0x1abcdef0u);
  EXPECT_EQ(word.claimed_ms(), 0xfedcba98u);
  EXPECT_FALSE(word.with_pin(false).pinned());
  EXPECT_EQ(word.with_pin(false).with_pin(true).bits, word.bits);
  EXPECT_EQ(word.emptied().phase(), NeighbourPhase::kEmpty);
  EXPECT_EQ(word.emptied().generation(), word.generation());
}

TEST(NeighbourWord, NoGenerationIsZeroAfterTheFirst) {
  EXPECT_EQ(NeighbourWord{}.next_generation(), 1u);
  const auto last =
      NeighbourWord::of(NeighbourPhase::kPublished, false, NeighbourWord::kGenerationMask, 0);
  EXPECT_EQ(last.next_generation(), 1u);
}

TEST(NeighbourWord, AClaimIsFreshForASecondAlsoWhereItsTimeWraps) {
  for (const std::uint64_t at : {std::uint64_t{1}, std::uint64_t{0xffffff00},
                                 std::uint64_t{0x7fffff00}, std::uint64_t{5} << 32}) {
    const auto word =
        NeighbourWord::of(NeighbourPhase::kClaimed, false, 1, static_cast<std::uint32_t>(at));
    EXPECT_TRUE(word.is_fresh(at));
    EXPECT_TRUE(word.is_fresh(at + 999));
    EXPECT_FALSE(word.is_fresh(at + 1000));
    EXPECT_FALSE(word.is_fresh(at + 0x80000000));
    EXPECT_FALSE(word.is_fresh(at + 0xffff0000));
    EXPECT_TRUE(word.is_fresh(at + (std::uint64_t{1} << 32) - 59'999)) << "a clock read before";
  }
}

TEST(NeighbourTag, TellsOlderFromNewerAcrossItsWrap) {
  for (const std::uint32_t generation : {1u, 8190u, 8191u, 8192u, 65535u, 65536u, 100'000u}) {
    const std::uint64_t link = neighbour_link(NeighbourState::kStatic, mac_of(7), generation);
    EXPECT_TRUE(NeighbourLinkTag::has_tag(link, generation));
    EXPECT_FALSE(NeighbourLinkTag::has_tag(link, generation + 1));
    EXPECT_FALSE(NeighbourLinkTag::is_newer(link, generation));
    EXPECT_FALSE(NeighbourLinkTag::is_newer(link, generation + 1));
    EXPECT_TRUE(NeighbourLinkTag::is_newer(link, generation - 1));
    const std::uint64_t asked = neighbour_asked(1, 2, generation);
    EXPECT_TRUE(NeighbourWordTag::has_tag(asked, generation));
    EXPECT_TRUE(NeighbourWordTag::is_newer(asked, generation - 1));
    EXPECT_FALSE(NeighbourWordTag::is_newer(asked, generation + 1));
  }
}

TEST(NeighbourLink, HoldsStateAndMacBesideTheTag) {
  const MacAddress mac = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff};
  const std::uint64_t link = neighbour_link(NeighbourState::kStatic, mac, 0xffffffff);
  EXPECT_EQ(state_of_link(link), NeighbourState::kStatic);
  EXPECT_EQ(mac_of_link(link), mac);
  EXPECT_EQ(state_of_link(neighbour_link(NeighbourState::kNone, {}, 8191)), NeighbourState::kNone);
  const std::uint64_t asked = neighbour_asked((std::uint64_t{1} << 40) - 1, 255, 0xffff);
  EXPECT_EQ(asked_ms_of(asked), (std::uint64_t{1} << 40) - 1);
  EXPECT_EQ(asks_of(asked), 255u);
}

TEST(NeighbourKeyWords, GiveTheKeyBackAndLeaveRoomForTheTag) {
  NeighbourKey key{.family = NeighbourFamily::kIpv6, .port = kNeighbourPortMax};
  for (std::uint8_t i = 0; i < 16; ++i) key.address[i] = static_cast<std::uint8_t>(0xff - i);
  for (const NeighbourKey& one : {key, neighbour_key(2), neighbour_key(3), NeighbourKey{}}) {
    const auto words = NeighbourKeyWords::of(one);
    EXPECT_EQ(words.key(), one);
    for (const std::uint64_t value : words.value) EXPECT_EQ(value >> 48, 0u);
  }
}

/// Chi-squared over 64 homes has 63 degrees of freedom: above 150 comes once in 10^8 tables.
TEST(NeighbourKeyWords, AddressesInARowSpreadOverTheTableForEachSecret) {
  std::mt19937_64 random(20);
  for (int round = 0; round < 20; ++round) {
    const std::uint64_t secret = random();
    for (const std::uint32_t step : {2u, 512u, 131'072u}) {
      for (const std::uint32_t parity : {0u, 1u}) {  // IPv4, IPv6
        std::vector<double> count(64);
        for (std::uint32_t i = 0; i < 6400; ++i) {
          count[NeighbourKeyWords::of(neighbour_key(i * step + parity)).hash(secret) % 64] += 1;
        }
        double chi_squared = 0;
        for (const double one : count) chi_squared += (one - 100) * (one - 100) / 100;
        EXPECT_LT(chi_squared, 150) << "secret " << secret << " step " << step;
      }
    }
  }
}

}  // namespace
}  // namespace millrace
