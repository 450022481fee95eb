// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace {
namespace {

using testing::HasSubstr;

RouteLine good(std::string_view line) {
  RouteLine route;
  std::string reason;
  EXPECT_EQ(parse_route_line(line, route, reason), RouteLineKind::kRoute) << reason;
  return route;
}

std::string refused(std::string_view line) {
  RouteLine route;
  std::string reason = "not refused";
  parse_route_line(line, route, reason);
  return reason;
}

RouteLineKind kind_of(std::string_view line) {
  RouteLine route;
  std::string reason;
  return parse_route_line(line, route, reason);
}

TEST(RouteText, ALineHasPrefixPortAndMac) {
  const RouteLine route = good("10.0.0.0/8 wan 02:00:00:00:00:fE");
  EXPECT_EQ(route.prefix, 0x0a000000u);
  EXPECT_EQ(route.length, 8);
  EXPECT_FALSE(route.hops.empty());
  EXPECT_EQ(route.hops.at(0).port, "wan");
  EXPECT_EQ(route.hops.at(0).mac, (std::array<std::uint8_t, 6>{2, 0, 0, 0, 0, 0xfe}));
}

TEST(RouteText, SpaceCommentsAndLineEndsOfAnyKindAreLeftOut) {
  const RouteLine route = good("  0.0.0.0/0 \t lan  02:00:00:00:00:01# default\r");
  EXPECT_EQ(route.length, 0);
  EXPECT_EQ(route.hops.at(0).port, "lan");
  EXPECT_TRUE(good("10.66.0.0/16\tdrop\r").hops.empty());
  EXPECT_EQ(kind_of(""), RouteLineKind::kEmpty);
  EXPECT_EQ(kind_of(" \t\r"), RouteLineKind::kEmpty);
  EXPECT_EQ(kind_of("# 10.0.0.0/8 wan 02:00:00:00:00:02"), RouteLineKind::kEmpty);
}

TEST(RouteText, ABadPrefixIsRefusedWithWhatWasExpected) {
  for (const char* text : {"10.0.0.0",
                           "10.0.0/8",
                           "10.0.0.0/33",
                           "10.0.0.0/",
                           "10.0.0.256/32",
                           "010.0.0.0/8",
                           "10.0.0.0/08",
                           "10.0.0.0.0/8",
                           "a/8",
                           "/8",
                           "10..0.0/8",
                           "10.0.0.0/-1",
                           "10.0.0.0/8/9",
                           "::",
                           "2001:db8::/129",
                           "2001:db8/32",
                           "2001:db8::/",
                           "2001:db8::/032",
                           "2001::db8::/32",
                           ":/0",
                           "::1%lo/128",
                           "2001:db8:::/32",
                           "12345::/16",
                           "::/0/0"}) {
    EXPECT_THAT(refused(std::string(text) + " wan 02:00:00:00:00:02"), HasSubstr("is no prefix"))
        << text;
  }
}

TEST(RouteText, HostBitsAreRefusedAndTheNearestPrefixNamed) {
  EXPECT_THAT(refused("10.1.2.3/8 drop"), HasSubstr("10.0.0.0/8?"));
  EXPECT_THAT(refused("0.0.0.1/0 drop"), HasSubstr("0.0.0.0/0?"));
  EXPECT_EQ(good("10.1.2.3/32 drop").length, 32);
}

TEST(RouteText, PrefixesThatAreNeverRoutedAreRefusedButNotThoseThatHoldThem) {
  for (const char* text : {"0.0.0.0/8", "0.1.0.0/16", "127.0.0.0/8", "127.0.0.1/32", "224.0.0.0/4",
                           "239.1.0.0/16", "255.255.255.255/32"}) {
    EXPECT_THAT(refused(std::string(text) + " drop"), HasSubstr("never routed")) << text;
  }
  for (const char* text : {"0.0.0.0/0", "0.0.0.0/1", "0.0.0.0/7", "126.0.0.0/7", "224.0.0.0/3",
                           "240.0.0.0/4", "255.255.255.254/31"}) {
    EXPECT_TRUE(good(std::string(text) + " drop").hops.empty()) << text;
  }
}

TEST(RouteText, APrefixWithAColonIsIpv6) {
  const RouteLine route = good("2001:DB8:1::/48 wan 02:00:00:00:00:02");
  EXPECT_TRUE(route.is_ipv6);
  EXPECT_EQ(route.ipv6_prefix, (Ipv6Address{0x20010db800010000, 0}));
  EXPECT_EQ(route.length, 48);
  EXPECT_EQ(prefix_text(route), "2001:db8:1::/48");
  EXPECT_FALSE(good("10.0.0.0/8 drop").is_ipv6);
  EXPECT_EQ(good("::/0 drop").length, 0);
  EXPECT_EQ(good("64:ff9b::192.0.2.1/128 drop").ipv6_prefix.low, 0xc0000201u);
}

TEST(RouteText, HostBitsOfIpv6AreRefusedToo) {
  EXPECT_THAT(refused("2001:db8::1/64 drop"), HasSubstr("2001:db8::/64?"));
  EXPECT_THAT(refused("::1/0 drop"), HasSubstr("::/0?"));
}

TEST(RouteText, Ipv6PrefixesThatAreNeverRoutedAreRefusedButNotThoseThatHoldThem) {
  for (const char* text : {"::/128", "::1/128", "::/127", "fe80::/10", "fe80::/64", "febf::/16",
                           "ff00::/8", "ff02::1/128", "::ffff:0:0/96", "::ffff:10.0.0.0/104"}) {
    EXPECT_THAT(refused(std::string(text) + " drop"), HasSubstr("never routed")) << text;
  }
  for (const char* text : {"::/0", "::/1", "::/8", "::/64", "::/80", "::/95", "::/96", "::/126",
                           "8000::/1", "fe00::/7", "fe80::/9", "fec0::/10", "fc00::/7"}) {
    EXPECT_TRUE(good(std::string(text) + " drop").hops.empty()) << text;
  }
}

TEST(RouteText, ABadMacIsRefused) {
  for (const char* mac : {"02:00:00:00:00", "02-00-00-00-00-02", "02:00:00:00:00:0g",
                          "02:00:00:00:00:002", "2:0:0:0:0:2", "02:00:00:00:00:+2", "drop"}) {
    EXPECT_THAT(refused(std::string("10.0.0.0/8 wan ") + mac), HasSubstr("is no MAC address"))
        << mac;
  }
  EXPECT_THAT(refused("10.0.0.0/8 wan 01:00:5e:00:00:01"), HasSubstr("one station"));
  EXPECT_THAT(refused("10.0.0.0/8 wan ff:ff:ff:ff:ff:ff"), HasSubstr("one station"));
  EXPECT_THAT(refused("10.0.0.0/8 wan 00:00:00:00:00:00"), HasSubstr("one station"));
}

TEST(RouteText, MissingAndSurplusFieldsAreRefused) {
  for (const char* line : {"10.0.0.0/8", "10.0.0.0/8 wan via", "10.0.0.0/8 drop it now",
                           "10.0.0.0/8 wan 02:00:00:00:00:02 metric 5"}) {
    EXPECT_NE(refused(line), "") << line;
    EXPECT_EQ(kind_of(line), RouteLineKind::kRefused) << line;
  }
}

TEST(RouteText, SeveralNextHopsAreSeparatedByCommasAndMayHaveWeights) {
  const RouteLine route = good(
      "10.0.0.0/8 wan via 192.0.2.1 weight 256, lan via 10.1.0.9 ,lan 02:00:00:00:00:03,\t"
      "wan 02:00:00:00:00:03 weight 3 # four");
  ASSERT_EQ(route.hops.size(), 4u);
  EXPECT_EQ(route.hops[0].port, "wan");
  EXPECT_EQ(route.hops[0].kind, RouteHopKind::kGateway4);
  EXPECT_EQ(route.hops[0].gateway, (std::array<std::uint8_t, 16>{192, 0, 2, 1}));
  EXPECT_EQ(route.hops[0].weight, 256u);
  EXPECT_EQ(route.hops[1].port, "lan");
  EXPECT_EQ(route.hops[1].gateway, (std::array<std::uint8_t, 16>{10, 1, 0, 9}));
  EXPECT_EQ(route.hops[1].weight, 1u);
  EXPECT_EQ(route.hops[2].kind, RouteHopKind::kStatic);
  EXPECT_EQ(route.hops[3].port, "wan");
  EXPECT_EQ(route.hops[3].mac, (MacAddress{2, 0, 0, 0, 0, 3}));
  EXPECT_EQ(route.hops[3].weight, 3u);
  const RouteLine ipv6 = good("2001:db8::/32 wan via fe80::1, lan via fe80::1 weight 2");
  ASSERT_EQ(ipv6.hops.size(), 2u);
  EXPECT_EQ(ipv6.hops[1].kind, RouteHopKind::kGateway6);
  EXPECT_EQ(good("10.0.0.0/8 wan via 192.0.2.1 weight 7").hops.size(), 1u);
}

TEST(RouteText, AWeightIsFrom1To256) {
  for (const char* weight : {"0", "257", "01", "-1", "+1", "1000", "x", "2.5"}) {
    EXPECT_THAT(refused(std::string("10.0.0.0/8 wan via 192.0.2.1 weight ") + weight),
                HasSubstr("is no weight; expected 1 to 256"))
        << weight;
  }
  EXPECT_THAT(refused("10.0.0.0/8 wan via 192.0.2.1 weight"), HasSubstr("expected 'prefix"));
  EXPECT_THAT(refused("10.0.0.0/8 wan via 192.0.2.1 weight 2 2"), HasSubstr("expected 'prefix"));
  EXPECT_THAT(refused("10.0.0.0/8 weight 2"), HasSubstr("is no MAC address"));
}

TEST(RouteText, WhatCannotBeOneOfSeveralNextHopsIsRefused) {
  const std::string one = "10.0.0.0/8 wan via 192.0.2.1, ";
  EXPECT_THAT(refused(one + "drop"), HasSubstr("'drop' is no next hop"));
  EXPECT_THAT(refused("10.0.0.0/8 drop, wan via 192.0.2.1"), HasSubstr("'drop' is no next hop"));
  EXPECT_THAT(refused("10.0.0.0/8 drop weight 2"), HasSubstr("'drop' is no next hop"));
  EXPECT_THAT(refused(one + "lan"), HasSubstr("'lan' stands alone"));
  EXPECT_THAT(refused("10.0.0.0/8 lan, wan via 192.0.2.1"), HasSubstr("'lan' stands alone"));
  EXPECT_THAT(refused(one + "lan via 10.1.0.9, wan via 192.0.2.1 weight 3"),
              HasSubstr("next hop 3, at port 'wan', is the same as one before it"));
  EXPECT_THAT(refused(one + "lan via fe80::1"), HasSubstr("is no next hop"));
  EXPECT_THAT(refused(one + "lan 02:00"), HasSubstr("is no MAC address"));
  for (const char* line : {"10.0.0.0/8 ,", "10.0.0.0/8 wan via 192.0.2.1,",
                           "10.0.0.0/8 ,wan via 192.0.2.1", "10.0.0.0/8 wan via 192.0.2.1,,lan"}) {
    EXPECT_THAT(refused(line), HasSubstr("expected 'prefix")) << line;
  }
}

TEST(RouteText, SixteenNextHopsAreTheMost) {
  std::string line = "10.0.0.0/8 wan via 192.0.2.0";
  for (int i = 1; i < 16; ++i) line += ", wan via 192.0.2." + std::to_string(i);
  EXPECT_EQ(good(line).hops.size(), kRouteMembersMax);
  EXPECT_THAT(refused(line + ", wan via 192.0.2.16"), HasSubstr("more than 16 next hops"));
}

TEST(RouteText, NothingOfALineStaysForTheNext) {
  RouteLine route;
  std::string reason;
  parse_route_line("2001:db8::/32 wan via fe80::1, lan via fe80::1", route, reason);
  parse_route_line("10.0.0.0/8 drop", route, reason);
  EXPECT_TRUE(route.hops.empty());
  EXPECT_FALSE(route.is_ipv6);
  EXPECT_EQ(route.ipv6_prefix, Ipv6Address{});
}

TEST(RouteText, RefusalsShowNoControlCharactersAndNoEndlessText) {
  const std::string reason = refused("\x1b[31m" + std::string(1000, 'x') + " drop");
  EXPECT_EQ(reason.find('\x1b'), std::string::npos);
  EXPECT_LT(reason.size(), 200u);
}

TEST(RouteText, NeverRoutedIsWhatRfc1812And6890Say) {
  for (const std::uint32_t address :
       {0x00000000u, 0x00ffffffu, 0x7f000001u, 0x7fffffffu, 0xe0000000u, 0xefffffffu, 0xffffffffu,
        0xa9fe0000u, 0xa9feffffu}) {
    EXPECT_TRUE(never_routed(address)) << ipv4_text(address);
  }
  for (const std::uint32_t address :
       {0x01000000u, 0x7effffffu, 0x80000000u, 0xdfffffffu, 0xf0000000u, 0xfffffffeu, 0xa9fdffffu,
        0xa9ff0000u, 0xa8fe0000u}) {
    EXPECT_FALSE(never_routed(address)) << ipv4_text(address);
  }
}

}  // namespace
}  // namespace millrace
