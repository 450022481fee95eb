// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/next_hops.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "tests/unit/services/functions/route/router_fixture.hpp"

namespace millrace {
namespace {

constexpr MacAddress kHopMac = {2, 0, 0, 0, 0, 0x77};
constexpr std::uint32_t kHopIpv4 = 0xc0000201;  // 192.0.2.1
constexpr Ipv6Bytes kHopGlobal = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};
constexpr Ipv6Bytes kHopLinkLocal = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};

// Of Scapy: ARP of wan for 192.0.2.1, to all and to one; solicitations of lan.
const std::string kAskForIpv4 =
    "ffffffffffff02000000000b0806000108000604000102000000000bc0000202000000000000c0000201";
const std::string kAskOneForIpv4 =
    "02000000007702000000000b0806000108000604000102000000000bc0000202000000000000c0000201";
const std::string kAskForGlobal =
    "3333ff00000902000000000a86dd6000000000203aff20010db8000000000000000000000001ff02000000000000"
    "00000001ff00000987001c100000000020010db8000000000000000000000009010102000000000a";
const std::string kAskForLinkLocal =
    "3333ff00000902000000000a86dd6000000000203afffe80000000000000000000fffe00000aff02000000000000"
    "00000001ff00000987007b7700000000fe800000000000000000000000000009010102000000000a";

Departure to_gateway(std::uint32_t fragment_to = 0) {
  return {.port = 1, .neighbour = neighbour_of(1, kHopIpv4), .fragment_to = fragment_to};
}

/// Parts of a router that hold one packet, and what they have found.
struct Asking : RouterParts {
  Asking() { take(make_frame({})); }
  NextHops::Found find(const Departure& at) { return hops.find(call(), at, mac); }
  void pass(std::uint64_t ms) { facts.now_ns += ms * 1'000'000; }
  MacAddress mac{};
};

TEST(NextHops, AKeyHasTheAddressAsOnTheWire) {
  const NeighbourKey four = neighbour_of(3, kHopIpv4);
  EXPECT_EQ(four.family, NeighbourFamily::kIpv4);
  EXPECT_EQ(four.port, 3);
  EXPECT_EQ(four.address, (std::array<std::uint8_t, 16>{192, 0, 2, 1}));
  const NeighbourKey six = neighbour_of(4, kHopGlobal);
  EXPECT_EQ(six.family, NeighbourFamily::kIpv6);
  EXPECT_EQ(six.port, 4);
  EXPECT_EQ(six.address, kHopGlobal);
}

TEST(NextHops, AKnownNeighbourIsNotAskedFor) {
  Asking asking;
  asking.learn(neighbour_of(1, kHopIpv4), kHopMac);
  EXPECT_EQ(asking.find(to_gateway()), NextHops::Found::kMac);
  EXPECT_EQ(asking.mac, kHopMac);
  EXPECT_TRUE(asking.records().empty());
}

TEST(NextHops, TheSameAddressAtAnotherPortIsAnotherNeighbour) {
  Asking asking;
  asking.learn(neighbour_of(1, kHopIpv4), kHopMac);
  ASSERT_EQ(asking.find(to_gateway()), NextHops::Found::kMac);
  EXPECT_EQ(asking.find({.port = 0, .neighbour = neighbour_of(0, kHopIpv4)}),
            NextHops::Found::kWaits);
}

TEST(NextHops, WhatIsLearntLaterCountsFromTheNextTurnOn) {
  Asking asking;
  asking.learn(neighbour_of(1, kHopIpv4), kHopMac);
  asking.find(to_gateway());
  const MacAddress moved = {2, 0, 0, 0, 0, 0x78};
  asking.pass(1);
  asking.learn(neighbour_of(1, kHopIpv4), moved);
  EXPECT_EQ(asking.find(to_gateway()), NextHops::Found::kMac);
  EXPECT_EQ(asking.mac, moved);
}

TEST(NextHops, AnUnknownNeighbourIsAskedForOnceASecond) {
  Asking asking;
  EXPECT_EQ(asking.find(to_gateway()), NextHops::Found::kWaits);
  EXPECT_EQ(asking.find(to_gateway()), NextHops::Found::kWaits);
  ASSERT_EQ(asking.records().size(), 1u);
  EXPECT_TRUE(asking.has_record(0, SideKind::kSend, 1, Reason::kSolicit));
  EXPECT_EQ(asking.side_hex(), kAskForIpv4);
  asking.pass(999);
  asking.find(to_gateway());
  EXPECT_EQ(asking.records().size(), 1u);
  asking.pass(1);
  asking.find(to_gateway());
  EXPECT_EQ(asking.records().size(), 2u);
}

TEST(NextHops, AfterThreeQuestionsWithoutAnAnswerItHasFailed) {
  Asking asking;
  for (int i = 0; i < 3; ++i, asking.pass(1000)) {
    EXPECT_EQ(asking.find(to_gateway()), NextHops::Found::kWaits) << i;
  }
  EXPECT_EQ(asking.find(to_gateway()), NextHops::Found::kFailed);
  EXPECT_EQ(asking.records().size(), 3u);
}

TEST(NextHops, AStaleNeighbourIsUsedAndAskedByItself) {
  Asking asking;
  asking.learn(neighbour_of(1, kHopIpv4), kHopMac);
  asking.pass(31'000);
  EXPECT_EQ(asking.find(to_gateway()), NextHops::Found::kMac);
  EXPECT_EQ(asking.mac, kHopMac);
  ASSERT_EQ(asking.records().size(), 1u);
  EXPECT_EQ(asking.side_hex(), kAskOneForIpv4);
}

TEST(NextHops, ANeighbourOfIpv6IsSolicitedFromAnAddressOfItsScope) {
  Asking asking;
  EXPECT_EQ(asking.find({.port = 0, .neighbour = neighbour_of(0, kHopGlobal)}),
            NextHops::Found::kWaits);
  EXPECT_EQ(asking.find({.port = 0, .neighbour = neighbour_of(0, kHopLinkLocal)}),
            NextHops::Found::kWaits);
  ASSERT_EQ(asking.records().size(), 2u);
  EXPECT_EQ(asking.side_hex(0), kAskForGlobal);
  EXPECT_EQ(asking.side_hex(1), kAskForLinkLocal);
}

TEST(NextHops, WithoutATableEachNeighbourHasTheMacAddress0) {
  Asking asking;
  asking.facts.neighbours = nullptr;
  asking.mac = kHopMac;
  EXPECT_EQ(asking.find(to_gateway()), NextHops::Found::kMac);
  EXPECT_EQ(asking.mac, MacAddress{});
  EXPECT_TRUE(asking.records().empty());
}

TEST(NextHops, AFullSideListLosesTheQuestionOnly) {
  Asking asking;
  asking.fill_side_list();
  const std::size_t records = asking.records().size();
  EXPECT_EQ(asking.find(to_gateway()), NextHops::Found::kWaits);
  EXPECT_EQ(asking.records().size(), records);
}

TEST(NextHops, APacketLeavesWithTheDestinationsMacAddress) {
  Asking asking;
  RouteFrame expected = make_frame({});
  put_mac(expected, 0, kHopMac);
  asking.hops.leave(asking.call(), to_gateway(), kHopMac);
  EXPECT_TRUE(asking.goes_on_by(1));
  EXPECT_EQ(asking.frame(), expected);
  EXPECT_TRUE(asking.records().empty());
}

TEST(NextHops, ATooLongPacketLeavesInFragments) {
  Asking asking;
  asking.hops.leave(asking.call(), to_gateway(576), kHopMac);
  EXPECT_TRUE(asking.is_consumed_for(Reason::kFragmented));
  ASSERT_EQ(asking.records().size(), 1u);
  EXPECT_TRUE(asking.has_record(0, SideKind::kFragment, 1, Reason::kFragment));
  EXPECT_EQ(asking.records()[0].argument, 576u);
  EXPECT_EQ(asking.records()[0].bytes, 0);
  EXPECT_EQ(asking.hex().substr(0, 12), "020000000077");
}

TEST(NextHops, AHeldPacketTakesQuestionAndReportAlong) {
  Asking asking;
  asking.find(to_gateway());
  const NeighbourHandle handle = asking.table.find(neighbour_of(1, kHopIpv4));
  const RouteFrame front = bytes_of_hex("00112233445566");
  asking.hops.hold(asking.call(), to_gateway(1500), {.front = front, .back = 5, .quoted = 40});
  EXPECT_TRUE(asking.is_consumed_for(Reason::kHeld));
  ASSERT_EQ(asking.records().size(), 2u);
  EXPECT_TRUE(asking.has_record(1, SideKind::kHold, 1, Reason::kHeld));
  const SideRecord& record = asking.records()[1];
  EXPECT_EQ(record.argument, handle.number);
  EXPECT_EQ(record.generation, handle.generation);
  EXPECT_EQ(record.ask, 42);
  EXPECT_EQ(record.back, 5);
  EXPECT_EQ(record.quoted, 40);
  EXPECT_EQ(record.mtu, 1500);
  EXPECT_EQ(asking.side_hex(1), kAskForIpv4 + "00112233445566");
}

TEST(NextHops, AHeldPacketMayHaveNoReport) {
  Asking asking;
  const Departure at{.port = 0, .neighbour = neighbour_of(0, kHopGlobal)};
  asking.find(at);
  asking.hops.hold(asking.call(), at, {});
  ASSERT_EQ(asking.records().size(), 2u);
  EXPECT_EQ(asking.records()[1].ask, 86);
  EXPECT_EQ(asking.records()[1].quoted, 0);
  EXPECT_EQ(asking.side_hex(1), kAskForGlobal);
}

TEST(NextHops, WithoutRoomInTheSideListAPacketIsDropped) {
  Asking held;
  held.find(to_gateway());
  held.fill_side_list();
  held.hops.hold(held.call(), to_gateway(), {});
  EXPECT_TRUE(held.is_dropped_for(Reason::kSideFull));
  Asking fragmented;
  fragmented.fill_side_list();
  fragmented.hops.leave(fragmented.call(), to_gateway(576), kHopMac);
  EXPECT_TRUE(fragmented.is_dropped_for(Reason::kSideFull));
}

}  // namespace
}  // namespace millrace
