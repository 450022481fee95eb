// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/live/live_image.hpp"

#include <gtest/gtest.h>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/route/live/live_world.hpp"

namespace millrace {
namespace {

TEST(LiveRouteImage, NextHopsComeUntilThereIsNoRoom) {
  const test::LiveWorld world;
  LiveRouteImage image(world.path());
  ASSERT_TRUE(image.has_ipv6());
  HopNumbers numbers(world.ports(), true, image.hops(), image.members());
  const std::size_t capacity = world.table().hops.size();
  bool room = true;
  for (std::uint32_t i = 0; room && i <= capacity; ++i) {
    RouteLine line;
    RouteLineHop hop{.port = "wan", .kind = RouteHopKind::kGateway4};
    std::memcpy(hop.gateway.data(), &i, sizeof i);
    line.hops = {hop};
    std::uint32_t number = 0;
    ASSERT_EQ(numbers.find(line, number), "");
    room = image.add_hops(numbers);
    ASSERT_EQ(hops_now(world.table()).used, room ? number + 1 : capacity);
  }
  EXPECT_FALSE(room);
  EXPECT_EQ(hops_now(world.table()).used, capacity);
}

TEST(LiveRouteImage, AnotherWriterKnowsTheNextHopsAndGroups) {
  const test::LiveWorld world;
  std::uint32_t group = 0;
  RouteLine line = test::kernel_route("10.0.0.0/8", "wan", 1).line;
  line.hops.push_back(line.hops.front());
  line.hops.back().gateway[3] = 2;
  {
    LiveRouteImage image(world.path());
    HopNumbers numbers(world.ports(), true, image.hops(), image.members());
    ASSERT_EQ(numbers.find(line, group), "");
    ASSERT_TRUE(image.add_hops(numbers));
  }
  LiveRouteImage image(world.path());
  HopNumbers numbers(world.ports(), true, image.hops(), image.members());
  std::uint32_t again = 0;
  ASSERT_EQ(numbers.find(line, again), "");
  EXPECT_EQ(again, group);
  EXPECT_EQ(image.members().size(), 2u);
}

TEST(LiveRouteImage, ATableThatNeverChangesIsNone) {
  const BuiltRoutes routes("10.0.0.0/8 drop\n");
  EXPECT_THROW(LiveRouteImage{routes.path()}, Error);
  EXPECT_FALSE(read_route_live(routes.path()));
  const test::LiveWorld world;
  ASSERT_TRUE(read_route_live(world.path()));
  EXPECT_EQ(read_route_live(world.path())->wants_rebuild, 0u);
}

}  // namespace
}  // namespace millrace
