// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/router_advertiser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/route/router_fixture.hpp"

namespace millrace {
namespace {

using testing::HasSubstr;

constexpr Ipv6Bytes kHostLocal = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5};

// Of Scapy. The host is fe80::5 at 02:00:00:00:00:05; lan is at ...:0a and has 2001:db8::1/64.
const std::string kFromLocal =
    "33330000000202000000000586dd6000000000103afffe800000000000000000000000000005ff0200000000000000"
    "00"
    "00000000000285007a24000000000101020000000005";
const std::string kWithoutMac =
    "33330000000202000000000586dd6000000000083afffe800000000000000000000000000005ff0200000000000000"
    "00"
    "00000000000285007d3200000000";
const std::string kFromNone =
    "33330000000202000000000586dd6000000000083aff00000000000000000000000000000000ff0200000000000000"
    "00"
    "00000000000285007bb800000000";
const std::string kToHost =
    "02000000000502000000000a86dd6000000000403afffe80000000000000000000fffe00000afe8000000000000000"
    "00"
    "0000000000058600f65d4000ffff0000000000000000010102000000000a05010000000005dc030440c000278d0000"
    "09"
    "3a800000000020010db8000000000000000000000000";
const std::string kToAll =
    "33330000000102000000000a86dd6000000000403afffe80000000000000000000fffe00000aff0200000000000000"
    "00"
    "0000000000018600f5df4000ffff0000000000000000010102000000000a05010000000005dc030440c000278d0000"
    "09"
    "3a800000000020010db8000000000000000000000000";

struct Advertising : RouterParts {
  explicit Advertising(const std::vector<PlanPort>& plan = dual_ports(), std::uint32_t rate = 0,
                       std::uint32_t burst = 50)
      : RouterParts(plan, rate, burst, {"lan"}) {}
  void solicit(const std::string& hex) {
    take(bytes_of_hex(hex));
    ipv6.end(call(), 0, RouteReason::kNotUnicast);
  }
};

TEST(RouterAdvertiser, AHostIsToldTheNetworksOfThePortAndLearned) {
  Advertising parts;
  parts.solicit(kFromLocal);
  EXPECT_TRUE(parts.is_answer(Reason::kReply));
  EXPECT_EQ(parts.hex(), kToHost);
  EXPECT_EQ(parts.known(neighbour_of(0, kHostLocal)), (MacAddress{2, 0, 0, 0, 0, 5}));
}

TEST(RouterAdvertiser, AHostThatDoesNotSayItsMacAddressIsAnsweredWhereTheFrameCameFrom) {
  Advertising parts;
  parts.solicit(kWithoutMac);
  EXPECT_TRUE(parts.is_answer(Reason::kReply));
  EXPECT_EQ(parts.hex(), kToHost);
  EXPECT_EQ(parts.known(neighbour_of(0, kHostLocal)), MacAddress{});
}

TEST(RouterAdvertiser, AHostWithoutAnAddressIsAnsweredBeforeAllNodesEveryThreeSeconds) {
  Advertising parts;
  parts.solicit(kFromNone);
  EXPECT_TRUE(parts.is_answer(Reason::kReply));
  EXPECT_EQ(parts.hex(), kToAll);
  parts.facts.now_ns += 2'999'999'999;
  parts.solicit(kFromNone);
  EXPECT_TRUE(parts.is_consumed_for(Reason::kControl));
  parts.solicit(kFromLocal);
  EXPECT_EQ(parts.hex(), kToHost) << "to one host at any time";
  parts.facts.now_ns += 1;
  parts.solicit(kFromNone);
  EXPECT_EQ(parts.hex(), kToAll);
}

TEST(RouterAdvertiser, WhatGoesToSingleHostsHasALimitedRate) {
  Advertising parts(dual_ports(), 1, 2);
  for (int sent = 0; sent < 3; ++sent) {
    parts.solicit(kFromLocal);
    EXPECT_EQ(parts.is_answer(Reason::kReply), sent < 2);
    EXPECT_EQ(parts.is_consumed_for(Reason::kControl), sent == 2);
  }
}

TEST(RouterAdvertiser, NothingIsAnsweredAtOtherPortsOrToOthers) {
  Advertising parts;
  parts.facts.port_in = 1;
  parts.solicit(kFromLocal);
  EXPECT_TRUE(parts.is_dropped_for(numbered(RouteReason::kNotUnicast))) << "wan";
  parts.facts.port_in = 0;
  std::string other = kFromLocal;
  other.replace(0, 12, "020000000055");
  parts.solicit(other);
  EXPECT_TRUE(parts.is_dropped_for(numbered(RouteReason::kNotUnicast))) << "to another station";
  other = kFromLocal;
  other.replace(12, 2, "03");
  parts.solicit(other);
  EXPECT_TRUE(parts.is_dropped_for(numbered(RouteReason::kNotUnicast))) << "from a group";
  RouterParts silent;
  silent.take(bytes_of_hex(kFromLocal));
  silent.ipv6.end(silent.call(), 0, RouteReason::kNotUnicast);
  EXPECT_TRUE(silent.is_dropped_for(numbered(RouteReason::kNotUnicast))) << "off by default";
}

TEST(RouterAdvertiser, NetworksAreToldOnceAndOnlyThoseThatAreNetworks) {
  std::vector<PlanPort> plan = two_ports();
  plan[0].addresses = {"10.1.0.1/24",        "2001:db8::1/64",    "2001:db8::2/64",
                       "2001:db8:1::1/56",   "2001:db8:2::1/128", "2001:db8:3::1/127",
                       "2001:db8:4:4:5::/64"};
  const RouterPorts ports(plan);
  std::vector<std::string> told;
  for (const AdvertisedPrefix& prefix : advertised_prefixes(*ports.at(0))) {
    std::string hex;
    for (const std::uint8_t byte : prefix.prefix) {
      char text[3];
      std::snprintf(text, sizeof text, "%02x", byte);
      hex += text;
    }
    told.push_back(hex.substr(0, 16) + "/" + std::to_string(prefix.length) +
                   (prefix.autonomous ? " autonomous" : ""));
    EXPECT_TRUE(prefix.on_link);
  }
  EXPECT_THAT(told, testing::ElementsAre("20010db800000000/64 autonomous", "20010db800010000/56",
                                         "20010db800030000/127", "20010db800040004/64 autonomous"));
}

TEST(RouterAdvertiser, APortWithoutANetworkOrWithTooManyIsAnError) {
  const auto refusal = [](const std::vector<std::string>& addresses) -> std::string {
    std::vector<PlanPort> plan = two_ports();
    plan[0].addresses = addresses;
    try {
      const RouterParts parts(plan, 0, 50, {"lan"});
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(refusal({"10.1.0.1/24", "2001:db8::1"}),
              HasSubstr("advertise: port 'lan' has 0 networks of IPv6; expected 1 to 8"));
  std::vector<std::string> many;
  for (int i = 0; i < 8; ++i) many.push_back("2001:db8:" + std::to_string(i) + "::1/64");
  EXPECT_EQ(refusal(many), "none");
  many.push_back("2001:db8:8::1/64");
  EXPECT_THAT(refusal(many), HasSubstr("has 9 networks"));
}

}  // namespace
}  // namespace millrace
