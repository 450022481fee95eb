// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "services/functions/route/route_hop.hpp"
#include "shared/base/mac.hpp"
#include "shared/layout/neighbour_table.hpp"

namespace millrace {

/// Where a route leads, once its port is a number.
struct RouteWay {
  std::uint8_t port = 0;
  NeighbourKey neighbour;  ///< family kNone: `mac` is the neighbour's
  MacAddress mac{};
  std::uint32_t mtu = 0;  ///< of the route; 0: it says none

  /// The longest packet that goes this way out of a port with that MTU.
  constexpr std::uint32_t mtu_by(std::uint32_t port_mtu) const noexcept {
    return mtu != 0 && mtu < port_mtu ? mtu : port_mtu;
  }
};

/// By `hop`, no group, which forwards; `port`: its port in the topology. `destination`: 4 or 16
/// bytes as on the wire; empty where the hop is not kOnLink.
RouteWay way_of(const RouteHop& hop, std::uint8_t port,
                std::span<const std::byte> destination) noexcept;

}  // namespace millrace
