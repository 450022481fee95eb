// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_settings.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

RouteSettings settings_of(Settings settings) {
  PlanFunction function;
  function.settings = std::move(settings);
  return route_settings(function);
}

/// What the refusal says; empty: there was none.
std::string refusal_of(Settings settings) {
  try {
    settings_of(std::move(settings));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(RouteSettings, ATableIsEnough) {
  const RouteSettings settings = settings_of({{"table", "routes.txt"}});
  EXPECT_TRUE(settings.answers);
  EXPECT_EQ(settings.icmp_rate, 1000u);
  EXPECT_EQ(settings.punt_rate, 0u);
}

TEST(RouteSettings, EachKeySetsItsValue) {
  const RouteSettings settings = settings_of(
      {{"answers", "false"}, {"table", "routes.txt"}, {"icmp_rate", "25"}, {"punt_rate", "40"}});
  EXPECT_FALSE(settings.answers);
  EXPECT_EQ(settings.icmp_rate, 25u);
  EXPECT_EQ(settings.punt_rate, 40u);
  EXPECT_TRUE(settings_of({{"table", "a"}, {"answers", "true"}}).answers);
  EXPECT_EQ(settings_of({{"table", "a"}, {"icmp_rate", "0"}}).icmp_rate, 0u);
  EXPECT_EQ(settings_of({{"table", "a"}, {"icmp_rate", "1000000"}}).icmp_rate, 1'000'000u);
  EXPECT_EQ(settings_of({{"table", "a"}, {"table", "b"}}).icmp_rate, 1000u) << "several files";
}

TEST(RouteSettings, PortsOfProxyArpAndAdvertisementsAreListsAndNeedAnswers) {
  EXPECT_TRUE(settings_of({{"table", "a"}}).proxy_arp.empty());
  EXPECT_TRUE(settings_of({{"table", "a"}}).advertise.empty());
  EXPECT_EQ(settings_of({{"table", "a"}, {"advertise", "lan"}, {"advertise", "dmz"}}).advertise,
            (std::vector<std::string>{"lan", "dmz"}));
  EXPECT_EQ(refusal_of({{"table", "a"}, {"advertise", "lan"}, {"answers", "false"}}),
            "advertise: a route with 'answers: false' answers nothing");
  EXPECT_EQ(settings_of({{"table", "a"}, {"proxy_arp", "lan"}, {"proxy_arp", "dmz"}}).proxy_arp,
            (std::vector<std::string>{"lan", "dmz"}));
  EXPECT_EQ(refusal_of({{"table", "a"}, {"proxy_arp", "lan"}, {"answers", "false"}}),
            "proxy_arp: a route with 'answers: false' answers nothing");
}

TEST(RouteSettings, AMissingTableIsRefused) {
  const std::string missing = "table is missing: the path of a route table, or 'routes: kernel'";
  EXPECT_EQ(refusal_of({}), missing);
  EXPECT_EQ(refusal_of({{"answers", "true"}}), missing);
  EXPECT_EQ(refusal_of({{"table", ""}}), "table: the path of a route table is expected");
}

TEST(RouteSettings, TheKernelsRoutesAreATable) {
  EXPECT_FALSE(settings_of({{"table", "a"}}).follows_kernel);
  EXPECT_TRUE(settings_of({{"routes", "kernel"}}).follows_kernel);
  EXPECT_TRUE(settings_of({{"table", "a"}, {"routes", "kernel"}}).follows_kernel);
  EXPECT_EQ(refusal_of({{"routes", "bird"}}), "routes is 'bird'; expected 'kernel'");
  EXPECT_EQ(refusal_of({{"routes", "kernel"}, {"answers", "false"}}),
            "routes is 'kernel', whose next hops have to be asked for; 'answers: false' rules that "
            "out");
}

TEST(RouteSettings, NeighboursOfTheKernelNeedAnswers) {
  EXPECT_FALSE(settings_of({{"table", "a"}}).follows_neighbours);
  EXPECT_TRUE(settings_of({{"table", "a"}, {"neighbours", "kernel"}}).follows_neighbours);
  EXPECT_EQ(refusal_of({{"table", "a"}, {"neighbours", "all"}}),
            "neighbours is 'all'; expected 'kernel'");
  EXPECT_EQ(refusal_of({{"table", "a"}, {"neighbours", "kernel"}, {"answers", "false"}}),
            "neighbours is 'kernel', but a route with 'answers: false' has none");
}

TEST(RouteSettings, WhatIsNoFlagIsRefused) {
  for (const std::string value : {"", "yes", "True", "1", "true "}) {
    EXPECT_EQ(refusal_of({{"table", "a"}, {"answers", value}}),
              "answers: '" + value + "' is neither true nor false");
  }
}

TEST(RouteSettings, WhatIsNoRateIsRefused) {
  for (const std::string value :
       {"", "-1", "+1", " 1", "1.5", "1e3", "ten", "1000001", "9999999", "18446744073709551617"}) {
    for (const std::string key : {"icmp_rate", "punt_rate"}) {
      EXPECT_EQ(refusal_of({{"table", "a"}, {key, value}}),
                key + ": '" + value + "' is no rate; expected 0 to 1000000 a second");
    }
  }
}

TEST(RouteSettings, AnotherKeyIsRefused) {
  EXPECT_EQ(refusal_of({{"table", "a"}, {"tables", "b"}}),
            "tables: route has no such setting; there are table, routes, neighbours, answers, "
            "icmp_rate, punt_rate, proxy_arp, advertise");
}

TEST(RouteSettings, AnswersAloneAreCheckedWithTheRest) {
  PlanFunction function;
  function.settings = {{"table", "a"}, {"answers", "false"}};
  EXPECT_FALSE(route_settings(function).answers);
  function.settings = {{"table", "a"}};
  EXPECT_TRUE(route_settings(function).answers);
  function.settings = {{"answers", "false"}};
  EXPECT_THROW(route_settings(function), Error);
}

}  // namespace
}  // namespace millrace
