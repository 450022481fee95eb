// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/ipv6_router.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "shared/packet/neighbour_discovery.hpp"
#include "tests/unit/services/functions/route/router_fixture.hpp"

namespace millrace {
namespace {

constexpr Ipv6Bytes kLanBytes = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr Ipv6Bytes kAskerBytes = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};
constexpr Ipv6Bytes kFarBytes = {0x20, 1, 0x0d, 0xb8, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7};

RouteFrame to_lan(Ipv6FrameSpec spec = {}) { return addressed(make_ipv6_frame(spec), 0x0a); }

RouteFrame solicitation_for(const Ipv6Bytes& target) {
  RouteFrame frame(kNeighbourFrameBytes);
  const Ipv6Bytes group = solicited_node(target);
  write_solicitation(frame, kStationMac, multicast_mac(group), kAskerBytes, group, target);
  return frame;
}

TEST(Ipv6Router, ASolicitationForUsIsAnsweredAndTeaches) {
  RouterParts parts;
  parts.take(solicitation_for(kLanBytes));
  parts.ipv6.end(parts.call(), 0, Reason::kNotUnicast);
  ASSERT_TRUE(parts.is_answer(Reason::kReply));
  NeighbourMessage answer;
  ASSERT_TRUE(parse_neighbour(parts.batch().bytes(0), answer));
  EXPECT_TRUE(answer.advertisement && answer.solicited && answer.router && answer.override_);
  EXPECT_EQ(answer.target, kLanBytes);
  EXPECT_EQ(answer.mac, kLanMac);
  EXPECT_EQ(answer.destination, kAskerBytes);
  EXPECT_EQ(parts.known(neighbour_of(0, kAskerBytes)), kStationMac);
}

TEST(Ipv6Router, AProbeForOurAddressIsAnsweredToAllNodes) {
  RouterParts parts;
  RouteFrame probe(kAddressProbeBytes);
  write_address_probe(probe, kStationMac, kLanBytes);
  parts.take(probe);
  parts.ipv6.end(parts.call(), 0, Reason::kNotUnicast);
  ASSERT_TRUE(parts.is_answer(Reason::kReply));
  NeighbourMessage answer;
  ASSERT_TRUE(parse_neighbour(parts.batch().bytes(0), answer));
  EXPECT_EQ(answer.destination, kIpv6AllNodes);
  EXPECT_FALSE(answer.solicited);
}

TEST(Ipv6Router, ASolicitationForAnotherIsNotAnswered) {
  RouterParts parts;
  parts.take(solicitation_for(kFarBytes));
  parts.ipv6.end(parts.call(), 0, Reason::kNotUnicast);
  EXPECT_TRUE(parts.is_consumed_for(Reason::kControl));
}

TEST(Ipv6Router, AnAdvertisementOfAKnownNeighbourTeaches) {
  RouterParts parts;
  const NeighbourKey key = neighbour_of(0, kAskerBytes);
  parts.table.find_or_insert(key, neighbour_ms(parts.facts.now_ns), false);
  RouteFrame frame(kNeighbourFrameBytes);
  write_advertisement(frame, kStationMac, kLanMac, kAskerBytes, kLanBytes, kAskerBytes, false, true,
                      true);
  parts.take(frame);
  parts.ipv6.end(parts.call(), 0, Reason::kOwnAddress);
  EXPECT_TRUE(parts.is_consumed_for(Reason::kControl));
  EXPECT_EQ(parts.known(key), kStationMac);
}

TEST(Ipv6Router, AnExpiredHopLimitIsReportedInFrontOfThePacket) {
  RouterParts parts;
  const RouteFrame frame = to_lan({.hop_limit = 1});
  parts.take(frame);
  parts.ipv6.end(parts.call(), 0, Reason::kTtlExpired);
  ASSERT_TRUE(parts.is_answer(Reason::kReport));
  EXPECT_EQ(parts.frame(), slow_icmpv6_error({.type = 3}, datagram(frame)));
}

TEST(Ipv6Router, APacketWithoutARouteIsReported) {
  RouterParts parts;
  const RouteFrame frame = to_lan();
  parts.take(frame);
  parts.ipv6.end(parts.call(), 0, Reason::kNoRoute);
  ASSERT_TRUE(parts.is_answer(Reason::kReport));
  EXPECT_EQ(parts.frame(), slow_icmpv6_error({.type = 1}, datagram(frame)));
}

TEST(Ipv6Router, APacketLongerThanTheNextLinkIsReportedWithItsMtu) {
  std::vector<PlanPort> ports = dual_ports();
  ports[1].mtu = 50;
  RouterParts parts(ports);
  const RouteFrame frame = to_lan();
  ASSERT_GT(frame.size(), 64u);
  parts.take(frame);
  parts.ipv6.forward(parts.call(), 0, {.port = 1, .mac = kStationMac});
  ASSERT_TRUE(parts.is_answer(Reason::kReport));
  EXPECT_EQ(parts.frame(), slow_icmpv6_error({.type = 2, .rest = 50}, datagram(frame)));
}

TEST(Ipv6Router, AForwardedPacketHasNewAddressesAndOneHopLess) {
  RouterParts parts;
  const RouteFrame frame = to_lan({.hop_limit = 9});
  parts.take(frame);
  parts.ipv6.forward(parts.call(), 0, {.port = 1, .mac = kStationMac});
  ASSERT_TRUE(parts.goes_on_by(1));
  RouteFrame expected = frame;
  put_mac(expected, 0, kStationMac);
  put_mac(expected, 6, kWanMac);
  expected[21] = std::byte{8};
  EXPECT_EQ(parts.frame(), expected);
}

TEST(Ipv6Router, APacketForAnUnknownNeighbourWaitsAndItIsAskedFor) {
  RouterParts parts;
  parts.take(to_lan());
  parts.ipv6.forward(parts.call(), 0, {.port = 1, .neighbour = neighbour_of(1, kFarBytes)});
  EXPECT_TRUE(parts.is_consumed_for(Reason::kHeld));
  ASSERT_EQ(parts.records().size(), 2u);
  EXPECT_TRUE(parts.has_record(0, SideKind::kSend, 1, Reason::kSolicit));
  EXPECT_TRUE(parts.has_record(1, SideKind::kHold, 1, Reason::kHeld));
  NeighbourMessage question;
  ASSERT_TRUE(parse_neighbour(parts.side_frame(0), question));
  EXPECT_EQ(question.target, kFarBytes);
}

TEST(Ipv6Router, NothingIsReportedAboutFramesForOthers) {
  RouterParts parts;
  parts.take(addressed(make_ipv6_frame({}), 0x55));
  parts.ipv6.end(parts.call(), 0, Reason::kNoRoute);
  EXPECT_TRUE(parts.is_dropped_for(Reason::kNoRoute));
}

TEST(Ipv6Router, ReportsHaveALimitedRate) {
  RouterParts parts(dual_ports(), 1, 2);
  for (int sent = 0; sent < 3; ++sent) {
    parts.take(to_lan());
    parts.ipv6.end(parts.call(), 0, Reason::kNoRoute);
    EXPECT_EQ(parts.is_answer(Reason::kReport), sent < 2);
  }
}

}  // namespace
}  // namespace millrace
