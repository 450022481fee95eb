// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/ipv6_rib.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

constexpr Ipv6Address kFirst = {0x20010db8'00000000, 0}, kLater = {0x20010db8'00010000, 0};

TEST(Ipv6Rib, GivesItsPrefixesInOrderAndKnowsTheFirstTag) {
  Ipv6Rib rib;
  EXPECT_TRUE(rib.empty());
  std::uint32_t first = 0;
  EXPECT_TRUE(rib.insert({kLater, 48, 1}, 11, first));
  EXPECT_TRUE(rib.insert({kFirst, 48, 2}, 12, first));
  EXPECT_TRUE(rib.insert({kFirst, 32, 3}, 13, first));
  EXPECT_FALSE(rib.insert({kFirst, 48, 4}, 14, first));
  EXPECT_EQ(first, 12u);
  rib.replace({kLater, 48, 5});
  rib.replace({{kFirst.high, 1}, 128, 6});
  EXPECT_FALSE(rib.empty());
  const std::vector<Ipv6Route> routes = rib.in_order();
  ASSERT_EQ(routes.size(), 4u);
  const std::uint32_t lengths[] = {32, 48, 128, 48};
  const std::uint32_t hops[] = {3, 2, 6, 5};
  for (std::size_t i = 0; i < routes.size(); ++i) {
    EXPECT_EQ(routes[i].length, lengths[i]) << i;
    EXPECT_EQ(routes[i].hop, hops[i]) << i;
  }
}

}  // namespace
}  // namespace millrace
