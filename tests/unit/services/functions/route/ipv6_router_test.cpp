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

TEST(Ipv6Router, AnExpiredHopLimitIsReportedInFrontOfThePacket) {
  RouterParts parts;
  const RouteFrame frame = to_lan({.hop_limit = 1});
  parts.take(frame);
  parts.ipv6.end(parts.call(), 0, RouteReason::kTtlExpired);
  ASSERT_TRUE(parts.is_answer(Reason::kReport));
  EXPECT_EQ(parts.frame(), slow_icmpv6_error({.type = 3}, datagram(frame)));
}

TEST(Ipv6Router, APacketWithoutARouteIsReported) {
  RouterParts parts;
  const RouteFrame frame = to_lan();
  parts.take(frame);
  parts.ipv6.end(parts.call(), 0, RouteReason::kNoRoute);
  ASSERT_TRUE(parts.is_answer(Reason::kReport));
  EXPECT_EQ(parts.frame(), slow_icmpv6_error({.type = 1}, datagram(frame)));
}

TEST(Ipv6Router, APacketWithARouteThatRefusesItIsReported) {
  RouterParts parts;
  const RouteFrame frame = to_lan();
  parts.take(frame);
  parts.ipv6.end(parts.call(), 0, RouteReason::kUnreachable);
  EXPECT_EQ(parts.frame(), slow_icmpv6_error({.type = 1}, datagram(frame)));
  parts.take(frame);
  parts.ipv6.end(parts.call(), 0, RouteReason::kProhibited);
  EXPECT_EQ(parts.frame(), slow_icmpv6_error({.type = 1, .code = 1}, datagram(frame)));
}

TEST(Ipv6Router, APacketLongerThanItsRouteSaysIsReportedWithThatMtu) {
  RouterParts parts;
  const RouteFrame frame = to_lan();
  parts.take(frame);
  parts.ipv6.forward(parts.call(), 0, {.port = 1, .mac = kStationMac, .mtu = 50});
  ASSERT_TRUE(parts.is_answer(Reason::kReport));
  EXPECT_EQ(parts.frame(), slow_icmpv6_error({.type = 2, .rest = 50}, datagram(frame)));
}

TEST(Ipv6Router, AnUnnumberedPortReportsFromAnAddressOfTheRouter) {
  RouterParts parts(two_ports());  // wan has no address of IPv6
  parts.facts.port_in = 1;
  const RouteFrame frame = addressed(make_ipv6_frame({.hop_limit = 1}), 0x0b);
  parts.take(frame);
  parts.ipv6.end(parts.call(), 0, RouteReason::kTtlExpired);
  ASSERT_TRUE(parts.is_answer(Reason::kReport, 1));
  RouteFrame expected = slow_icmpv6_error({.type = 3}, datagram(frame));
  put_mac(expected, 6, kWanMac);
  EXPECT_EQ(parts.frame(), expected) << "from 2001:db8::1";
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

constexpr Ipv6Bytes kRouterBytes = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};
constexpr Ipv6Bytes kGlobalRouterBytes = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};
constexpr MacAddress kRouterMac = {2, 0, 0, 0, 0, 9};

/// What a redirect of lan about `frame` is, byte by byte (RFC 4861 4.5); `mac`: of the target.
RouteFrame slow_redirect(const RouteFrame& frame, const Ipv6Bytes& target, const MacAddress* mac) {
  RouteFrame quote = datagram(frame);
  quote.resize(std::min<std::size_t>(quote.size(), mac == nullptr ? 1192 : 1184) / 8 * 8);
  RouteFrame out(54 + 40);
  put_mac(out, 0, kStationMac);
  put_mac(out, 6, kLanMac);
  put32(out, 12, 0x86dd6000);
  put16(out, 20, 58 << 8 | 255);
  const Ipv6Bytes from = link_local_of(kLanMac);
  std::ranges::copy(std::as_bytes(std::span(from)), out.begin() + 22);
  std::copy_n(frame.begin() + 22, 16, out.begin() + 38);
  out[54] = std::byte{137};
  std::ranges::copy(std::as_bytes(std::span(target)), out.begin() + 62);
  std::copy_n(frame.begin() + 38, 16, out.begin() + 78);
  if (mac != nullptr) {
    out.resize(out.size() + 8);
    put16(out, 94, 2 << 8 | 1);
    put_mac(out, 96, *mac);
  }
  const std::size_t at = out.size();
  out.resize(at + 8);
  put16(out, at, static_cast<std::uint32_t>(4 << 8 | (8 + quote.size()) / 8));
  out.insert(out.end(), quote.begin(), quote.end());
  put16(out, 18, static_cast<std::uint32_t>(out.size() - 54));
  put16(out, 56, slow_checksum(out, 22, 58 + out.size() - 54));
  return out;
}

TEST(Ipv6Router, ASenderIsToldOfARouterOnItsOwnNetworkAndThePacketGoesOn) {
  for (const std::uint16_t payload : {0, 26, 1400}) {
    RouterParts parts;
    parts.learn(neighbour_of(0, kRouterBytes), kRouterMac);
    const RouteFrame frame = to_lan({.payload = payload});
    parts.take(frame);
    parts.ipv6.forward(parts.call(), 0, {.port = 0, .neighbour = neighbour_of(0, kRouterBytes)});
    EXPECT_TRUE(parts.goes_on_by(0));
    ASSERT_EQ(parts.records().size(), 1u);
    EXPECT_TRUE(parts.has_record(0, SideKind::kSend, 0, Reason::kReport));
    EXPECT_EQ(parts.side_frame(), slow_redirect(frame, kRouterBytes, &kRouterMac)) << payload;
  }
}

TEST(Ipv6Router, ASenderIsToldThatTheDestinationIsItsNeighbour) {
  RouterParts parts;
  const RouteFrame frame = to_lan({.destination = {0x20010db8'00000000, 9}});
  parts.take(frame);
  parts.ipv6.forward(parts.call(), 0, {.port = 0, .neighbour = neighbour_of(0, kAskerBytes)});
  EXPECT_TRUE(parts.is_consumed_for(Reason::kHeld));
  ASSERT_EQ(parts.records().size(), 3u) << "the question, the redirect, and what waits";
  EXPECT_TRUE(parts.has_record(1, SideKind::kSend, 0, Reason::kReport));
  EXPECT_EQ(parts.side_frame(1), slow_redirect(frame, kAskerBytes, nullptr));
  parts.take(frame);
  parts.ipv6.forward(parts.call(), 0, {.port = 0, .mac = kRouterMac});
  ASSERT_EQ(parts.records().size(), 1u);
  EXPECT_EQ(parts.side_frame(), slow_redirect(frame, kAskerBytes, &kRouterMac));
}

TEST(Ipv6Router, NoSenderIsToldOfAWayThatItCannotTake) {
  RouterParts parts;
  for (const Ipv6Bytes& gateway : {kRouterBytes, kGlobalRouterBytes}) {
    parts.learn(neighbour_of(0, gateway), kRouterMac);
    parts.learn(neighbour_of(1, gateway), kRouterMac);
  }
  const auto redirects = [&](const RouteFrame& frame, const RouteWay& way) {
    parts.take(frame);
    parts.ipv6.forward(parts.call(), 0, way);
    EXPECT_TRUE(parts.goes_on_by(way.port));
    return !parts.records().empty();
  };
  const RouteWay back = {.port = 0, .neighbour = neighbour_of(0, kRouterBytes)};
  EXPECT_TRUE(redirects(to_lan(), back));
  EXPECT_FALSE(redirects(to_lan(), {.port = 1, .neighbour = neighbour_of(1, kRouterBytes)}))
      << "another port";
  EXPECT_FALSE(redirects(to_lan(), {.port = 0, .neighbour = neighbour_of(0, kGlobalRouterBytes)}))
      << "a router without its link-local address";
  EXPECT_FALSE(redirects(to_lan(), {.port = 0, .mac = kRouterMac})) << "who is that?";
  EXPECT_FALSE(redirects(to_lan({.source = {0x20010db8'00070000, 5}}), back)) << "no neighbour";
  EXPECT_FALSE(redirects(addressed(make_ipv6_frame({}), 0x55), back)) << "not sent to us";
  RouteFrame error = to_lan({.next_header = 58});
  error[54] = std::byte{1};
  EXPECT_FALSE(redirects(error, back)) << "an ICMP error";
}

TEST(Ipv6Router, RedirectsHaveALimitedRateAndNeedRoom) {
  RouterParts parts(dual_ports(), 1, 2);
  parts.learn(neighbour_of(0, kRouterBytes), kRouterMac);
  for (int sent = 0; sent < 4; ++sent) {
    parts.take(to_lan());
    if (sent == 0) parts.fill_side_list();
    const std::size_t before = parts.records().size();
    parts.ipv6.forward(parts.call(), 0, {.port = 0, .neighbour = neighbour_of(0, kRouterBytes)});
    EXPECT_EQ(parts.records().size() - before, sent == 1 || sent == 2 ? 1u : 0u) << sent;
    EXPECT_TRUE(parts.goes_on_by(0));
  }
}

TEST(Ipv6Router, NoSenderIsToldOfARouterThatDoesNotAnswer) {
  RouterParts parts;
  parts.facts.now_ns += 60'000'000'000;
  const NeighbourKey key = neighbour_of(0, kRouterBytes);
  for (int asked = 0; asked < 4; ++asked, parts.facts.now_ns += 1'500'000'000) {
    MacAddress mac{};
    parts.take(to_lan());
    parts.hops.find(parts.call(), {.port = 0, .neighbour = key}, mac);
  }
  parts.take(to_lan());
  parts.ipv6.forward(parts.call(), 0, {.port = 0, .neighbour = key});
  EXPECT_TRUE(parts.is_answer(Reason::kReport)) << "address unreachable";
  EXPECT_TRUE(parts.records().empty());
}

/// A closed port is told of, as to any sender: what is ours is not beyond the sender's link.
TEST(Ipv6Router, FromALinkLocalAddressAllOfOursAreReached) {
  constexpr Ipv6Address kStranger{0xfe80'0000'0000'0000, 5};
  const Ipv6Address wan = ipv6("2001:db8:9::1"), anycast = ipv6("2001:db8:9::");
  for (const Ipv6Address& ours : {wan, anycast}) {
    RouterParts parts;
    RouteFrame frame = to_lan({.source = kStranger, .destination = ours, .next_header = 17});
    put16(frame, 58, static_cast<std::uint32_t>(datagram(frame).size() - 40));
    put16(frame, 60, 0);
    const auto length = static_cast<std::uint32_t>(datagram(frame).size() - 40);
    put16(frame, 60, slow_checksum(frame, 22, 17 + length));
    parts.take(frame);
    parts.ipv6.end(parts.call(), 0, RouteReason::kNotUnicast);
    ASSERT_TRUE(parts.is_answer(Reason::kReport));
    EXPECT_EQ(parts.frame(),
              slow_icmpv6_error({.type = 1, .code = 4, .from6 = ours}, datagram(frame)));
  }
  RouterParts parts;
  parts.take(to_lan({.source = kStranger, .destination = ipv6("2001:db8:9::2")}));
  parts.ipv6.end(parts.call(), 0, RouteReason::kNotUnicast);
  EXPECT_EQ(parts.frame()[55], std::byte{2}) << "beyond the scope of the source";
}

TEST(Ipv6Router, NothingIsReportedAboutFramesForOthers) {
  RouterParts parts;
  parts.take(addressed(make_ipv6_frame({}), 0x55));
  parts.ipv6.end(parts.call(), 0, RouteReason::kNoRoute);
  EXPECT_TRUE(parts.is_dropped_for(numbered(RouteReason::kNoRoute)));
}

TEST(Ipv6Router, ReportsHaveALimitedRate) {
  RouterParts parts(dual_ports(), 1, 2);
  for (int sent = 0; sent < 3; ++sent) {
    parts.take(to_lan());
    parts.ipv6.end(parts.call(), 0, RouteReason::kNoRoute);
    EXPECT_EQ(parts.is_answer(Reason::kReport), sent < 2);
  }
}

}  // namespace
}  // namespace millrace
