// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_way.hpp"

#include <algorithm>
#include <cstring>

namespace millrace {

RouteWay way_of(const RouteHop& hop, std::uint8_t port,
                std::span<const std::byte> destination) noexcept {
  RouteWay way{.port = port, .mtu = hop.mtu};
  const auto kind = static_cast<RouteHopKind>(hop.kind);
  switch (kind) {
    case RouteHopKind::kStatic:
      std::ranges::copy(hop.mac, way.mac.begin());
      return way;
    case RouteHopKind::kGateway4:
    case RouteHopKind::kGateway6:
      way.neighbour.family =
          kind == RouteHopKind::kGateway4 ? NeighbourFamily::kIpv4 : NeighbourFamily::kIpv6;
      std::memcpy(way.neighbour.address.data(), hop.gateway, sizeof hop.gateway);
      break;
    case RouteHopKind::kOnLink:
      way.neighbour.family = destination.size() == sizeof hop.gateway ? NeighbourFamily::kIpv6
                                                                      : NeighbourFamily::kIpv4;
      std::ranges::copy(destination,
                        std::as_writable_bytes(std::span(way.neighbour.address)).begin());
      break;
    case RouteHopKind::kGroup:  // never: one of its members has been chosen
      return way;
  }
  way.neighbour.port = port;
  return way;
}

}  // namespace millrace
