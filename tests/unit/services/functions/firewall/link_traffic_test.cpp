// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/link_traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "services/functions/acl/acl_words.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "tests/unit/services/functions/firewall/firewall_stage.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace {
namespace {

bool ipv4_is_of_the_link(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  Frame frame = udp(1000, 2000);
  const std::uint8_t to[] = {a, b, c, d};
  for (std::size_t i = 0; i < 4; ++i) frame[14 + 16 + i] = std::byte{to[i]};
  return is_of_the_link(frame, parse_headers(frame));
}

TEST(LinkTraffic, OfIpv4IsToGroupsOfTheLinkAndToAll) {
  EXPECT_TRUE(ipv4_is_of_the_link(255, 255, 255, 255));
  EXPECT_TRUE(ipv4_is_of_the_link(224, 0, 0, 5));
  EXPECT_FALSE(ipv4_is_of_the_link(224, 0, 1, 5)) << "routers of groups forward it";
  EXPECT_FALSE(ipv4_is_of_the_link(10, 0, 0, 255));
}

/// ICMPv6 of the type, or TCP when it is 0.
Frame ipv6(const std::string& to, std::uint8_t type, std::uint8_t hop_limit) {
  Frame frame = type == 0 ? FrameBuilder().ipv6(6, 20).padding(20).build()
                          : FrameBuilder().ipv6(58, 24).padding(24).build();
  const AclPrefix address = acl_prefix(to, false);
  std::ranges::copy(std::as_bytes(std::span(address.bytes)),
                    frame.begin() + 14 + ipv6_wire::kDestinationAt);
  frame[14 + ipv6_wire::kHopLimitAt] = std::byte{hop_limit};
  if (type != 0) frame[14 + 40] = std::byte{type};
  return frame;
}

bool ipv6_is_of_the_link(const std::string& to, std::uint8_t type = 0, std::uint8_t limit = 64) {
  const Frame frame = ipv6(to, type, limit);
  return is_of_the_link(frame, parse_headers(frame));
}

TEST(LinkTraffic, OfIpv6IsToAddressesOfTheLinkAndNeighbourDiscovery) {
  EXPECT_TRUE(ipv6_is_of_the_link("fe80::1"));
  EXPECT_TRUE(ipv6_is_of_the_link("ff02::1:ff00:1"));
  EXPECT_FALSE(ipv6_is_of_the_link("ff05::1:3"));
  EXPECT_FALSE(ipv6_is_of_the_link("2001:db8::1"));
  EXPECT_TRUE(ipv6_is_of_the_link("2001:db8::1", 135, 255));
  EXPECT_TRUE(ipv6_is_of_the_link("2001:db8::1", 136, 255));
  EXPECT_FALSE(ipv6_is_of_the_link("2001:db8::1", 135, 254)) << "it has passed a router";
  EXPECT_FALSE(ipv6_is_of_the_link("2001:db8::1", 128, 255)) << "an echo request";
}

TEST(LinkTraffic, RulesOfTheKernelAboutForwardingDoNotDropIt) {
  const std::vector<Frame> frames{ipv6("2001:db8::1", 135, 255), ipv6("fe80::1", 128, 64),
                                  ipv6("2001:db8::1", 128, 64)};
  FirewallStage saved("*filter\n:FORWARD DROP [0:0]\nCOMMIT\n", {}, {}, "ip6tables");
  EXPECT_EQ(saved.send(kLan, frames), "++-");
  FirewallStage own("drop ip any -> any\n");
  EXPECT_EQ(own.send(kLan, frames), "---");
}

}  // namespace
}  // namespace millrace
