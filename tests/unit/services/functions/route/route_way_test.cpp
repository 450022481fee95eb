// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_way.hpp"

#include <gtest/gtest.h>

#include <array>

#include "services/functions/route/next_hops.hpp"

namespace millrace {
namespace {

RouteHop hop_of(RouteHopKind kind) {
  RouteHop hop{};
  hop.kind = static_cast<std::uint8_t>(kind);
  hop.mac[5] = 7;
  hop.gateway[0] = 10;
  hop.gateway[3] = 9;
  return hop;
}

constexpr std::array kDestination = {std::byte{192}, std::byte{0}, std::byte{2}, std::byte{5}};

TEST(RouteWay, AStaticNextHopHasItsMacAddress) {
  const RouteWay way = way_of(hop_of(RouteHopKind::kStatic), 3, kDestination);
  EXPECT_EQ(way.port, 3);
  EXPECT_EQ(way.neighbour.family, NeighbourFamily::kNone);
  EXPECT_EQ(way.mac, (MacAddress{0, 0, 0, 0, 0, 7}));
}

TEST(RouteWay, ItsMtuIsThatOfTheRouteButNoMoreThanThePorts) {
  RouteHop hop = hop_of(RouteHopKind::kStatic);
  EXPECT_EQ(way_of(hop, 3, kDestination).mtu_by(1500), 1500u);
  hop.mtu = 1400;
  EXPECT_EQ(way_of(hop, 3, kDestination).mtu_by(1500), 1400u);
  EXPECT_EQ(way_of(hop, 3, kDestination).mtu_by(576), 576u);
}

TEST(RouteWay, AGatewayIsTheNeighbour) {
  const RouteWay way = way_of(hop_of(RouteHopKind::kGateway4), 3, kDestination);
  EXPECT_EQ(way.neighbour, neighbour_of(3, 0x0a000009));
}

TEST(RouteWay, OnALinkTheDestinationIs) {
  const RouteWay way = way_of(hop_of(RouteHopKind::kOnLink), 3, kDestination);
  EXPECT_EQ(way.neighbour, neighbour_of(3, 0xc0000205));
  const std::array<std::byte, 16> six = {std::byte{0x20}};
  EXPECT_EQ(way_of(hop_of(RouteHopKind::kOnLink), 3, six).neighbour,
            neighbour_of(3, Ipv6Bytes{0x20}));
}

}  // namespace
}  // namespace millrace
