// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Ports that borrow addresses, and ARP by senders that are no hosts.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/route/ipv4_router.hpp"
#include "shared/layout/neighbour_table.hpp"
#include "tests/unit/services/functions/route/router_fixture.hpp"

namespace millrace::ipv4_unnumbered_test {
namespace {

constexpr MacAddress kArpMac = {2, 0, 0, 0, 0, 5};
constexpr std::uint32_t kHost = 0x0a010005;

// Of Scapy; the station is 10.1.0.5 at 02:00:00:00:00:05, we are 10.1.0.1 at ...:0a.
const std::string kRequest =
    "ffffffffffff020000000005080600010800060400010200000000050a0100050000000000000a010001";
const std::string kReplyToUs =
    "02000000000a020000000005080600010800060400020200000000050a01000502000000000a0a010001";

struct Parts : RouterParts {
  using RouterParts::RouterParts;
  void end(const RouteFrame& frame, RouteReason why) {
    take(frame);
    ipv4.end(call(), 0, why);
  }
  void arp(std::string_view hex) {
    take(bytes_of_hex(hex));
    ipv4.arp(call(), 0);
  }
};

RouteFrame transit(std::uint8_t mac_last) { return addressed(make_frame({.ttl = 1}), mac_last); }

/// dual_ports(), and a port without an address.
std::vector<PlanPort> with_unnumbered() {
  std::vector<PlanPort> ports = dual_ports();
  ports.push_back({.name = "far", .device = "null", .mac = "02:00:00:00:00:0c"});
  return ports;
}

TEST(Ipv4Unnumbered, AnUnnumberedPortBorrowsTheFirstAddressOfTheRouter) {
  Parts parts(with_unnumbered());
  parts.facts.port_in = 2;
  const RouteFrame frame = transit(0x0c);
  parts.end(frame, RouteReason::kTtlExpired);
  ASSERT_TRUE(parts.is_answer(Reason::kReport, 2));
  RouteFrame expected = slow_icmp_error({.type = 11}, datagram(frame));
  put_mac(expected, 6, {2, 0, 0, 0, 0, 0x0c});
  EXPECT_EQ(parts.frame(), expected) << "from 10.1.0.1";
}

TEST(Ipv4Unnumbered, AnUnnumberedPortAnswersArpForTheAddressesOfTheRouterAndLearnsWhatItAsked) {
  Parts parts(with_unnumbered());
  parts.facts.port_in = 2;
  parts.arp(kRequest);
  EXPECT_TRUE(parts.is_answer(Reason::kReply, 2));
  std::string to_us = kReplyToUs;
  to_us.replace(0, 12, "02000000000c");
  parts.table.find_or_insert(neighbour_of(2, kHost), 1001, false);
  parts.arp(to_us);
  EXPECT_TRUE(parts.is_consumed_for(Reason::kControl));
  EXPECT_EQ(parts.known(neighbour_of(2, kHost)), kArpMac);
  parts.facts.port_in = 1;
  parts.arp(kRequest);
  EXPECT_TRUE(parts.is_consumed_for(Reason::kControl)) << "wan has an address of its own";
}

TEST(Ipv4Unnumbered, ARouterWithoutAddressesLearnsWhatItAskedForByProbes) {
  std::vector<PlanPort> ports = dual_ports();
  for (PlanPort& port : ports) port.addresses.clear();
  Parts parts(ports);
  std::string to_nobody = kReplyToUs;
  to_nobody.replace(76, 8, "00000000");
  parts.arp(to_nobody);
  EXPECT_FALSE(parts.table.find(neighbour_of(0, kHost)).found()) << "it was not asked";
  parts.table.find_or_insert(neighbour_of(0, kHost), 1001, false);
  parts.arp(to_nobody);
  EXPECT_EQ(parts.known(neighbour_of(0, kHost)), kArpMac);
  parts.end(transit(0x0a), RouteReason::kTtlExpired);
  EXPECT_TRUE(parts.is_dropped_for(numbered(RouteReason::kTtlExpired))) << "reported from nowhere";
}

TEST(Ipv4Unnumbered, ArpBySendersThatAreNoHostsIsNotAnsweredAndTeachesNothing) {
  // A loopback address, a group, both kinds of broadcast, ours at wan.
  for (const char* const sender : {"7f000009", "e0000005", "ffffffff", "0a0100ff", "c0000202"}) {
    std::string request = kRequest;
    request.replace(56, 8, sender);
    Parts parts;
    parts.arp(request);
    EXPECT_TRUE(parts.is_consumed_for(Reason::kControl)) << sender;
    EXPECT_FALSE(parts.table.find(neighbour_of(0, 0x0a0100ff)).found());
  }
}

}  // namespace
}  // namespace millrace::ipv4_unnumbered_test
