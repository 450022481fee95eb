// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/nat_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/unit/support/error_of.hpp"

namespace millrace::nat_settings_test {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

Settings with(Settings more) {
  Settings all = {{"inside", "lan"}, {"pool", "203.0.113.1"}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(NatSettings, HasDefaults) {
  const NatSettings settings = nat_settings(with({}));
  EXPECT_THAT(settings.inside, ElementsAre("lan"));
  EXPECT_THAT(settings.pool, ElementsAre(0xcb007101));
  EXPECT_EQ(settings.first_port, 1024);
  EXPECT_EQ(settings.last_port, 65535);
  EXPECT_EQ(settings.block, 64u);
  EXPECT_EQ(settings.filtering, NatFiltering::kEndpoint);
  EXPECT_EQ(settings.host_limit, 0u);
  EXPECT_TRUE(settings.fixed.empty());
  EXPECT_EQ(settings.shape(8).mappings, 8192u);
}

TEST(NatSettings, APoolIsOfAddressesRangesAndPrefixes) {
  const NatSettings settings =
      nat_settings(with({{"pool", "203.0.113.8-203.0.113.9"}, {"pool", "198.51.100.4/31"}}));
  EXPECT_THAT(settings.pool,
              ElementsAre(0xc6336404, 0xc6336405, 0xcb007101, 0xcb007108, 0xcb007109));
}

TEST(NatSettings, KnowsPublishedServersAndFixedAddresses) {
  const NatSettings settings =
      nat_settings(with({{"static", "203.0.113.16/29 <-> 10.0.1.0/29"},
                         {"static", "203.0.113.5 <-> 10.0.0.5"},
                         {"publish", "tcp 203.0.113.1:8080 -> 10.0.0.2:80"},
                         {"publish", "udp 203.0.113.7:53 -> 10.0.0.3:5353"}}));
  ASSERT_EQ(settings.fixed.size(), 4u);
  const NatFixed& first = settings.fixed[0];
  EXPECT_EQ(first.protocol, 6);
  EXPECT_EQ(first.outside_port, 8080);
  EXPECT_EQ(first.inside, 0x0a000002u);
  EXPECT_EQ(first.inside_port, 80);
  EXPECT_EQ(settings.fixed[2].count, 8u);
  EXPECT_THAT(settings.reserved, ElementsAre(ReservedPort{0, 8080, 6}));
}

TEST(NatSettings, AMasqueradedAddressIsInThePoolBeforeItIsKnown) {
  const Settings given = {{"inside", "lan"}, {"masquerade", "wan"}};
  EXPECT_EQ(nat_settings(given).masquerade, "wan");
  EXPECT_THAT(nat_settings(given).pool, ElementsAre(0u));
  EXPECT_THAT(nat_settings(given, 0xcb007102).pool, ElementsAre(0xcb007102));
  EXPECT_EQ(nat_settings(given).last_port, kMasqueradeLastPort);
  EXPECT_EQ(nat_settings(with({{"masquerade", "wan"}, {"ports", "2000-60000"}})).last_port, 60000);
}

TEST(NatSettings, SaysWhichKeyAndValueIsWrong) {
  const std::pair<const char*, const char*> wrong[] = {
      {"pool", "203.0.113"},
      {"pool", "203.0.113.1/24"},
      {"pool", "203.0.113.9-203.0.113.8"},
      {"pool", "10.0.0.0/8"},
      {"ports", "1024"},
      {"ports", "0-9"},
      {"ports", "9-8"},
      {"ports", "1-70000"},
      {"block", "63"},
      {"block", "0"},
      {"block", "2048"},
      {"filtering", "none"},
      {"log", "sessions"},
      {"host_limit", "-1"},
      {"max", "0"},
      {"static", "203.0.113.5 10.0.0.5"},
      {"static", "203.0.113.4/30 <-> 10.0.0.5"},
      {"publish", "sctp 203.0.113.1:80 -> 10.0.0.2:80"},
      {"publish", "tcp 203.0.113.1 -> 10.0.0.2:80"},
      {"publish", "tcp 203.0.113.1:80 -> 10.0.0.2:0"},
      {"masquerade", ""}};
  for (const auto& [key, value] : wrong) {
    const std::string error = error_of([&] { nat_settings(with({{key, value}})); });
    EXPECT_THAT(error, HasSubstr(std::string(key) + ": '" + value + "'"));
  }
  const auto error = [](const Settings& settings) {
    return error_of([&] { nat_settings(settings); });
  };
  EXPECT_THAT(error({{"pool", "203.0.113.1"}}), HasSubstr("inside: no port"));
  EXPECT_THAT(error({{"inside", "lan"}}), HasSubstr("pool: no address"));
  EXPECT_THAT(error(with({{"pool", "203.0.113.1"}})), HasSubstr("203.0.113.1 is there twice"));
  EXPECT_THAT(error(with({{"static", "203.0.113.0/30 <-> 10.0.0.0/30"}})),
              HasSubstr("203.0.113.1 is an address of the pool too"));
  EXPECT_THAT(error(with({{"static", "1.1.1.1 <-> 10.0.0.5"}, {"static", "1.1.1.2 <-> 10.0.0.5"}})),
              HasSubstr("in two entries"));
  EXPECT_THAT(error(with({{"publish", "tcp 1.1.1.1:80 -> 10.0.0.5:80"},
                          {"publish", "tcp 1.1.1.1:80 -> 10.0.0.6:80"}})),
              HasSubstr("in two entries"));
  EXPECT_THAT(error(with({{"color", "red"}})), HasSubstr("color: nat has no such setting"));
}

}  // namespace
}  // namespace millrace::nat_settings_test
