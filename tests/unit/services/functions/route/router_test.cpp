// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/router.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "shared/base/error.hpp"
#include "shared/packet/arp.hpp"
#include "shared/packet/ipv6_checksum.hpp"
#include "shared/packet/neighbour_discovery.hpp"
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
  EXPECT_TRUE(Routed(ways(), frame).is_dropped_for(numbered(RouteReason::kNotIpv4)));
  put16(frame, 12, 0x0806);
  EXPECT_TRUE(Routed(ways(), frame).is_dropped_for(numbered(RouteReason::kNotForwarded)));
  frame.resize(10);
  EXPECT_TRUE(Routed(ways(), frame).is_dropped_for(Reason::kMalformed));
}

TEST(Router, KnowsTheLongestFrameOfEachPort) {
  std::vector<PlanPort> ports = hosted_ports();
  ports[1].mtu = 1400;
  const Router router(ways().table(), ports, {});
  EXPECT_EQ(router.frame_bytes_max(0), 1514u);
  EXPECT_EQ(router.frame_bytes_max(1), 1414u);
  EXPECT_EQ(router.frame_bytes_max(3), UINT32_MAX);
}

TEST(Router, APortOfASettingThatDoesNotExistIsAnError) {
  EXPECT_THROW(Router(ways().table(), hosted_ports(), {.proxy_arp = {"dmz"}}), Error);
  EXPECT_THROW(Router(ways().table(), hosted_ports(), {.advertise = {"dmz"}}), Error);
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

// Hosts that claim addresses of others: of ours, and of permanent neighbours.

constexpr std::uint32_t kHost = 0x0a010005;
constexpr MacAddress kHostMac = {2, 0, 0, 0, 0, 5};
constexpr Ipv6Bytes kLanBytes = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr Ipv6Bytes kHostBytes = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};

struct ConflictParts : RouterParts {
  using RouterParts::RouterParts;

  void arp(std::uint16_t operation, const MacAddress& from, std::uint32_t sender) {
    RouteFrame frame(kArpFrameBytes);
    write_arp(frame, from, kLanMac,
              {.operation = operation,
               .sender_mac = from,
               .sender = sender,
               .target_mac = operation == kArpReply ? kLanMac : MacAddress{},
               .target = kLanIpv4});
    take(frame);
    ipv4.arp(call(), 0);
  }
  void advertise(const MacAddress& from, const Ipv6Bytes& target) {
    RouteFrame frame(kNeighbourFrameBytes);
    write_advertisement(frame, from, kLanMac, target, kLanBytes, target, false, true, true);
    take(frame);
    ipv6.end(call(), 0, RouteReason::kOwnAddress);
    EXPECT_TRUE(is_consumed_for(Reason::kControl));
  }
  void solicit(const MacAddress& from, const Ipv6Bytes& source) {
    RouteFrame frame(kNeighbourFrameBytes);
    const Ipv6Bytes group = solicited_node(kLanBytes);
    write_solicitation(frame, from, multicast_mac(group), source, group, kLanBytes);
    take(frame);
    ipv6.end(call(), 0, RouteReason::kNotUnicast);
    EXPECT_TRUE(is_answer(Reason::kReply));
  }
  void make_permanent(const NeighbourKey& key, const MacAddress& mac) {
    ASSERT_TRUE(table.set_static(key, mac, neighbour_ms(facts.now_ns)));
  }
};

MacAddress mac_told(const EventRecord& record) { return record.anomaly.mac; }

std::uint32_t source_told(const EventRecord& record) {
  std::uint32_t address = 0;
  for (std::size_t i = 0; i < 4; ++i) address = address << 8 | record.source[i];
  return address;
}

TEST(RouterConflicts, AnAddressOfOursThatAnotherClaimsIsToldOfAtALimitedRate) {
  ConflictParts parts(dual_ports(), 1, 1);
  parts.arp(kArpRequest, kStationMac, kLanIpv4);
  const std::vector<EventRecord> told = parts.events.told();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].kind, EventKind::kAnomaly);
  EXPECT_EQ(told[0].anomaly.type, AnomalyType::kAddressConflict);
  EXPECT_EQ(told[0].ip_version, 4u);
  EXPECT_EQ(mac_told(told[0]), kStationMac);
  EXPECT_EQ(source_told(told[0]), kLanIpv4);
  constexpr std::array<std::uint8_t, 4> kTarget = {10, 1, 0, 1};
  EXPECT_EQ(std::memcmp(told[0].destination.data(), kTarget.data(), kTarget.size()), 0);
  parts.arp(kArpRequest, kStationMac, kLanIpv4);
  parts.arp(kArpRequest, kHostMac, kHost);
  EXPECT_TRUE(parts.events.told().empty());
}

TEST(RouterConflicts, AnAdvertisementOfOurAddressByAnotherIsToldOf) {
  ConflictParts parts(dual_ports(), 1, 2);
  parts.advertise(kStationMac, kLanBytes);
  const std::vector<EventRecord> told = parts.events.told();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].kind, EventKind::kAnomaly);
  EXPECT_EQ(told[0].anomaly.type, AnomalyType::kAddressConflict);
  EXPECT_EQ(mac_told(told[0]), kStationMac);
  EXPECT_EQ(told[0].ip_version, 6u);
  EXPECT_EQ(told[0].source, kLanBytes);
  parts.advertise(kStationMac, kHostBytes);
  parts.advertise(kLanMac, kLanBytes);
  EXPECT_TRUE(parts.events.told().empty()) << "another address; ourselves";
  parts.advertise(kStationMac, kLanBytes);
  parts.advertise(kStationMac, kLanBytes);
  EXPECT_EQ(parts.events.told().size(), 1u) << "at a bounded rate";
}

TEST(RouterGateways, TheAnswerOfOneOutsideThePortsNetworksIsTakenIfItWasAsked) {
  constexpr std::uint32_t kFar = 0xcb007109;  // 203.0.113.9
  ConflictParts parts(dual_ports(), 1, 2);
  const NeighbourKey key = neighbour_of(0, kFar);
  parts.arp(kArpReply, kStationMac, kFar);
  EXPECT_EQ(parts.known(key), MacAddress{}) << "it was not asked";
  parts.table.find_or_insert(key, neighbour_ms(1), false);
  parts.arp(kArpRequest, kStationMac, kFar);
  EXPECT_EQ(parts.known(key), MacAddress{}) << "a question proves nothing";
  parts.arp(kArpReply, kStationMac, kFar);
  EXPECT_EQ(parts.known(key), kStationMac);
}

TEST(RouterConflicts, ArpDoesNotChangeAPermanentNeighbourAndIsToldOf) {
  for (const std::uint16_t operation : {kArpRequest, kArpReply}) {
    ConflictParts parts(dual_ports(), 1, 1);
    const NeighbourKey key = neighbour_of(0, kHost);
    parts.make_permanent(key, kHostMac);
    parts.arp(operation, kHostMac, kHost);
    EXPECT_TRUE(parts.events.told().empty()) << "it says the same";
    parts.arp(operation, kStationMac, kHost);
    EXPECT_EQ(parts.known(key), kHostMac);
    const std::vector<EventRecord> told = parts.events.told();
    ASSERT_EQ(told.size(), 1u) << operation;
    EXPECT_EQ(told[0].anomaly.type, AnomalyType::kAddressConflict);
    EXPECT_EQ(source_told(told[0]), kHost);
    EXPECT_EQ(mac_told(told[0]), kStationMac);
    EXPECT_EQ(parts.is_answer(Reason::kReply), operation == kArpRequest) << "who asks hears";
    parts.arp(operation, kStationMac, kHost);
    EXPECT_TRUE(parts.events.told().empty()) << "at a bounded rate";
  }
}

TEST(RouterConflicts, NeighbourDiscoveryDoesNotChangeAPermanentNeighbourAndIsToldOf) {
  ConflictParts parts(dual_ports(), 1, 2);
  const NeighbourKey key = neighbour_of(0, kHostBytes);
  parts.make_permanent(key, kHostMac);
  parts.advertise(kHostMac, kHostBytes);
  parts.solicit(kHostMac, kHostBytes);
  EXPECT_TRUE(parts.events.told().empty()) << "they say the same";
  parts.advertise(kStationMac, kHostBytes);
  parts.solicit(kStationMac, kHostBytes);
  EXPECT_EQ(parts.known(key), kHostMac);
  const std::vector<EventRecord> told = parts.events.told();
  ASSERT_EQ(told.size(), 2u);
  for (const EventRecord& record : told) {
    EXPECT_EQ(record.anomaly.type, AnomalyType::kAddressConflict);
    EXPECT_EQ(record.source, kHostBytes);
    EXPECT_EQ(mac_told(record), kStationMac);
  }
}

TEST(RouterNeighbours, AnAnswerWithoutAMacAddressCountsHoweverLateItComes) {
  ConflictParts parts;
  const NeighbourKey key = neighbour_of(0, kHostBytes);
  parts.learn(key, kHostMac);
  const NeighbourHandle handle = parts.table.find(key);
  std::uint64_t now_ms = neighbour_ms(parts.facts.now_ns) + 40'000;
  for (int asks = 0; asks < 3; ++asks, now_ms += 1'000) {
    ASSERT_EQ(parts.table.look_up(handle, now_ms).ask, NeighbourAsk::kUnicast);
  }
  parts.facts.now_ns = (now_ms + 500) * 1'000'000;
  RouteFrame frame(kNeighbourFrameBytes);
  write_advertisement(frame, kHostMac, kLanMac, kHostBytes, kLanBytes, kHostBytes, false, true,
                      true);
  frame.resize(frame.size() - 8);  // without the option
  put16(frame, 18, 24);
  put16(frame, 56, 0);
  put16(frame, 56, ipv6_checksum(kHostBytes, kLanBytes, 58, std::span(frame).subspan(54)));
  parts.take(frame);
  parts.ipv6.end(parts.call(), 0, RouteReason::kOwnAddress);
  EXPECT_TRUE(parts.is_consumed_for(Reason::kControl));
  EXPECT_EQ(parts.known(key), kHostMac);
  EXPECT_FALSE(parts.table.look_up(handle, now_ms + 2'000).should_ask()) << "it is reachable";
}

TEST(RouterConflicts, OfALearntNeighbourNothingIsTold) {
  ConflictParts parts;
  parts.learn(neighbour_of(0, kHost), kHostMac);
  parts.learn(neighbour_of(0, kHostBytes), kHostMac);
  parts.arp(kArpRequest, kStationMac, kHost);
  parts.advertise(kStationMac, kHostBytes);
  EXPECT_EQ(parts.known(neighbour_of(0, kHost)), kStationMac);
  EXPECT_TRUE(parts.events.told().empty());
}

// Of Scapy; the station is 10.1.0.5 at 02:00:00:00:00:05.
const std::string kEchoOfHost =
    "02000000000a02000000000508004500001f00010000400166d60a0100050a0100010800338d00070009616263";
const std::string kReplyToHost =
    "02000000000502000000000a08004500001f00010000400166d60a0100010a01000500003b8d00070009616263";

struct OptionParts : RouterParts {
  using RouterParts::RouterParts;
  void end(const RouteFrame& frame) {
    take(frame);
    ipv4.end(call(), 0, RouteReason::kOwnAddress);
  }
};

/// An echo request of 10.1.0.5 with these options, whole words.
RouteFrame echo_with(std::string_view hex) {
  const RouteFrame options = bytes_of_hex(hex);
  RouteFrame frame = bytes_of_hex(kEchoOfHost);
  frame.insert(frame.begin() + 34, options.begin(), options.end());
  frame[14] = std::byte(0x45 + options.size() / 4);
  put16(frame, 16, static_cast<std::uint32_t>(frame.size() - 14));
  put16(frame, 24, header_checksum(frame));
  return frame;
}

TEST(RouterOptions, OptionsOfAPacketForUsAreLookedAt) {
  OptionParts parts;
  parts.end(echo_with("0107070400000000"));
  EXPECT_TRUE(parts.is_answer(Reason::kReply));
  RouteFrame reply = bytes_of_hex(kReplyToHost);
  const RouteFrame recorded = bytes_of_hex("010707080a010001");
  reply.insert(reply.begin() + 34, recorded.begin(), recorded.end());
  reply[14] = std::byte{0x47};
  put16(reply, 16, static_cast<std::uint32_t>(reply.size() - 14));
  put16(reply, 24, header_checksum(reply));
  EXPECT_EQ(parts.frame(), reply);
  const RouteFrame wrong = echo_with("1e000000");
  parts.end(wrong);
  RouteFrame problem = slow_icmp_error({.type = 12, .rest = 0x14000000}, datagram(wrong));
  put_mac(problem, 0, {2, 0, 0, 0, 0, 5});
  EXPECT_EQ(parts.frame(), problem);
  parts.end(echo_with("8307080a01000900"));
  EXPECT_TRUE(parts.is_answer(Reason::kReport)) << "a source route is refused";
  OptionParts hosted(hosted_ports());
  hosted.end(echo_with("1e000000"));
  EXPECT_TRUE(hosted.is_punted()) << "the host behind looks at them by itself";
}

TEST(RouterLinkLocal, AHostOfTheLinkIsAnsweredAndNothingForwarded) {
  std::vector<PlanPort> ports = dual_ports();
  ports[0].addresses.emplace_back("169.254.0.1/30");
  for (const std::uint32_t ours : {0xa9fe0001u, kLanIpv4}) {
    RouteFrame echo = bytes_of_hex(kEchoOfHost);
    put32(echo, 26, 0xa9fe0002);
    put32(echo, 30, ours);
    put16(echo, 24, header_checksum(echo));
    OptionParts parts(ports);
    parts.take(echo);
    parts.ipv4.end(parts.call(), 0, RouteReason::kNotUnicast);
    EXPECT_TRUE(parts.is_answer(Reason::kReply)) << ours;
    parts.take(echo);
    parts.facts.port_in = 1;
    parts.ipv4.end(parts.call(), 0, RouteReason::kNotUnicast);
    EXPECT_TRUE(parts.is_dropped_for(numbered(RouteReason::kNotUnicast))) << "of another link";
  }
}

}  // namespace
}  // namespace millrace
