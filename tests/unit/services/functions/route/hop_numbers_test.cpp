// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/hop_numbers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/services/functions/route/route_fixture.hpp"

namespace millrace {
namespace {

using testing::HasSubstr;

RouteLine line_of(std::initializer_list<RouteLineHop> hops) {
  RouteLine line;
  line.hops = hops;
  return line;
}

RouteLineHop by(std::string_view port, std::uint8_t last, std::uint32_t weight = 1) {
  RouteLineHop hop{.port = port, .kind = RouteHopKind::kGateway4, .weight = weight};
  hop.gateway[3] = last;
  return hop;
}

TEST(HopNumbers, EqualNextHopsHaveOneNumberAndTheFixedOnesComeFirst) {
  HopNumbers numbers(two_ports(), true);
  std::uint32_t one = 0, other = 0, again = 0, drop = 0, none = 0;
  EXPECT_EQ(numbers.find(line_of({by("wan", 1)}), one), "");
  EXPECT_EQ(numbers.find(line_of({by("lan", 1)}), other), "");
  EXPECT_EQ(numbers.find(line_of({by("wan", 1)}), again), "");
  EXPECT_EQ(numbers.find({}, drop), "");
  RouteLine unreachable;
  unreachable.refusal = RouteRefusal::kUnreachable;
  EXPECT_EQ(numbers.find(unreachable, none), "");
  EXPECT_EQ(one, kHopFirst);
  EXPECT_EQ(other, kHopFirst + 1);
  EXPECT_EQ(again, one);
  EXPECT_EQ(drop, kHopNowhere);
  EXPECT_EQ(none, kHopFirst + 2);
  EXPECT_EQ(numbers.hops()[other].port, 0);
}

TEST(HopNumbers, RefusalsAndMtusAreNextHopsOfTheirOwn) {
  HopNumbers numbers(two_ports(), true);
  RouteLine line;
  std::uint32_t number = 0;
  line.refusal = RouteRefusal::kUnreachable;
  EXPECT_EQ(numbers.find(line, number), "");
  EXPECT_EQ(numbers.hops()[number].reason, static_cast<std::uint8_t>(RouteReason::kUnreachable));
  line.refusal = RouteRefusal::kProhibited;
  EXPECT_EQ(numbers.find(line, number), "");
  EXPECT_EQ(numbers.hops()[number].reason, static_cast<std::uint8_t>(RouteReason::kProhibited));
  std::uint32_t usual = 0, narrow = 0;
  line = line_of({by("wan", 1)});
  EXPECT_EQ(numbers.find(line, usual), "");
  line.mtu = 1400;
  EXPECT_EQ(numbers.find(line, narrow), "");
  EXPECT_NE(usual, narrow);
  EXPECT_EQ(numbers.hops()[usual].mtu, 0);
  EXPECT_EQ(numbers.hops()[narrow].mtu, 1400);
}

TEST(HopNumbers, AGroupHasItsMembersAndEqualGroupsAreOne) {
  HopNumbers numbers(two_ports(), true);
  std::uint32_t group = 0, again = 0, weighted = 0;
  EXPECT_EQ(numbers.find(line_of({by("wan", 1), by("lan", 2)}), group), "");
  EXPECT_EQ(numbers.find(line_of({by("wan", 1), by("lan", 2)}), again), "");
  EXPECT_EQ(numbers.find(line_of({by("wan", 1, 3), by("lan", 2)}), weighted), "");
  EXPECT_EQ(group, again);
  EXPECT_NE(group, weighted);
  const RouteHop& hop = numbers.hops()[weighted];
  ASSERT_EQ(hop.member_count, 2);
  EXPECT_EQ(numbers.members()[hop.first_member].last, 0xbfffffffu);
  EXPECT_EQ(numbers.members()[hop.first_member + 1].last, UINT32_MAX);
  EXPECT_EQ(numbers.members().size(), 4u);
}

TEST(HopNumbers, WhatCannotBeSaysWhy) {
  HopNumbers numbers(two_ports(), false);
  std::uint32_t hop = 0;
  EXPECT_THAT(numbers.find(line_of({by("dmz", 1)}), hop), HasSubstr("no port 'dmz'"));
  EXPECT_THAT(numbers.find(line_of({by("wan", 1)}), hop), HasSubstr("answers: false"));
  EXPECT_EQ(numbers.hops().size(), kHopFirst);
}

TEST(HopNumbers, ThoseOfATableKeepTheirNumbers) {
  HopNumbers first(two_ports(), true);
  std::uint32_t one = 0, group = 0;
  EXPECT_EQ(first.find(line_of({by("wan", 1)}), one), "");
  EXPECT_EQ(first.find(line_of({by("wan", 1), by("lan", 2)}), group), "");
  HopNumbers second(two_ports(), true, first.hops(), first.members());
  std::uint32_t hop = 0;
  EXPECT_EQ(second.find(line_of({by("wan", 1), by("lan", 2)}), hop), "");
  EXPECT_EQ(hop, group);
  EXPECT_EQ(second.find(line_of({by("wan", 1)}), hop), "");
  EXPECT_EQ(hop, one);
  EXPECT_EQ(second.find(line_of({by("wan", 9)}), hop), "");
  EXPECT_EQ(hop, first.hops().size());
}

}  // namespace
}  // namespace millrace
