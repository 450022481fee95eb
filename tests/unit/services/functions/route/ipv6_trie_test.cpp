// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A node and a table by hand; what builders make of prefixes is in ipv6_build_test.cpp.

#include "services/functions/route/ipv6_trie.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

namespace millrace {
namespace {

constexpr Ipv6Address kAddress = {0x20010db8'00000000, 1};

TEST(Ipv6Trie, ANodeGivesTheEntryOfTheRunThatAByteLiesIn) {
  // Runs at 0, 63, 64, 200.
  Ipv6Node node{.starts = {1ull | 1ull << 63, 1, 0, 1ull << 8},
                .before = {0, 2, 3, 3},
                .more = 0,
                .entries = {10, 11, 12, 13}};
  const std::vector<std::uint32_t> runs = {0, 20, 21, 22, 23};
  const auto expected = [](std::uint32_t byte) {
    return byte < 63 ? 0u : byte < 64 ? 1u : byte < 200 ? 2u : 3u;
  };
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    node.more = 0;
    ASSERT_EQ(node.entry(byte, runs.data()), 10 + expected(byte)) << byte;
    node.more = 1;
    ASSERT_EQ(node.entry(byte, runs.data()), 20 + expected(byte)) << byte;
  }
}

TEST(Ipv6Trie, WhatNoPrefixCoversIsTheDefaultRoute) {
  std::vector<std::uint32_t> table24(kIpv6Table24Entries);
  table24[0x20010d] = 9;
  const Ipv6Routes routes{.table24 = table24.data()};
  EXPECT_TRUE(routes.present());
  EXPECT_FALSE(Ipv6Routes{}.present());
  EXPECT_EQ(routes.look_up(kAddress), 9u);
  EXPECT_EQ(routes.look_up({}), kHopDefaultIpv6);
}

TEST(Ipv6Trie, AnAddressIsOursOnlyWhenItIsTheSame) {
  const OwnFilter filter = own_filter_of(std::array{kAddress});
  const Ipv6Routes routes{.own = &kAddress, .own_filter = &filter, .own_count = 1};
  EXPECT_TRUE(routes.is_own(kAddress));
  for (std::uint64_t low = 2; low < 1000; ++low) {
    EXPECT_FALSE(routes.is_own({kAddress.high, low})) << low;
  }
  OwnFilter all;
  std::memset(&all, 0xff, sizeof all);
  const Ipv6Routes any{.own = &kAddress, .own_filter = &all, .own_count = 1};
  EXPECT_TRUE(any.is_own(kAddress));
  EXPECT_FALSE(any.is_own({kAddress.high, 2})) << "the filter decides alone";
}

}  // namespace
}  // namespace millrace
