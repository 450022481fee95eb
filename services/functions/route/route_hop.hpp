// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace {

/// Which MAC address a packet gets.
enum class RouteHopKind : std::uint8_t {
  kStatic = 0,    ///< `mac`
  kGateway4 = 1,  ///< that of the neighbour `gateway`, of IPv4
  kGateway6 = 2,  ///< likewise, of IPv6
  kOnLink = 3,    ///< that of the neighbour with the packet's own destination
};

/// Where to send a packet, or why not.
struct RouteHop {
  std::uint8_t mac[6];       ///< of the next hop; kStatic
  std::uint8_t port;         ///< index in the image's port names
  std::uint8_t reason;       ///< Reason; kNone: forward
  std::uint8_t kind;         ///< RouteHopKind
  std::uint8_t padding[7];   ///< 0
  std::uint8_t gateway[16];  ///< as on the wire; of IPv4 the first four bytes
};
static_assert(sizeof(RouteHop) == 32);
static_assert(offsetof(RouteHop, port) == 6 && offsetof(RouteHop, reason) == 7);
static_assert(offsetof(RouteHop, kind) == 8 && offsetof(RouteHop, gateway) == 16);

}  // namespace millrace
