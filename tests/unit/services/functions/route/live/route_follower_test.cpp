// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/live/route_follower.hpp"

#include <gtest/gtest.h>
#include <linux/netlink.h>

#include "tests/unit/services/functions/route/live/live_world.hpp"

namespace millrace {
namespace {

using test::kernel_route;

class RouteFollowerTest : public testing::Test {
 protected:
  RouteFollowerTest() { start({}); }
  /// Another writer, which finds these routes in the kernel.
  void start(const std::vector<KernelRoute>& routes) {
    follower_ = std::make_unique<RouteFollower>(world_.path(), world_.ports(), true);
    dump(routes);
  }
  void dump(const std::vector<KernelRoute>& routes) {
    test::NoReader grace;
    follower_->begin_dump();
    for (const KernelRoute& route : routes) follower_->add(route);
    follower_->tend(grace);
    follower_->tend(grace);
    follower_->end_dump();
  }
  bool add(const std::string& prefix, int last, std::uint32_t metric = 0,
           std::uint16_t flags = NLM_F_CREATE | NLM_F_EXCL) {
    return follower_->apply(kernel_route(prefix, "wan", last, metric, flags));
  }
  bool remove(const std::string& prefix, int last, std::uint32_t metric = 0) {
    KernelRoute route = kernel_route(prefix, "wan", last, metric);
    route.gone = true;
    return follower_->apply(route);
  }

  test::LiveWorld world_;
  std::unique_ptr<RouteFollower> follower_;
};

TEST_F(RouteFollowerTest, RoutesComeChangeAndGo) {
  EXPECT_EQ(world_.gateway_to("10.2.3.4"), 0);
  for (const auto& [prefix, inside, outside] :
       {std::tuple("10.2.0.0/16", "10.2.3.4", "10.3.0.1"),
        std::tuple("10.2.3.128/25", "10.2.3.200", "10.2.3.4"),
        std::tuple("2001:db8:7::/48", "2001:db8:7:1::9", "2001:db8:8::1")}) {
    EXPECT_TRUE(add(prefix, 1));
    EXPECT_EQ(world_.gateway_to(inside), 1);
    EXPECT_EQ(world_.gateway_to(outside), 0);
    EXPECT_TRUE(add(prefix, 2, 0, NLM_F_REPLACE));
    EXPECT_EQ(world_.gateway_to(inside), 2);
    EXPECT_TRUE(remove(prefix, 2));
    EXPECT_EQ(world_.gateway_to(inside), 0);
  }
  EXPECT_EQ(follower_->live().change_count, 9u);
  EXPECT_EQ(follower_->live().dump_count, 2u);
}

TEST_F(RouteFollowerTest, DefaultRoutesAreWordsOfTheImage) {
  const std::uint64_t before = follower_->live().route_count;
  EXPECT_TRUE(add("0.0.0.0/0", 1));
  EXPECT_TRUE(add("::/0", 2));
  EXPECT_EQ(world_.gateway_to("203.0.113.1"), 1);
  EXPECT_EQ(world_.gateway_to("2001:db8:ffff::1"), 2);
  start({kernel_route("0.0.0.0/0", "wan", 1)});
  EXPECT_EQ(world_.gateway_to("203.0.113.1"), 1);
  EXPECT_EQ(world_.gateway_to("2001:db8:ffff::1"), 0);
  EXPECT_TRUE(remove("0.0.0.0/0", 1));
  EXPECT_EQ(world_.gateway_to("203.0.113.1"), 0);
  EXPECT_EQ(follower_->live().route_count, before) << "a default route is not counted";
}

TEST_F(RouteFollowerTest, AFileComesFirstThenTheKernelThenTheNetworksOfThePorts) {
  EXPECT_TRUE(add("198.51.100.0/24", 1));
  EXPECT_EQ(world_.gateway_to("198.51.100.7"), 0);
  EXPECT_EQ(world_.hop_to("10.1.0.7").kind, static_cast<std::uint8_t>(RouteHopKind::kOnLink));
  EXPECT_TRUE(add("10.1.0.0/24", 1));
  EXPECT_EQ(world_.gateway_to("10.1.0.7"), 1);
  EXPECT_TRUE(add("10.1.0.1/32", 1));
  EXPECT_EQ(world_.hop_to("10.1.0.1").reason, static_cast<std::uint8_t>(RouteReason::kOwnAddress));
  EXPECT_TRUE(remove("10.1.0.0/24", 1));
  EXPECT_EQ(world_.hop_to("10.1.0.7").kind, static_cast<std::uint8_t>(RouteHopKind::kOnLink));
}

TEST_F(RouteFollowerTest, MetricsDecideAndTheNextOneTakesOver) {
  EXPECT_TRUE(add("10.2.0.0/16", 1, 20));
  EXPECT_TRUE(add("10.2.0.0/16", 2, 10));
  EXPECT_EQ(world_.gateway_to("10.2.3.4"), 2);
  EXPECT_TRUE(remove("10.2.0.0/16", 2, 10));
  EXPECT_EQ(world_.gateway_to("10.2.3.4"), 1);
}

TEST_F(RouteFollowerTest, ARouteThatBecomesTheHostsOwnIsGone) {
  EXPECT_TRUE(add("10.2.0.0/16", 1));
  KernelRoute elsewhere = kernel_route("10.2.0.0/16", "wan", 1, 0, NLM_F_REPLACE);
  elsewhere.line.hops.clear();
  elsewhere.elsewhere = true;
  EXPECT_TRUE(follower_->apply(elsewhere));
  EXPECT_EQ(world_.gateway_to("10.2.3.4"), 0);
  elsewhere.gone = true;
  EXPECT_TRUE(follower_->apply(elsewhere)) << "of the host's own nothing is known";
}

TEST_F(RouteFollowerTest, WhatADumpHasTakenAlreadyMayBeToldAgain) {
  start({kernel_route("10.2.0.0/16", "wan", 1)});
  EXPECT_TRUE(add("10.2.0.0/16", 1));
  EXPECT_TRUE(remove("10.9.0.0/16", 1)) << "it had gone by then";
  EXPECT_EQ(world_.gateway_to("10.2.3.4"), 1);
  EXPECT_TRUE(remove("10.2.0.0/16", 1));
  EXPECT_EQ(world_.gateway_to("10.2.3.4"), 0);
}

TEST_F(RouteFollowerTest, WhatDoesNotFitWhatIsKnownAsksForADump) {
  EXPECT_TRUE(add("10.2.0.0/16", 1));
  EXPECT_FALSE(remove("10.2.0.0/16", 7)) << "another next hop than that of the metric";
  EXPECT_TRUE(add("2001:db8:7::/48", 1, 1024));
  EXPECT_FALSE(add("2001:db8:7::/48", 2, 1024, NLM_F_APPEND)) << "IPv6 joins next hops";
}

TEST_F(RouteFollowerTest, ADumpMakesGoodWhatWasMissed) {
  EXPECT_TRUE(add("10.2.0.0/16", 1));
  EXPECT_TRUE(add("10.2.3.64/26", 3));
  dump({kernel_route("10.4.0.0/16", "lan", 4), kernel_route("2001:db8:7::/48", "wan", 5)});
  EXPECT_EQ(world_.gateway_to("10.2.3.70"), 0);
  EXPECT_EQ(world_.gateway_to("10.4.3.4"), 4);
  EXPECT_EQ(world_.gateway_to("2001:db8:7::1"), 5);
}

TEST_F(RouteFollowerTest, WithoutRoomForANextHopItIsFullAndWhatWasThereHolds) {
  EXPECT_TRUE(add("10.2.0.0/16", 1));
  const auto room = static_cast<int>(world_.table().hops.size());
  for (int i = 0; i <= room && !follower_->is_full(); ++i) {
    KernelRoute route = kernel_route("10.3.0.0/16", "wan", i % 256, 0, NLM_F_REPLACE);
    route.line.hops[0].gateway[2] = static_cast<std::uint8_t>(i / 256);
    route.line.hops[0].gateway[1] = 9;
    follower_->apply(route);
  }
  ASSERT_TRUE(follower_->is_full());
  EXPECT_EQ(world_.gateway_to("10.2.3.4"), 1);
  EXPECT_TRUE(remove("10.2.0.0/16", 1)) << "it waits for a new image";
  EXPECT_EQ(world_.gateway_to("10.2.3.4"), 1);
}

}  // namespace
}  // namespace millrace
