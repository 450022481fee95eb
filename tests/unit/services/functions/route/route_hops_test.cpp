// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_hops.hpp"

#include <gtest/gtest.h>

#include "services/functions/route/live/live_image.hpp"
#include "services/functions/route/live/store_live.hpp"
#include "tests/unit/services/functions/route/live/live_world.hpp"

namespace millrace {
namespace {

TEST(RouteHops, WhatALiveTableGetsIsThereAtTheNextLook) {
  const test::LiveWorld world;
  LiveRouteImage image(world.path());
  RouteHops hops(world.table(), world.ports());
  const std::uint32_t before = hops.now().used;
  EXPECT_EQ(hops.rewrites()[kHopDefault].reason, static_cast<std::uint8_t>(RouteReason::kNoRoute));
  HopNumbers numbers(world.ports(), true, image.hops(), image.members());
  RouteLine line;
  line.hops = {{.port = "wan", .kind = RouteHopKind::kGateway4, .gateway = {192, 0, 2, 1}}};
  std::uint32_t number = 0;
  ASSERT_EQ(numbers.find(line, number), "");
  ASSERT_EQ(number, before);
  ASSERT_TRUE(image.add_hops(numbers));
  EXPECT_EQ(hops.rewrites()[number].reason, static_cast<std::uint8_t>(RouteReason::kUnavailable));
  hops.refresh();
  EXPECT_EQ(hops.now().used, before + 1);
  EXPECT_EQ(hops.rewrites()[number].output, 1);
  EXPECT_EQ(hops.rewrites()[number].reason, 0);

  store_live(image.live().default_hop, number);
  store_live(image.live().ipv6_default_hop, number);
  hops.refresh();
  EXPECT_EQ(hops.rewrites()[kHopDefault].output, 1);
  EXPECT_EQ(hops.rewrites()[kHopDefaultIpv6].output, 1);
  EXPECT_EQ(hops.now().real(kHopDefault), number);
  EXPECT_EQ(hops.now().real(kHopDefaultIpv6), number);
  EXPECT_EQ(hops.now().real(number), number);
  store_live(image.live().default_hop, kHopDefault);
  hops.refresh();
  EXPECT_EQ(hops.rewrites()[kHopDefault].reason, static_cast<std::uint8_t>(RouteReason::kNoRoute));
}

TEST(RouteHops, ThoseOfATableThatNeverChangesStandWhereTheyStood) {
  const BuiltRoutes routes("0.0.0.0/0 wan 02:00:00:00:00:02\n");
  RouteHops hops(routes.table(), two_ports());
  EXPECT_EQ(hops.now(), (HopsNow{.used = static_cast<std::uint32_t>(routes.table().hops.size())}));
  EXPECT_EQ(hops.rewrites()[kHopDefault].output, 1);
  EXPECT_EQ(hops.now().real(kHopDefault), kHopDefault);
}

}  // namespace
}  // namespace millrace
