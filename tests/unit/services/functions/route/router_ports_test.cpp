// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/router_ports.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

RouterPort port_with(const std::vector<std::string>& addresses) {
  const PlanPort plan{.name = "lan", .mac = "02:00:00:00:00:0a", .addresses = addresses};
  return *RouterPorts({&plan, 1}).at(0);
}

constexpr Ipv6Bytes kPortGlobal = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr Ipv6Bytes kPortSecond = {0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr Ipv6Bytes kPortFar = {0x20, 0x01, 0x0d, 0xb8, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};
/// fe80:: and the MAC address with ff:fe in its middle and the second bit of it turned.
constexpr Ipv6Bytes kPortLinkLocal = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe, 0, 0, 0xa};

Ipv6Bytes with_last(Ipv6Bytes address, std::uint8_t last) {
  address[15] = last;
  return address;
}

TEST(RouterPorts, APortHasWhatThePlanSays) {
  const std::vector<PlanPort> plans = {
      {.name = "lan", .mtu = 9000, .mac = "02:00:00:00:00:0a", .host = 2},
      {.name = "wan", .mac = "02:00:00:00:00:0b"}};
  const RouterPorts ports(plans);
  ASSERT_NE(ports.at(0), nullptr);
  EXPECT_EQ(ports.at(0)->mtu, 9000u);
  EXPECT_EQ(ports.at(0)->host, 2);
  EXPECT_EQ(ports.at(1)->host, -1);
  EXPECT_EQ(ports.at(1)->mac, (MacAddress{2, 0, 0, 0, 0, 0x0b}));
  EXPECT_EQ(ports.at(2), nullptr);
  EXPECT_EQ(ports.at(255), nullptr);
}

TEST(RouterPorts, WhatIsNoAddressIsRefused) {
  const auto make = [](const PlanPort& plan) { return RouterPorts({&plan, 1}); };
  try {
    make({.name = "lan", .mac = "02:00:00:00:00"});
    FAIL() << "a MAC address of five bytes";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "port lan: '02:00:00:00:00' is no MAC address");
  }
  EXPECT_THROW(make({.name = "lan", .mac = "02:00:00:00:00:0a", .addresses = {"10.1.0.256/24"}}),
               Error);
}

TEST(RouterPorts, OwnAddressesAreTheOnesGivenAndNoOthers) {
  const RouterPort port = port_with({"10.1.0.1/24", "10.1.0.2/24", "172.16.0.1/12"});
  for (const std::uint32_t own : {0x0a010001u, 0x0a010002u, 0xac100001u}) {
    EXPECT_TRUE(port.has_ipv4(own)) << std::hex << own;
  }
  for (const std::uint32_t other : {0u, 0x0a010000u, 0x0a010003u, 0x0a0100ffu, ~0u}) {
    EXPECT_FALSE(port.has_ipv4(other)) << std::hex << other;
  }
}

TEST(RouterPorts, NearIsWhatAnAddressesNetworkHolds) {
  const RouterPort port = port_with({"10.1.0.1/24", "192.0.2.2/31", "198.51.100.7/32"});
  for (const std::uint32_t near :
       {0x0a010000u, 0x0a0100ffu, 0xc0000202u, 0xc0000203u, 0xc6336407u}) {
    EXPECT_TRUE(port.is_near(near)) << std::hex << near;
  }
  for (const std::uint32_t far :
       {0x0a010100u, 0x0a00ffffu, 0xc0000201u, 0xc0000204u, 0xc6336406u}) {
    EXPECT_FALSE(port.is_near(far)) << std::hex << far;
  }
  EXPECT_TRUE(port_with({"10.1.0.1/0"}).is_near(0xdeadbeefu)) << "all is in a network of length 0";
  EXPECT_FALSE(port_with({}).is_near(0x0a010001u));
}

TEST(RouterPorts, ABroadcastAddressIsTheLastOfANetworkThatHasOne) {
  const RouterPort port = port_with({"10.1.0.1/24", "192.0.2.2/30"});
  EXPECT_TRUE(port.is_broadcast(0x0a0100ff));
  EXPECT_TRUE(port.is_broadcast(0xc0000203)) << "/30";
  EXPECT_TRUE(port.is_broadcast(0xffffffff));
  for (const std::uint32_t other : {0x0a010001u, 0x0a0101ffu, 0xc0000202u, 0xc0000207u}) {
    EXPECT_FALSE(port.is_broadcast(other)) << std::hex << other;
  }
  // RFC 3021: both addresses of a /31 are hosts.
  const RouterPort pair = port_with({"192.0.2.2/31"});
  EXPECT_FALSE(pair.is_broadcast(0xc0000203));
  EXPECT_FALSE(pair.is_broadcast(0xc0000202));
  EXPECT_FALSE(port_with({"192.0.2.2/32"}).is_broadcast(0xc0000202));
  EXPECT_TRUE(port_with({}).is_broadcast(0xffffffff)) << "of a port without addresses too";
}

TEST(RouterPorts, TwoAddressesAreTogetherInOneNetworkOnly) {
  const RouterPort port = port_with({"10.1.0.1/24", "10.9.0.1/24"});
  EXPECT_TRUE(port.are_together(0x0a010005, 0x0a0100fe));
  EXPECT_TRUE(port.are_together(0x0a090005, 0x0a090006));
  EXPECT_FALSE(port.are_together(0x0a010005, 0x0a090006)) << "near both, not each other";
  EXPECT_FALSE(port.are_together(0x0a010005, 0x0a020006));
}

TEST(RouterPorts, TheSourceIsTheAddressOfTheSameNetworkElseTheFirst) {
  const RouterPort port = port_with({"10.1.0.1/24", "10.9.0.1/24"});
  EXPECT_EQ(port.source_for(0x0a010005)->address, 0x0a010001u);
  EXPECT_EQ(port.source_for(0x0a090005)->address, 0x0a090001u);
  EXPECT_EQ(port.source_for(0xc0000201)->address, 0x0a010001u);
  EXPECT_EQ(port_with({"2001:db8::1/64"}).source_for(0x0a010005), nullptr);
}

TEST(RouterPorts, APortWithoutAnAddressBorrowsOneOfTheRouter) {
  const std::vector<PlanPort> plan = {
      {.name = "none", .mac = "02:00:00:00:00:0a"},
      {.name = "lan", .mac = "02:00:00:00:00:0b", .addresses = {"10.1.0.1/24", "2001:db8::1/64"}},
      {.name = "wan", .mac = "02:00:00:00:00:0c", .addresses = {"192.0.2.2/30", "fe80::7/64"}},
      {.name = "narrow", .mtu = 576, .mac = "02:00:00:00:00:0d"}};
  const RouterPorts ports(plan);
  const RouterPort &none = *ports.at(0), &wan = *ports.at(2), &narrow = *ports.at(3);
  EXPECT_EQ(ports.source_at(none, 0x0a050505)->address, 0x0a010001u);
  EXPECT_EQ(ports.source_at(wan, 0x0a010005)->address, 0xc0000202u);
  EXPECT_TRUE(ports.answers_for(none, 0xc0000202));
  EXPECT_FALSE(ports.answers_for(none, 0xc0000201));
  EXPECT_FALSE(ports.answers_for(wan, 0x0a010001)) << "it has an address of its own";
  EXPECT_TRUE(none.has_ipv6(kPortLinkLocal));
  EXPECT_EQ(*ports.source_at(none, kPortFar), kPortGlobal);
  EXPECT_EQ(*ports.source_at(wan, kPortFar), kPortGlobal) << "a link-local one goes nowhere";
  EXPECT_EQ(*ports.source_at(none, with_last(kPortLinkLocal, 9)), kPortLinkLocal);
  EXPECT_FALSE(narrow.speaks_ipv6) << "its link cannot carry IPv6";

  const PlanPort alone{.name = "none", .mac = "02:00:00:00:00:0a"};
  const RouterPorts without({&alone, 1});
  EXPECT_FALSE(without.has_ipv4());
  EXPECT_EQ(without.source_at(*without.at(0), 0x0a050505), nullptr);
  EXPECT_EQ(without.source_at(*without.at(0), kPortFar), nullptr);
}

TEST(RouterPorts, ALinkLocalAddressComesWithTheFirstOfIpv6) {
  const RouterPort port = port_with({"2001:db8::1/64"});
  EXPECT_EQ(port.link_local, kPortLinkLocal);
  EXPECT_TRUE(port.has_ipv6(kPortLinkLocal));
  EXPECT_TRUE(port.has_ipv6(kPortGlobal));
  EXPECT_FALSE(port.has_ipv6(with_last(kPortGlobal, 2)));
  EXPECT_FALSE(port.has_ipv6(with_last(kPortLinkLocal, 2)));
  EXPECT_FALSE(port_with({"10.1.0.1/24"}).has_ipv6(kPortLinkLocal));
}

TEST(RouterPorts, NearOfIpv6IsANetworkOrTheLink) {
  const RouterPort port = port_with({"2001:db8::1/64", "2001:db8:1::1/128"});
  EXPECT_TRUE(port.is_near(with_last(kPortGlobal, 77)));
  EXPECT_TRUE(port.is_near(kPortSecond));
  EXPECT_FALSE(port.is_near(with_last(kPortSecond, 2))) << "/128";
  EXPECT_FALSE(port.is_near(kPortFar));
  EXPECT_TRUE(port.is_near(with_last(kPortLinkLocal, 9)));
  EXPECT_FALSE(port_with({"10.1.0.1/24"}).is_near(kPortLinkLocal)) << "no IPv6 here";
}

TEST(RouterPorts, TheSourceOfIpv6HasTheScopeOfTheDestination) {
  const RouterPort port = port_with({"2001:db8::1/64", "2001:db8:1::1/64"});
  EXPECT_EQ(*port.source_for(with_last(kPortGlobal, 9)), kPortGlobal);
  EXPECT_EQ(*port.source_for(with_last(kPortSecond, 9)), kPortSecond);
  EXPECT_EQ(*port.source_for(kPortFar), kPortGlobal);
  EXPECT_EQ(*port.source_for(with_last(kPortLinkLocal, 9)), kPortLinkLocal);
  EXPECT_EQ(port_with({"10.1.0.1/24"}).source_for(kPortFar), nullptr);
  EXPECT_EQ(*port_with({"fe80::1/64", "2001:db8::1/64"}).source_for(kPortFar), kPortGlobal);
}

TEST(RouterPorts, OursAreTheAddressesOfAllPortsAndTheirAnycastAddresses) {
  const std::vector<PlanPort> plan = {
      {.name = "a", .mac = "02:00:00:00:00:0a", .addresses = {"2001:db8::1/64"}},
      {.name = "b", .mac = "02:00:00:00:00:0b", .addresses = {"2001:db8:1::1/127"}}};
  const RouterPorts ports(plan);
  EXPECT_TRUE(ports.is_own(kPortGlobal));
  EXPECT_TRUE(ports.is_own(with_last(kPortGlobal, 0))) << "anycast";
  EXPECT_TRUE(ports.is_own(kPortSecond));
  EXPECT_FALSE(ports.is_own(with_last(kPortSecond, 0))) << "none of a link between two routers";
  EXPECT_FALSE(ports.is_own(with_last(kPortGlobal, 2)));
}

}  // namespace
}  // namespace millrace
