// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/config/vlan.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace millrace {
namespace {

TEST(Vlan, ReadsLinkAndTagsOfAPort) {
  const std::vector<PlanPort> ports = {
      {.name = "wan", .device = "null"},
      {.name = "trunk", .device = "null"},
      {.name = "office", .device = "vlan", .settings = {{"id", "10"}, {"link", "trunk"}}},
      {.name = "customer",
       .device = "vlan",
       .settings = {{"link", "wan"}, {"outer", "4094"}, {"id", "1"}}}};
  EXPECT_FALSE(vlan_port(ports, 0));
  EXPECT_FALSE(vlan_port(ports, 1));
  const auto office = vlan_port(ports, 2), customer = vlan_port(ports, 3);
  ASSERT_TRUE(office && customer);
  EXPECT_EQ(office->link, 1);
  EXPECT_EQ(office->outer, 0);
  EXPECT_EQ(office->id, 10);
  EXPECT_EQ(customer->link, 0);
  EXPECT_EQ(customer->outer, 4094);
  EXPECT_EQ(customer->id, 1);
}

}  // namespace
}  // namespace millrace
