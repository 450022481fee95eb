// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/router.hpp"

#include <gtest/gtest.h>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/route/router_fixture.hpp"

namespace millrace {
namespace {

const BuiltRoutes& ways() {
  static const BuiltRoutes kRoutes(
      "10.2.0.0/16 wan 02:00:00:00:00:02\n2001:db8:2::/48 wan 02:00:00:00:00:02\n", hosted_ports());
  return kRoutes;
}

TEST(Router, AFrameOfEachTypeIsEndedByItsOwnRules) {
  RouteFrame frame = addressed(make_frame({.ttl = 1}), 0x0a);
  EXPECT_TRUE(Routed(ways(), frame).is_answer(Reason::kReport));
  frame = addressed(make_ipv6_frame({.hop_limit = 1}), 0x0a);
  EXPECT_TRUE(Routed(ways(), frame).is_answer(Reason::kReport));
  frame = addressed(make_frame({}), 0x0a);
  put16(frame, 12, 0x8847);
  EXPECT_TRUE(Routed(ways(), frame).is_dropped_for(Reason::kNotIpv4));
  put16(frame, 12, 0x0806);
  EXPECT_TRUE(Routed(ways(), frame).is_dropped_for(Reason::kNotForwarded));
  frame.resize(10);
  EXPECT_TRUE(Routed(ways(), frame).is_dropped_for(Reason::kMalformed));
}

TEST(Router, KnowsTheLongestFrameOfEachPort) {
  std::vector<PlanPort> ports = two_ports();
  ports[1].mtu = 1400;
  const Router router(ways().table(), ports, {});
  EXPECT_EQ(router.frame_bytes_max(0), 1514u);
  EXPECT_EQ(router.frame_bytes_max(1), 1414u);
  EXPECT_EQ(router.frame_bytes_max(2), UINT32_MAX);
}

TEST(Router, APortOfASettingThatDoesNotExistIsAnError) {
  EXPECT_THROW(Router(ways().table(), two_ports(), {.proxy_arp = {"dmz"}}), Error);
  EXPECT_THROW(Router(ways().table(), two_ports(), {.advertise = {"dmz"}}), Error);
}

TEST(Router, APacketOfAGroupWaitsForTheNeighbourOfItsMember) {
  const BuiltRoutes routes("10.2.0.0/16 wan via 192.0.2.1, lan via 10.1.0.9\n", hosted_ports(),
                           "true");
  NeighbourMemory memory;
  const NeighbourTableView table = memory.table();
  std::vector<int> waited(2);
  for (std::uint32_t flow = 0; flow < 40; ++flow) {
    const RouteFrame frame = addressed(make_frame({.source = 0xc6120000 + flow}), 0x0a);
    const Routed routed(routes, frame, 0, hosted_ports(), &table);
    ASSERT_TRUE(routed.is_consumed_for(Reason::kHeld));
    ++waited.at(routed.records().back().port);
  }
  EXPECT_GT(waited[0], 5);
  EXPECT_GT(waited[1], 5);
}

TEST(Router, APlainPacketOfAStaticRouteIsPassedOnWithoutIt) {
  const RouteFrame frame = addressed(make_frame({}), 0x0a);
  const Routed routed(ways(), frame);
  ASSERT_TRUE(routed.goes_on_by(1));
  EXPECT_TRUE(routed.records().empty());
}

}  // namespace
}  // namespace millrace
