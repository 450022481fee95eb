// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_bits.hpp"

#include <gtest/gtest.h>

// Tables as the builder makes them: acl_search_test.cpp. These are by hand, and constant
// expressions: so nothing here keeps device code from calling the look-up.

namespace millrace {
namespace {

static_assert(acl_swap(std::uint32_t{0x01020304}) == 0x04030201);
static_assert(acl_swap(std::uint16_t{0x0102}) == 0x0201);
static_assert(acl_lowest_bit(0b1000) == 3 && acl_lowest_bit(1u << 31) == 31);

constexpr std::uint32_t kWords[] = {0x04030201, 0x08070605, 0x0c0b0a09, 0x100f0e0d};
constexpr Address128 ipv6_of(const std::uint32_t* words) {
  Address128 address{};
  acl_address(words, address);
  return address;
}
static_assert(ipv6_of(kWords) == Address128{0x0102030405060708, 0x090a0b0c0d0e0f10});
static_assert(Address128{1, 9} <= Address128{2, 0} && !(Address128{2, 1} <= Address128{2, 0}));

TEST(AclBits, FindsTheIntervalOfAnAddress) {
  static std::uint32_t first[kAclFirstLevel + 1];
  // Intervals from 0, 1.0.0.0, 1.0.0.7 and 1.1.0.0.
  const std::uint32_t starts[] = {0, 0x01000000, 0x01000007, 0x01010000};
  const std::uint32_t vectors[] = {40, 41, 42, 43};
  for (std::uint32_t upper = 0; upper <= kAclFirstLevel; ++upper) {
    first[upper] = upper < 0x100 ? 0 : upper == 0x100 ? 1 : 3;
  }
  const AclIntervals<std::uint32_t> intervals{first, starts, vectors};
  EXPECT_EQ(intervals.find(0), 40u);
  EXPECT_EQ(intervals.find(0x00ffffff), 40u);
  EXPECT_EQ(intervals.find(0x01000000), 41u);
  EXPECT_EQ(intervals.find(0x01000006), 41u);
  EXPECT_EQ(intervals.find(0x01000007), 42u);
  EXPECT_EQ(intervals.find(0x0100ffff), 42u);
  EXPECT_EQ(intervals.find(0x01010000), 43u);
  EXPECT_EQ(intervals.find(UINT32_MAX), 43u);
}

TEST(AclBits, TheFirstCommonBitIsTheRuleAndSummariesThatLieApartCostNothing) {
  constexpr std::uint32_t kBlocks = 2, kPerVector = kBlocks * kAclBlockWords;
  std::uint32_t words[3 * kPerVector] = {}, summaries[3 * kBlocks] = {};
  std::uint32_t rules[kPerVector * 32];
  for (std::uint32_t i = 0; i < kPerVector * 32; ++i) rules[i] = i + 10;
  const auto set = [&](std::uint32_t vector, std::uint32_t rule) {
    words[vector * kPerVector + rule / 32] |= 1u << rule % 32;
    summaries[vector * kBlocks + rule / kAclBlockRules] |= 1u << rule / 32 % kAclBlockWords;
  };
  AclBits<std::uint32_t> bits;
  bits.rule_count = kPerVector * 32;
  bits.block_count = kBlocks;
  bits.rules = rules;
  bits.summaries = summaries;
  bits.vectors = words;
  EXPECT_EQ(bits.first_common({0, 1, 2}), kAclNoRule);
  for (const std::uint32_t vector : {0, 1, 2}) set(vector, 2047);
  EXPECT_EQ(bits.first_common({0, 1, 2}), 2047u + 11);
  set(0, 1500);  // the same word in all three, another bit
  set(1, 1501);
  set(2, 1500);
  EXPECT_EQ(bits.first_common({0, 1, 2}), 2047u + 11);
  set(1, 1500);
  EXPECT_EQ(bits.first_common({0, 1, 2}), 1500u + 11);
  set(0, 3);
  set(1, 3);
  EXPECT_EQ(bits.first_common({0, 1, 2}), 1500u + 11) << "two of three";
  set(2, 3);
  EXPECT_EQ(bits.first_common({0, 1, 2}), 3u + 11);
}

TEST(AclBits, OfNoRulesNeedNoTables) {
  const AclBitsTable table;
  AclKey key{};
  key.version = 6;
  EXPECT_EQ(table.look_up(key), kAclNoRule);
}

}  // namespace
}  // namespace millrace
