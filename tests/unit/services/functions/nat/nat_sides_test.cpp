// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/nat_sides.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/error_of.hpp"

namespace millrace::nat_sides_test {
namespace {

const std::vector<PlanPort> kPorts = {{.name = "lan", .addresses = {"10.0.0.1/24", "fd00::1/64"}},
                                      {.name = "wan", .addresses = {"203.0.113.1/24"}}};

NatSides sides(const Settings& more = {}) {
  Settings all = {{"inside", "lan"}, {"pool", "203.0.113.1"}};
  all.insert(all.end(), more.begin(), more.end());
  return {nat_settings(all), kPorts};
}

TEST(NatSides, KnowsWhatIsInside) {
  const NatSides all = sides();
  EXPECT_TRUE(all.is_inside(0));
  EXPECT_FALSE(all.is_inside(1));
  EXPECT_FALSE(all.is_inside(255));
  EXPECT_TRUE(all.is_own(0xcb007101));
  EXPECT_TRUE(all.is_own(0xe0000001));
  EXPECT_FALSE(all.is_own(0x0a000002));
  EXPECT_TRUE(all.stays_inside(0x0a000002));
  EXPECT_TRUE(all.stays_inside(0xcb007101));
  EXPECT_FALSE(all.stays_inside(0xcb007102));
  EXPECT_TRUE(all.is_masqueraded(0xcb007101)) << "an own one in the pool";
  EXPECT_FALSE(all.is_masqueraded(0x0a000001));
  EXPECT_TRUE(all.in_pool(0xcb007101));
  EXPECT_FALSE(all.in_pool(0xcb007102));
}

TEST(NatSides, FindsFixedAddressesFromBothSides) {
  const NatSides all = sides({{"static", "203.0.113.8/30 <-> 10.0.0.8/30"},
                              {"publish", "tcp 203.0.113.8:80 -> 10.0.0.2:8080"}});
  EXPECT_EQ(all.fixed_outside(0x0a00000b), 0xcb00710b);
  EXPECT_FALSE(all.fixed_outside(0x0a00000c));
  EXPECT_FALSE(all.fixed_outside(0x0a000002));  // of a published server by the pool
  EXPECT_EQ(all.fixed_inside(0xcb007108, 80, 6)->address, 0x0a000002u);
  EXPECT_EQ(all.fixed_inside(0xcb007108, 80, 6)->port, 8080);
  EXPECT_EQ(all.fixed_inside(0xcb007108, 80, 17)->address, 0x0a000008u);
  EXPECT_EQ(all.fixed_inside(0xcb007108, 81, 6)->port, 81);
  EXPECT_FALSE(all.fixed_inside(0xcb00710c, 80, 6));
}

TEST(NatSides, KnowsWhatStandsForHostsInside) {
  const NatSides all = sides({{"static", "203.0.113.8/30 <-> 10.0.0.8/30"},
                              {"publish", "tcp 203.0.113.20:80 -> 10.0.0.2:8080"}});
  for (const std::uint32_t address : {0xcb007101, 0xcb007108, 0xcb00710b, 0xcb007114}) {
    EXPECT_TRUE(all.is_outside(address));
  }
  EXPECT_FALSE(all.is_outside(0xcb00710c));
  EXPECT_FALSE(all.hairpin());
  EXPECT_EQ(sides({{"hairpin", "wan"}}).hairpin(), 1);
}

TEST(NatSides, RefusesAnAddressWithoutALength) {
  const NatSettings settings = nat_settings({{"inside", "lan"}, {"pool", "203.0.113.1"}});
  const std::vector<PlanPort> ports = {{.name = "lan", .addresses = {"10.0.0.1"}}};
  EXPECT_NE(test::error_of([&] { NatSides(settings, ports); }), "no error");
}

}  // namespace
}  // namespace millrace::nat_sides_test
