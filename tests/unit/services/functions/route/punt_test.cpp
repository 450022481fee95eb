// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/punt.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/route/router_fixture.hpp"

namespace millrace {
namespace {

const BuiltRoutes& punt_routes() {
  static const BuiltRoutes kRoutes(
      "10.2.0.0/16 wan 02:00:00:00:00:02\n2001:db8:2::/48 wan 02:00:00:00:00:02\n", hosted_ports());
  return kRoutes;
}

Routed routed_to_host(const RouteFrame& frame, std::uint8_t port_in = 0,
                      const std::vector<PlanPort>& ports = hosted_ports()) {
  return Routed(punt_routes(), frame, port_in, ports);
}

TEST(Punt, WhatRouteDoesNotAnswerItselfGoesToTheHostUnchanged) {
  for (const std::uint8_t protocol : std::to_array<std::uint8_t>({1, 2, 6, 17, 50, 89, 112, 255})) {
    const RouteFrame frame = to_own(protocol);
    const Routed routed = routed_to_host(frame);
    EXPECT_TRUE(routed.is_punted()) << int{protocol};
    EXPECT_FALSE(routed.has_changed(frame)) << int{protocol};
  }
  EXPECT_TRUE(routed_to_host(to_own(6, kWanIpv4)).is_punted()) << "an address of another port";
  EXPECT_TRUE(routed_to_host(to_own(1, kLanIpv4, 0x2000)).is_punted())
      << "the first fragment of an echo";
  EXPECT_TRUE(routed_to_host(to_own(17, kLanIpv4, 0x0010)).is_punted()) << "a later fragment";
}

TEST(Punt, ATtlOf1IsEnoughForTheHost) {
  RouteFrame frame = to_own(6);
  frame[22] = std::byte{1};
  put16(frame, 24, header_checksum(frame));
  EXPECT_TRUE(routed_to_host(frame).is_punted());
}

TEST(Punt, WithoutAHostItIsDropped) {
  const Routed nobody = routed_to_host(to_own(6), 0, [] {
    std::vector<PlanPort> ports = hosted_ports();
    ports[0].host = -1;
    return ports;
  }());
  EXPECT_TRUE(nobody.is_dropped());
  EXPECT_EQ(nobody.reason(), numbered(RouteReason::kOwnAddress));
  const Routed other_port = routed_to_host(addressed(to_own(6), 0x0b), 1);
  EXPECT_TRUE(other_port.is_dropped()) << "the host is behind lan only";
}

TEST(Punt, AboveTheRateItIsDroppedUntilTimeHasPassed) {
  RouterParts parts{hosted_ports()};
  Punt punt(100);  // 50 at once
  const RouterPort* const lan = parts.ports.at(0);
  const auto leave_one = [&] {
    parts.take(to_own(6));
    EXPECT_TRUE(punt(parts.call(), 0, lan)) << "it has a fate";
    return parts.is_punted();
  };
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(leave_one()) << i;
  EXPECT_FALSE(leave_one());
  EXPECT_TRUE(parts.is_dropped_for(numbered(RouteReason::kPuntLimited)));
  parts.facts.now_ns += 10'000'000;  // one of 100 a second
  EXPECT_TRUE(leave_one());
  EXPECT_FALSE(leave_one());
  EXPECT_FALSE(punt(parts.call(), 0, parts.ports.at(1))) << "no host is behind wan";
}

TEST(Punt, ARateOf0IsNoLimit) {
  RouterParts parts{hosted_ports()};
  Punt punt(0);
  for (int i = 0; i < 1000; ++i) {
    parts.take(to_own(6));
    ASSERT_TRUE(punt(parts.call(), 0, parts.ports.at(0)) && parts.is_punted()) << i;
  }
}

TEST(Punt, AFrameToAnotherStationIsDropped) {
  const Routed routed = routed_to_host(addressed(to_own(6), 0x77));
  EXPECT_TRUE(routed.is_dropped());
  EXPECT_EQ(routed.reason(), numbered(RouteReason::kOwnAddress));
}

TEST(Punt, AnEchoRequestIsStillAnswered) {
  RouteFrame frame = to_own(1);
  for (std::size_t i = 34; i < frame.size(); ++i) frame[i] = std::byte{0};
  frame[34] = std::byte{8};
  put16(frame, 36, 0xf7ff);
  const Routed routed = routed_to_host(frame);
  EXPECT_EQ(routed.reason(), Reason::kReply);
  EXPECT_FALSE(routed.is_punted());
}

TEST(Punt, GroupsOfTheLinkAndBroadcastsGoToTheHost) {
  const auto to_group = [](std::uint32_t destination, std::uint32_t source = 0x0a010005) {
    return make_frame(
        {.destination_mac_first = 1, .source = source, .destination = destination, .ttl = 1});
  };
  for (const std::uint32_t to : {0xe0000001u, 0xe0000005u, 0xe00000ffu, 0xffffffffu, 0x0a0100ffu}) {
    EXPECT_TRUE(routed_to_host(to_group(to)).is_punted()) << std::hex << to;
  }
  for (const std::uint32_t to : {0xe0000100u, 0xefffffffu, 0x0a0200ffu, 0xc0000203u}) {
    EXPECT_TRUE(routed_to_host(to_group(to)).is_dropped()) << std::hex << to;
  }
  EXPECT_TRUE(routed_to_host(to_group(0xe0000005, kLanIpv4)).is_dropped()) << "from us";
  EXPECT_TRUE(routed_to_host(make_frame({.destination = 0xe0000005})).is_dropped())
      << "to a unicast MAC";
  EXPECT_TRUE(routed_to_host(to_group(0xe0000005), 1).is_dropped()) << "no host behind wan";
}

TEST(Punt, Ipv6GoesToTheHostLikewise) {
  const auto to_own6 = [](std::uint8_t next_header) {
    return addressed(make_ipv6_frame({.destination = kLanIpv6, .next_header = next_header}), 0x0a);
  };
  for (const std::uint8_t next_header : std::to_array<std::uint8_t>({6, 17, 50, 58, 59, 89})) {
    EXPECT_TRUE(routed_to_host(to_own6(next_header)).is_punted()) << int{next_header};
  }
  const Ipv6Address link_local = {0xfe80'0000'0000'0000, 0x0000'00ff'fe00'000a};
  EXPECT_TRUE(routed_to_host(
                  addressed(make_ipv6_frame({.destination = link_local, .next_header = 6}), 0x0a))
                  .is_punted());
  const auto to_group = [](std::uint64_t high, Ipv6Address source = {0xfe80ull << 48, 9}) {
    return make_ipv6_frame({.destination_mac_first = 0x33,
                            .source = source,
                            .destination = {high << 48, 5},
                            .hop_limit = 1,
                            .next_header = 89});
  };
  EXPECT_TRUE(routed_to_host(to_group(0xff02)).is_punted());
  EXPECT_TRUE(routed_to_host(to_group(0xff12)).is_punted()) << "not a permanent one";
  EXPECT_TRUE(routed_to_host(to_group(0xff05)).is_dropped()) << "of the site";
  EXPECT_TRUE(routed_to_host(to_group(0xff02, kLanIpv6)).is_dropped()) << "from us";
}

TEST(Punt, FramesOfOtherEtherTypesGoToTheHostWhenTheyAreForAGroup) {
  const auto frame_of = [](std::uint32_t type, std::uint8_t first = 1) {
    RouteFrame frame = make_frame({.destination_mac_first = first});
    put16(frame, 12, type);
    return frame;
  };
  EXPECT_TRUE(routed_to_host(frame_of(0x88cc)).is_punted()) << "LLDP";
  EXPECT_TRUE(routed_to_host(frame_of(0x002f)).is_punted()) << "IS-IS, by a length";
  EXPECT_TRUE(routed_to_host(frame_of(0x88cc, 2)).is_dropped());
  for (const std::uint32_t tag : {0x8100u, 0x88a8u, 0x9100u}) {
    EXPECT_TRUE(routed_to_host(frame_of(tag)).is_dropped()) << std::hex << tag;
  }
}

TEST(Punt, NothingIsReadBehindAnEarlyEnd) {
  for (const RouteFrame& whole :
       {to_own(6), make_frame({.destination_mac_first = 1, .destination = 0xe0000005}),
        make_ipv6_frame({.destination_mac_first = 0x33, .destination = {0xff02ull << 48, 5}})}) {
    for (std::size_t size = 1; size < whole.size(); ++size) {
      EXPECT_FALSE(
          routed_to_host(RouteFrame(whole.begin(), whole.begin() + static_cast<long>(size)))
              .reason() == Reason::kNone);
    }
  }
}

TEST(Punt, WithoutRoomInTheSideListItIsDropped) {
  BatchArena arena(1);
  arena.add(to_own(6));
  const Batch batch = arena.batch();
  batch.side.add({.packet = 0});
  RouterPort in;
  in.host = 2;
  const BatchFacts facts;
  EXPECT_TRUE(Punt(0)({batch, {}, {}, {}, {}, facts}, 0, &in));
  EXPECT_EQ(static_cast<Reason>(batch.reason[0]), Reason::kSideFull);
  EXPECT_EQ(fates_in(batch).dropped, 1u);
}

}  // namespace
}  // namespace millrace
