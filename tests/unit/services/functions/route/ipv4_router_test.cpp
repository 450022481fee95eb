// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/ipv4_router.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/packet/wire_bytes.hpp"
#include "tests/unit/services/functions/route/router_fixture.hpp"

namespace millrace {
namespace {

constexpr MacAddress kGatewayMac = {2, 0, 0, 0, 0, 0x77}, kArpMac = {2, 0, 0, 0, 0, 5};
constexpr std::uint32_t kHost = 0x0a010005, kOtherGateway = 0x0a010009;  // of lan

// Of Scapy; the station is 10.1.0.5 at 02:00:00:00:00:05, we are 10.1.0.1 at ...:0a.
const std::string kRequest =
    "ffffffffffff020000000005080600010800060400010200000000050a0100050000000000000a010001";
const std::string kReply =
    "02000000000502000000000a0806000108000604000202000000000a0a0100010200000000050a010005";
const std::string kProbe =
    "ffffffffffff02000000000508060001080006040001020000000005000000000000000000000a010001";
const std::string kProbeReply =
    "02000000000502000000000a0806000108000604000202000000000a0a01000102000000000500000000";
const std::string kConflict =
    "ffffffffffff020000000005080600010800060400010200000000050a0100010000000000000a010001";
const std::string kDefence =
    "ffffffffffff02000000000a0806000108000604000102000000000a0a0100010000000000000a010001";
const std::string kReplyToUs =
    "02000000000a020000000005080600010800060400020200000000050a01000502000000000a0a010001";
const std::string kEcho =
    "02000000000a02000000000508004500001f00010000400166d60a0100050a0100010800338d00070009616263";
const std::string kEchoReply =
    "02000000000502000000000a08004500001f00010000400166d60a0100010a01000500003b8d00070009616263";

RouteWay static_way(std::uint8_t port = 1) { return {.port = port, .mac = kGatewayMac}; }
RouteWay gateway_way(std::uint8_t port = 1, std::uint32_t gateway = 0xc0000201) {
  return {.port = port, .neighbour = neighbour_of(port, gateway)};
}

/// To lan's MAC address, from a station; the checksum is right.
RouteFrame transit(const FrameSpec& spec = {}) { return addressed(make_frame(spec), 0x0a); }

/// With these bytes as its options, whole words.
RouteFrame with_options(std::string_view hex) {
  const RouteFrame options = bytes_of_hex(hex);
  RouteFrame frame = transit({.option_words = static_cast<std::uint8_t>(options.size() / 4)});
  std::ranges::copy(options, frame.begin() + 34);
  put16(frame, 24, header_checksum(frame));
  return frame;
}

RouteFrame without_df(RouteFrame frame) {
  put16(frame, 20, 0);
  put16(frame, 24, header_checksum(frame));
  return frame;
}

RouteFrame one_hop_less(RouteFrame frame) {
  frame[22] = std::byte(std::to_integer<unsigned>(frame[22]) - 1);
  put16(frame, 24, header_checksum(frame));
  return frame;
}

struct Ipv4Parts : RouterParts {
  using RouterParts::RouterParts;
  void forward(const RouteFrame& frame, const RouteWay& way) {
    take(frame);
    ipv4.forward(call(), 0, way);
  }
  void end(const RouteFrame& frame, RouteReason why) {
    take(frame);
    ipv4.end(call(), 0, why);
  }
  void arp(std::string_view hex) {
    take(bytes_of_hex(hex));
    ipv4.arp(call(), 0);
  }
};

std::vector<PlanPort> narrow_wan() {
  std::vector<PlanPort> ports = dual_ports();
  ports[1].mtu = 100;
  return ports;
}

TEST(Ipv4Router, APacketOfAStaticRouteGetsBothMacAddressesAndOneHopLess) {
  Ipv4Parts parts;
  parts.forward(transit(), static_way());
  RouteFrame expected = one_hop_less(transit());
  put_mac(expected, 0, kGatewayMac);
  put_mac(expected, 6, kWanMac);
  EXPECT_TRUE(parts.goes_on_by(1));
  EXPECT_EQ(parts.frame(), expected);
}

TEST(Ipv4Router, APortThatDoesNotExistIsNoOutput) {
  Ipv4Parts parts;
  parts.forward(transit(), static_way(9));
  EXPECT_TRUE(parts.is_dropped_for(Reason::kNoOutput));
}

TEST(Ipv4Router, AnExpiredTtlAndAMissingRouteAreReported) {
  const RouteFrame frame = transit({.ttl = 1});
  Ipv4Parts parts;
  parts.end(frame, RouteReason::kTtlExpired);
  EXPECT_TRUE(parts.is_answer(Reason::kReport));
  EXPECT_EQ(parts.frame(), slow_icmp_error({.type = 11}, datagram(frame)));
  parts.end(frame, RouteReason::kNoRoute);
  EXPECT_EQ(parts.frame(), slow_icmp_error({.type = 3, .code = 0}, datagram(frame)));
  parts.end(frame, RouteReason::kUnreachable);
  EXPECT_EQ(parts.frame(), slow_icmp_error({.type = 3, .code = 1}, datagram(frame)));
  parts.end(frame, RouteReason::kProhibited);
  EXPECT_EQ(parts.frame(), slow_icmp_error({.type = 3, .code = 13}, datagram(frame)));
  parts.end(frame, RouteReason::kBadChecksum);
  EXPECT_TRUE(parts.is_dropped_for(numbered(RouteReason::kBadChecksum))) << "not reported";
}

TEST(Ipv4Router, AReportQuotesNoPaddingAndAtMost548Bytes) {
  RouteFrame padded = transit({.payload = 5});
  const RouteFrame quote = datagram(padded);
  padded.resize(60);
  Ipv4Parts parts;
  parts.end(padded, RouteReason::kTtlExpired);
  EXPECT_EQ(parts.frame(), slow_icmp_error({.type = 11}, quote));
  const RouteFrame longer = transit({.payload = 1400});
  RouteFrame cut = datagram(longer);
  cut.resize(548);
  parts.end(longer, RouteReason::kTtlExpired);
  EXPECT_EQ(parts.frame(), slow_icmp_error({.type = 11}, cut));
}

TEST(Ipv4Router, ATooLongPacketWithDfIsReportedWithTheMtu) {
  const RouteFrame exact = transit({.payload = 80}), longer = transit({.payload = 81});
  Ipv4Parts parts(narrow_wan());
  parts.forward(exact, static_way());
  EXPECT_TRUE(parts.goes_on_by(1));
  parts.forward(longer, static_way());
  EXPECT_TRUE(parts.is_answer(Reason::kReport));
  EXPECT_EQ(parts.frame(), slow_icmp_error({.type = 3, .code = 4, .rest = 100}, datagram(longer)));
}

TEST(Ipv4Router, ARouteWithAnMtuOfItsOwnHasPacketsOfThatLength) {
  RouteWay way = static_way();
  way.mtu = 100;
  const RouteFrame longer = transit({.payload = 81});
  Ipv4Parts parts;
  parts.forward(transit({.payload = 80}), way);
  EXPECT_TRUE(parts.goes_on_by(1));
  parts.forward(longer, way);
  EXPECT_EQ(parts.frame(), slow_icmp_error({.type = 3, .code = 4, .rest = 100}, datagram(longer)));
  parts.forward(without_df(longer), way);
  ASSERT_TRUE(parts.has_record(0, SideKind::kFragment, 1, Reason::kFragment));
  EXPECT_EQ(parts.records()[0].argument, 100u);
}

TEST(Ipv4Router, ATooLongPacketWithoutDfIsFragmented) {
  Ipv4Parts parts(narrow_wan());
  parts.forward(without_df(transit({.payload = 81})), static_way());
  EXPECT_TRUE(parts.is_consumed_for(Reason::kFragmented));
  ASSERT_TRUE(parts.has_record(0, SideKind::kFragment, 1, Reason::kFragment));
  EXPECT_EQ(parts.records()[0].argument, 100u);
}

TEST(Ipv4Router, ARecordedRouteGetsTheAddressOfTheOutput) {
  Ipv4Parts parts;
  parts.forward(with_options("0707040000000001"), static_way());  // room for one address
  RouteFrame expected = one_hop_less(with_options("070708c000020201"));
  put_mac(expected, 0, kGatewayMac);
  put_mac(expected, 6, kWanMac);
  EXPECT_TRUE(parts.goes_on_by(1));
  EXPECT_EQ(parts.frame(), expected);
  parts.forward(with_options("01010101"), static_way());
  EXPECT_TRUE(parts.goes_on_by(1)) << "nothing but no-operation";
}

TEST(Ipv4Router, OptionsThatAreWrongAreReportedByTheirPlace) {
  const RouteFrame bad = with_options("0707030000000001");  // a pointer below 4, at byte 22
  Ipv4Parts parts;
  parts.forward(bad, static_way());
  EXPECT_TRUE(parts.is_answer(Reason::kReport));
  EXPECT_EQ(parts.frame(), slow_icmp_error({.type = 12, .rest = 22u << 24}, datagram(bad)));
  parts.end(transit(), RouteReason::kMalformed);
  EXPECT_TRUE(parts.is_dropped_for(Reason::kMalformed));
}

TEST(Ipv4Router, ASourceRouteIsRefused) {
  for (const std::string_view options : {"8307040a01000900", "8907040a01000900"}) {
    const RouteFrame frame = with_options(options);
    Ipv4Parts parts;
    parts.forward(frame, static_way());
    EXPECT_TRUE(parts.is_answer(Reason::kReport)) << options;
    EXPECT_EQ(parts.frame(), slow_icmp_error({.type = 3, .code = 5}, datagram(frame))) << options;
  }
}

TEST(Ipv4Router, ARedirectGoesBesideThePacketThatLeavesAsItCame) {
  Ipv4Parts parts;
  parts.learn(neighbour_of(0, kOtherGateway), kGatewayMac);
  parts.forward(transit(), gateway_way(0, kOtherGateway));
  EXPECT_TRUE(parts.goes_on_by(0));
  RouteFrame expected = one_hop_less(transit());
  const ErrorSpec redirect{.type = 5, .code = 1, .rest = kOtherGateway};
  ASSERT_EQ(parts.records().size(), 1u);
  EXPECT_TRUE(parts.has_record(0, SideKind::kSend, 0, Reason::kReport));
  EXPECT_EQ(parts.side_frame(), slow_icmp_error(redirect, datagram(expected)));
  put_mac(expected, 0, kGatewayMac);
  put_mac(expected, 6, kLanMac);
  EXPECT_EQ(parts.frame(), expected);
}

TEST(Ipv4Router, ThereIsNoRedirectWhereTheSenderCannotUseIt) {
  Ipv4Parts parts;
  parts.forward(transit({.source = 0x0a630005}), static_way(0));
  EXPECT_TRUE(parts.records().empty()) << "the sender is not of the network";
  parts.forward(transit(), static_way(0));
  EXPECT_TRUE(parts.records().empty()) << "the destination is not of the network";
  parts.take(transit());
  parts.fill_side_list();
  const std::size_t records = parts.records().size();
  parts.learn(neighbour_of(0, kOtherGateway), kGatewayMac);
  parts.ipv4.forward(parts.call(), 0, gateway_way(0, kOtherGateway));
  EXPECT_TRUE(parts.goes_on_by(0)) << "no room for it";
  EXPECT_EQ(parts.records().size(), records);
}

TEST(Ipv4Router, APacketWaitsWithTheReportThatItMayBecome) {
  Ipv4Parts parts;
  parts.forward(transit(), gateway_way());
  EXPECT_TRUE(parts.is_consumed_for(Reason::kHeld));
  ASSERT_EQ(parts.records().size(), 2u);
  EXPECT_TRUE(parts.has_record(0, SideKind::kSend, 1, Reason::kSolicit));
  EXPECT_TRUE(parts.has_record(1, SideKind::kHold, 1, Reason::kHeld));
  const RouteFrame quote = datagram(one_hop_less(transit()));
  RouteFrame front = slow_icmp_error({.type = 3, .code = 1}, quote);
  front.resize(42);
  EXPECT_EQ(parts.records()[1].ask, 42);
  EXPECT_EQ(parts.records()[1].quoted, quote.size());
  EXPECT_EQ(parts.records()[1].back, 0);
  EXPECT_EQ(parts.side_hex(1), parts.side_hex(0) + hex_of_bytes(front));
  const RouteFrame held = parts.frame();
  EXPECT_TRUE(std::ranges::equal(std::span(held).subspan(6, 6), std::as_bytes(std::span(kWanMac))));
}

TEST(Ipv4Router, ANeighbourThatHasFailedIsReported) {
  Ipv4Parts parts;
  for (int second = 0; second < 3; ++second, parts.facts.now_ns += 1'000'000'000) {
    parts.forward(transit(), gateway_way());
  }
  parts.forward(transit(), gateway_way());
  EXPECT_TRUE(parts.is_answer(Reason::kReport));
  EXPECT_EQ(parts.frame(),
            slow_icmp_error({.type = 3, .code = 1}, datagram(one_hop_less(transit()))));
}

TEST(Ipv4Router, NoReportAnswersWhatMayNotBeAnswered) {
  RouteFrame error = transit();
  error[23] = std::byte{1};
  error[34] = std::byte{3};
  RouteFrame later = transit();
  put16(later, 20, 0x0010);
  RouteFrame from_group = transit(), to_all = transit(), to_other = addressed(transit(), 0x77);
  from_group[6] = std::byte{3};
  put_mac(to_all, 0, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
  for (const RouteFrame& frame :
       {error, later, from_group, to_all, to_other, transit({.source = 0x0a0100ff})}) {
    Ipv4Parts parts;
    parts.end(frame, RouteReason::kTtlExpired);
    EXPECT_TRUE(parts.is_dropped_for(numbered(RouteReason::kTtlExpired))) << hex_of_bytes(frame);
    EXPECT_FALSE(parts.has_changed(frame));
  }
  Ipv4Parts unnumbered({{.name = "lan", .device = "null", .mac = "02:00:00:00:00:0a"}});
  unnumbered.end(transit(), RouteReason::kTtlExpired);
  EXPECT_TRUE(unnumbered.is_dropped_for(numbered(RouteReason::kTtlExpired)))
      << "no address to send from";
  Ipv4Parts unknown;
  unknown.facts.port_in = kOutputDefault;
  unknown.end(transit(), RouteReason::kTtlExpired);
  EXPECT_TRUE(unknown.is_dropped_for(numbered(RouteReason::kTtlExpired)))
      << "no port that it came in by";
}

TEST(Ipv4Router, ReportsAreLimitedAndRepliesAreNot) {
  Ipv4Parts parts(dual_ports(), 1, 2);
  for (const bool leaves : {true, true, false, false}) {
    parts.end(transit(), RouteReason::kTtlExpired);
    EXPECT_EQ(parts.is_answer(Reason::kReport), leaves);
  }
  parts.end(bytes_of_hex(kEcho), RouteReason::kOwnAddress);
  EXPECT_TRUE(parts.is_answer(Reason::kReply));
  parts.facts.now_ns += 1'000'000'000;
  parts.end(transit(), RouteReason::kTtlExpired);
  EXPECT_TRUE(parts.is_answer(Reason::kReport));
}

TEST(Ipv4Router, AnEchoRequestBecomesTheReply) {
  Ipv4Parts parts;
  parts.end(bytes_of_hex(kEcho), RouteReason::kOwnAddress);
  EXPECT_TRUE(parts.is_answer(Reason::kReply));
  EXPECT_EQ(parts.hex(), kEchoReply);
}

/// Without a checksum.
RouteFrame udp_to_own(std::uint32_t asked) {
  RouteFrame frame = to_own(17, asked);
  wire_bytes::put16(frame, 38, static_cast<std::uint16_t>(datagram(frame).size() - 20));
  wire_bytes::put16(frame, 40, 0);
  return frame;
}

TEST(Ipv4Router, AClosedPortIsReportedFromTheAddressAsked) {
  for (const std::uint32_t asked : {kLanIpv4, kWanIpv4}) {
    const RouteFrame frame = udp_to_own(asked);
    Ipv4Parts parts;
    parts.end(frame, RouteReason::kOwnAddress);
    EXPECT_TRUE(parts.is_answer(Reason::kReport));
    EXPECT_EQ(parts.frame(),
              slow_icmp_error({.type = 3, .code = 3, .from = asked}, datagram(frame)));
  }
  Ipv4Parts parts;
  parts.end(to_own(17), RouteReason::kOwnAddress);
  EXPECT_TRUE(parts.is_dropped_for(numbered(RouteReason::kOwnAddress))) << "no UDP header is there";
  parts.end(to_own(50), RouteReason::kOwnAddress);
  EXPECT_EQ(parts.frame(), slow_icmp_error({.type = 3, .code = 2}, datagram(to_own(50))));
  for (const RouteFrame& frame : {to_own(6), to_own(1), to_own(17, kLanIpv4, 0x2000)}) {
    parts.end(frame, RouteReason::kOwnAddress);
    EXPECT_TRUE(parts.is_dropped_for(numbered(RouteReason::kOwnAddress))) << hex_of_bytes(frame);
  }
}

TEST(Ipv4Router, AnArpRequestIsAnsweredAndItsSenderLearnt) {
  Ipv4Parts parts;
  parts.arp(kRequest);
  EXPECT_TRUE(parts.is_answer(Reason::kReply));
  EXPECT_EQ(parts.hex(), kReply);
  EXPECT_EQ(parts.known(neighbour_of(0, kHost)), kArpMac);
}

TEST(Ipv4Router, AnArpProbeIsAnsweredAndNothingLearnt) {
  Ipv4Parts parts;
  parts.arp(kProbe);
  EXPECT_EQ(parts.hex(), kProbeReply);
  EXPECT_FALSE(parts.table.find(neighbour_of(0, 0)).found());
}

TEST(Ipv4Router, AnAddressOfOursIsDefendedAtALimitedRate) {
  Ipv4Parts parts(dual_ports(), 0);
  parts.arp(kConflict);
  EXPECT_TRUE(parts.is_answer(Reason::kReply));
  EXPECT_EQ(parts.hex(), kDefence);
  EXPECT_FALSE(parts.table.find(neighbour_of(0, kLanIpv4)).found());
  parts.arp(kConflict);
  EXPECT_TRUE(parts.is_consumed_for(Reason::kControl));
  parts.facts.now_ns += Defences::kIntervalNs;
  parts.arp(kConflict);
  EXPECT_EQ(parts.hex(), kDefence);
}

TEST(Ipv4Router, AnArpReplyUpdatesOnlyWhatWasAskedFor) {
  Ipv4Parts parts;
  parts.arp(kReplyToUs);
  EXPECT_TRUE(parts.is_consumed_for(Reason::kControl));
  EXPECT_FALSE(parts.table.find(neighbour_of(0, kHost)).found());
  parts.table.find_or_insert(neighbour_of(0, kHost), 1001, false);
  parts.arp(kReplyToUs);
  EXPECT_EQ(parts.known(neighbour_of(0, kHost)), kArpMac);
}

TEST(Ipv4Router, ArpThatIsNotForThisLinkIsDropped) {
  std::string other_station = kRequest, from_group = kRequest, from_us = kRequest;
  other_station.replace(0, 12, "020000000099");
  from_group.replace(44, 12, "030000000005");
  from_us.replace(44, 12, "02000000000a");
  for (const std::string& hex : {other_station, from_group, from_us, kRequest.substr(0, 80)}) {
    Ipv4Parts parts;
    parts.arp(hex);
    EXPECT_TRUE(parts.is_dropped_for(numbered(RouteReason::kNotForwarded))) << hex;
  }
  Ipv4Parts parts;
  parts.facts.neighbours = nullptr;
  parts.arp(kRequest);
  EXPECT_TRUE(parts.is_dropped_for(numbered(RouteReason::kNotForwarded))) << "without a table";
  std::string far = kRequest;
  far.replace(56, 8, "0a630005");
  parts.facts.neighbours = &parts.table;
  parts.arp(far);
  EXPECT_TRUE(parts.is_answer(Reason::kReply));
  EXPECT_FALSE(parts.table.find(neighbour_of(0, 0x0a630005)).found()) << "no neighbour of lan";
}

}  // namespace
}  // namespace millrace
