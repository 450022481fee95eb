// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/ipv6_discovery.hpp"

#include <gtest/gtest.h>

#include "shared/packet/neighbour_discovery.hpp"
#include "tests/unit/services/functions/route/router_fixture.hpp"

namespace millrace::ipv6_discovery_test {
namespace {

constexpr Ipv6Bytes kLanBytes = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr Ipv6Bytes kAskerBytes = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};
constexpr Ipv6Bytes kFarBytes = {0x20, 1, 0x0d, 0xb8, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7};

RouteFrame solicitation_for(const Ipv6Bytes& target) {
  RouteFrame frame(kNeighbourFrameBytes);
  const Ipv6Bytes group = solicited_node(target);
  write_solicitation(frame, kStationMac, multicast_mac(group), kAskerBytes, group, target);
  return frame;
}

TEST(Ipv6Discovery, ASolicitationForUsIsAnsweredAndTeaches) {
  RouterParts parts;
  parts.take(solicitation_for(kLanBytes));
  parts.ipv6.end(parts.call(), 0, RouteReason::kNotUnicast);
  ASSERT_TRUE(parts.is_answer(Reason::kReply));
  NeighbourMessage answer;
  ASSERT_TRUE(parse_neighbour(parts.batch().bytes(0), answer));
  EXPECT_TRUE(answer.advertisement && answer.solicited && answer.router && answer.override_);
  EXPECT_EQ(answer.target, kLanBytes);
  EXPECT_EQ(answer.mac, kLanMac);
  EXPECT_EQ(answer.destination, kAskerBytes);
  EXPECT_EQ(parts.known(neighbour_of(0, kAskerBytes)), kStationMac);
}

TEST(Ipv6Discovery, AProbeForOurAddressIsAnsweredToAllNodes) {
  RouterParts parts;
  RouteFrame probe(kAddressProbeBytes);
  write_address_probe(probe, kStationMac, kLanBytes);
  parts.take(probe);
  parts.ipv6.end(parts.call(), 0, RouteReason::kNotUnicast);
  ASSERT_TRUE(parts.is_answer(Reason::kReply));
  NeighbourMessage answer;
  ASSERT_TRUE(parse_neighbour(parts.batch().bytes(0), answer));
  EXPECT_EQ(answer.destination, kIpv6AllNodes);
  EXPECT_FALSE(answer.solicited);
}

TEST(Ipv6Discovery, ASolicitationForAnotherIsNotAnswered) {
  RouterParts parts;
  parts.take(solicitation_for(kFarBytes));
  parts.ipv6.end(parts.call(), 0, RouteReason::kNotUnicast);
  EXPECT_TRUE(parts.is_consumed_for(Reason::kControl));
}

TEST(Ipv6Discovery, TheAnycastAddressOfTheNetworkIsAnsweredForAndGivesWay) {
  Ipv6Bytes anycast = kLanBytes;
  anycast[15] = 0;
  RouterParts parts;
  parts.take(solicitation_for(anycast));
  parts.ipv6.end(parts.call(), 0, RouteReason::kNotUnicast);
  ASSERT_TRUE(parts.is_answer(Reason::kReply));
  NeighbourMessage answer;
  ASSERT_TRUE(parse_neighbour(parts.batch().bytes(0), answer));
  EXPECT_TRUE(answer.advertisement && answer.solicited && answer.router);
  EXPECT_FALSE(answer.override_);
  EXPECT_EQ(answer.source, kLanBytes);
  EXPECT_EQ(answer.target, anycast);
  EXPECT_EQ(answer.mac, kLanMac);
}

TEST(Ipv6Discovery, AnAdvertisementOfAKnownNeighbourTeaches) {
  RouterParts parts;
  const NeighbourKey key = neighbour_of(0, kAskerBytes);
  parts.table.find_or_insert(key, neighbour_ms(parts.facts.now_ns), false);
  RouteFrame frame(kNeighbourFrameBytes);
  write_advertisement(frame, kStationMac, kLanMac, kAskerBytes, kLanBytes, kAskerBytes, false, true,
                      true);
  parts.take(frame);
  parts.ipv6.end(parts.call(), 0, RouteReason::kOwnAddress);
  EXPECT_TRUE(parts.is_consumed_for(Reason::kControl));
  EXPECT_EQ(parts.known(key), kStationMac);
}

/// With or without "solicited"; its option is cut off.
RouteFrame advertisement_without_mac(bool solicited) {
  RouteFrame frame(kNeighbourFrameBytes);
  write_advertisement(frame, kStationMac, kLanMac, kAskerBytes, kLanBytes, kAskerBytes, false,
                      solicited, true);
  frame.resize(frame.size() - 8);
  put16(frame, 18, 24);
  put16(frame, 56, 0);
  put16(frame, 56, slow_checksum(frame, 22, 58 + 24));
  return frame;
}

/// As BSD answers a question by unicast.
TEST(Ipv6Discovery, AnAnswerWithoutAMacAddressConfirmsTheOneThatIsKnown) {
  RouterParts parts;
  const NeighbourKey key = neighbour_of(0, kAskerBytes);
  parts.learn(key, kStationMac);
  parts.facts.now_ns += kNeighbourTimes.reachable_ms * 1'000'000;
  const std::uint64_t now_ms = neighbour_ms(parts.facts.now_ns);
  const NeighbourHandle known = parts.table.find(key);
  EXPECT_EQ(parts.table.look_up(known, now_ms).ask, NeighbourAsk::kUnicast);
  parts.take(advertisement_without_mac(false));
  parts.ipv6.end(parts.call(), 0, RouteReason::kOwnAddress);
  EXPECT_EQ(parts.table.look_up(known, now_ms + kNeighbourTimes.retry_ms).ask,
            NeighbourAsk::kUnicast)
      << "unasked it proves nothing";
  parts.take(advertisement_without_mac(true));
  parts.ipv6.end(parts.call(), 0, RouteReason::kOwnAddress);
  EXPECT_TRUE(parts.is_consumed_for(Reason::kControl));
  const std::uint64_t later_ms = now_ms + kNeighbourTimes.reachable_ms - 1;
  EXPECT_EQ(parts.table.look_up(known, later_ms).ask, NeighbourAsk::kNo);
  EXPECT_EQ(parts.known(key), kStationMac);
}

TEST(Ipv6Discovery, AnAnswerWithoutAMacAddressOfAnUnknownNeighbourTeachesNothing) {
  RouterParts parts;
  const NeighbourKey key = neighbour_of(0, kAskerBytes);
  const NeighbourHandle asked =
      parts.table.find_or_insert(key, neighbour_ms(parts.facts.now_ns), false);
  parts.take(advertisement_without_mac(true));
  parts.ipv6.end(parts.call(), 0, RouteReason::kOwnAddress);
  EXPECT_FALSE(parts.table.is_ready(asked));
}

}  // namespace
}  // namespace millrace::ipv6_discovery_test
