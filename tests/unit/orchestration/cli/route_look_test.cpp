// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/route_look.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/services/functions/route/route_fixture.hpp"
#include "tests/unit/shared/layout/neighbour_memory.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kRouteMs = 100'000;
constexpr const char* kRouteLines =
    "10.2.0.0/16 wan via 192.0.2.1\n"
    "10.3.0.0/16 wan 02:00:00:00:00:33\n"
    "10.66.0.0/16 drop\n"
    "2001:db8:66::/48 lan via fe80::1\n";

class RouteLookTest : public testing::Test {
 protected:
  RouteLookTest() {
    plan_.name = "small";
    plan_.ports = two_ports();
  }
  void learn(const std::string& address, std::uint32_t port, std::uint8_t last) {
    memory_.table().learn(key_of_address(address, port).value(), {2, 0, 0, 0, 0, last}, kRouteMs,
                          {.only_update = false, .overrides = true, .confirms = true});
  }
  RouteLook look(const BuiltRoutes& routes) {
    RouteLook look{.plan = plan_,
                   .function = "router",
                   .table = routes.table(),
                   .hits = {},
                   .neighbours = list_neighbours(memory_.table(), kRouteMs),
                   .accepted = routes.report().accepted,
                   .refused = 1,
                   .generation = 2,
                   .files = {"/etc/a.routes"},
                   .image = "/run/a.img",
                   .image_bytes = 67'200'000,
                   .stored_bytes = 300'000,
                   .built = "2026-11-25T17:00:00Z"};
    for (std::uint64_t i = 0; i < routes.table().hops.size(); ++i) look.hits.push_back(100 + i);
    return look;
  }
  std::string to(const std::string& address) { return route_to_text(look(routes_), address); }

  Plan plan_;
  NeighbourMemory memory_;
  BuiltRoutes routes_{kRouteLines, two_ports(), "true"};
};

TEST_F(RouteLookTest, AnAddressBehindAGatewayGoesToItsMacAddress) {
  EXPECT_THAT(to("10.2.9.9"), HasSubstr("10.2.9.9 via 192.0.2.1 at wan, not asked for yet\n"));
  learn("192.0.2.1", 0, 7);
  EXPECT_THAT(to("10.2.9.9"), HasSubstr("not asked for yet")) << "known at the other port";
  learn("192.0.2.1", 1, 9);
  EXPECT_THAT(to("10.2.9.9"),
              HasSubstr("10.2.9.9 via 192.0.2.1 at wan, 02:00:00:00:00:09 reachable\n"));
  const auto json = route_to_json(look(routes_), "10.2.9.9");
  EXPECT_EQ(json["kind"], "gateway");
  EXPECT_EQ(json["gateway"], "192.0.2.1");
  EXPECT_EQ(json["port"], "wan");
  EXPECT_EQ(json["mac"], "02:00:00:00:00:09");
  EXPECT_EQ(json["state"], "reachable");
  EXPECT_EQ(json["packets"], 100 + json["hop"].get<int>());
  EXPECT_FALSE(json.contains("reason"));
}

TEST_F(RouteLookTest, AnAddressOfANetworkOfAPortIsItsOwnNeighbour) {
  learn("10.1.0.5", 0, 5);
  EXPECT_THAT(to("10.1.0.5"),
              HasSubstr("10.1.0.5 on its network at lan, 02:00:00:00:00:05 reachable\n"));
  EXPECT_THAT(to("10.1.0.6"), HasSubstr("10.1.0.6 on its network at lan, not asked for yet\n"));
  const auto json = route_to_json(look(routes_), "10.1.0.6");
  EXPECT_EQ(json["kind"], "on_link");
  EXPECT_EQ(json["gateway"], "10.1.0.6");
  EXPECT_FALSE(json.contains("mac") || json.contains("state"));
}

TEST_F(RouteLookTest, BothFamiliesAreLookedUp) {
  learn("fe80::1", 0, 1);
  EXPECT_THAT(to("2001:db8:66::7"),
              HasSubstr("2001:db8:66::7 via fe80::1 at lan, 02:00:00:00:00:01 reachable\n"));
  EXPECT_THAT(to("2001:db8::2"), HasSubstr("2001:db8::2 on its network at lan, not asked for yet"));
  EXPECT_THAT(to("2001:db9::2"), HasSubstr("is dropped as no_route: no prefix takes it"));
  const BuiltRoutes ipv4_alone(
      "10.2.0.0/16 wan 02:00:00:00:00:02\n",
      {{.name = "wan", .device = "null", .mac = "02:00:00:00:00:0b", .addresses = {}}});
  EXPECT_EQ(route_to_text(look(ipv4_alone), "2001:db8::2"),
            "2001:db8::2 is dropped as not_ipv4: the table has no IPv6 route\n");
  EXPECT_THAT(routes_text(look(ipv4_alone)), Not(HasSubstr("IPv6")));
}

TEST_F(RouteLookTest, SeveralNextHopsStandWithTheirShares) {
  const BuiltRoutes several(
      "10.2.0.0/16 wan via 192.0.2.1 weight 2, lan via 10.1.0.9\n"
      "2001:db8:66::/48 lan 02:00:00:00:00:03, wan 02:00:00:00:00:04\n",
      two_ports(), "true");
  learn("192.0.2.1", 1, 9);
  EXPECT_THAT(route_to_text(look(several), "10.2.9.9"),
              HasSubstr("10.2.9.9 by flow: 67 % via 192.0.2.1 at wan, 02:00:00:00:00:09 reachable; "
                        "33 % via 10.1.0.9 at lan, not asked for yet\n"));
  EXPECT_THAT(routes_text(look(several)), HasSubstr("  by flow: 50 % at lan, 02:00:00:00:00:03; "
                                                    "50 % at wan, 02:00:00:00:00:04\n"));
  const auto json = route_to_json(look(several), "10.2.9.9");
  EXPECT_EQ(json["kind"], "group");
  EXPECT_FALSE(json.contains("port") || json.contains("mac") || json.contains("gateway"));
  ASSERT_EQ(json["members"].size(), 2u);
  EXPECT_EQ(json["members"][0]["hop"], kHopFirst);
  EXPECT_EQ(json["members"][0]["percent"], 67);
  EXPECT_EQ(json["members"][0]["gateway"], "192.0.2.1");
  EXPECT_EQ(json["members"][0]["mac"], "02:00:00:00:00:09");
  EXPECT_EQ(json["members"][1]["port"], "lan");
}

TEST_F(RouteLookTest, WhatIsNotForwardedSaysWhy) {
  EXPECT_THAT(to("10.3.0.1"), HasSubstr("10.3.0.1 at wan, 02:00:00:00:00:33\n"));
  EXPECT_THAT(to("10.66.1.1"), HasSubstr("is dropped as no_route: a prefix with `drop`\n"));
  EXPECT_THAT(to("8.8.8.8"), HasSubstr("is dropped as no_route: no prefix takes it\n"));
  EXPECT_THAT(to("10.1.0.1"), HasSubstr("10.1.0.1 is an address of this router\n"));
  EXPECT_THAT(to("10.1.0.255"), HasSubstr("is dropped as not_unicast: the broadcast address"));
  EXPECT_EQ(to("224.0.0.5"),
            "224.0.0.5 is dropped as not_unicast: such an address is never routed\n");
  EXPECT_EQ(to("fe80::9"), "fe80::9 is dropped as not_unicast: such an address is never routed\n");
  const auto json = route_to_json(look(routes_), "10.1.0.1");
  EXPECT_EQ(json["kind"], "own");
  EXPECT_EQ(json["reason"], "own_address");
  EXPECT_EQ(route_to_json(look(routes_), "224.0.0.5")["reason"], "not_unicast");
  EXPECT_THAT(error_of([&] { to("10.2.0.0/16"); }),
              HasSubstr("'10.2.0.0/16' is no IPv4 or IPv6 address"));
}

TEST_F(RouteLookTest, AllNextHopsStandWithWhatTheyHaveTaken) {
  learn("192.0.2.1", 1, 9);
  const std::string text = routes_text(look(routes_));
  EXPECT_THAT(text, HasSubstr("function router: table of 4 prefixes, 1 refused; build 2, of "
                              "2026-11-25T17:00:00Z\n  from   /etc/a.routes\n"
                              "  image  /run/a.img, 67.2 MB, of which 300.0 kB are set\n"));
  EXPECT_THAT(text, HasSubstr("       0              100  IPv4 without a longer prefix: dropped as "
                              "no_route\n"
                              "       1              101  addresses of this router\n"));
  EXPECT_THAT(text, HasSubstr("  via 192.0.2.1 at wan, 02:00:00:00:00:09 reachable\n"));
  EXPECT_THAT(text, HasSubstr("  at wan, 02:00:00:00:00:33\n"));
  EXPECT_THAT(text, HasSubstr("  hosts at lan\n"));
  RouteLook followed = look(routes_);
  followed.of_kernel = true;
  EXPECT_THAT(routes_text(followed),
              HasSubstr("  from   the routes of the kernel, built anew for each "
                        "change\n"));
  const auto json = routes_json(look(routes_));
  EXPECT_EQ(json["prefixes"], 4);
  EXPECT_EQ(json["kernel"], false);
  EXPECT_EQ(json["hops"].size(), routes_.table().hops.size());
  EXPECT_EQ(json["hops"][3]["packets"], 103);
  EXPECT_EQ(json["hops"][1]["kind"], "own");
}

TEST(RouteFunction, IsTheOneThatThereIsOrTheOneThatIsNamed) {
  Plan plan;
  plan.name = "small";
  EXPECT_EQ(error_of([&] { route_function(plan, ""); }),
            "topology 'small' has no function of type route");
  plan.functions = {{.name = "old", .type = "route", .gone = true},
                    {.name = "ids", .type = "match"},
                    {.name = "north", .type = "route"}};
  EXPECT_EQ(route_function(plan, ""), 2u);
  EXPECT_EQ(route_function(plan, "north"), 2u);
  EXPECT_EQ(error_of([&] { route_function(plan, "nort"); }),
            "--function: no function of type route 'nort'; there are: north; did you mean "
            "'north'?");
  plan.functions.push_back({.name = "south", .type = "route"});
  EXPECT_EQ(route_function(plan, "south"), 3u);
  EXPECT_EQ(error_of([&] { route_function(plan, ""); }),
            "several functions route: north, south; say which: --function north");
}

}  // namespace
}  // namespace millrace::test
