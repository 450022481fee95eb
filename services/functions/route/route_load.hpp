// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "services/functions/function.hpp"
#include "services/functions/route/ipv6_rib.hpp"
#include "services/functions/route/route_image.hpp"
#include "services/functions/route/route_rib.hpp"
#include "services/functions/route/route_settings.hpp"

/// Builder, first half: from settings and text files to prefixes and next hops.

namespace millrace {

/// What the image is made of. Hops as in route_image.hpp: the fixed ones first.
struct RouteSet {
  std::vector<RibRoute> routes;             ///< shorter prefixes first; without the default route
  std::uint32_t default_hop = kHopDefault;  ///< of 0.0.0.0/0
  std::uint32_t ipv6_default_hop = kHopDefaultIpv6;  ///< of ::/0
  std::vector<RouteHop> hops;
  std::vector<RouteMember> members;  ///< of the groups among them
  std::vector<std::string> ports;
  std::vector<std::uint32_t> own;      ///< addresses of this router, host byte order
  bool has_ipv6 = false;               ///< the files have an IPv6 route; else nothing of it is here
  std::vector<Ipv6Route> ipv6_routes;  ///< in order; without the default route
  std::vector<Ipv6Address> ipv6_own;
  std::vector<FixedRoute> fixed;  ///< where the kernel's routes are followed, else none
};

/// Own address and subnet of a port: "10.1.0.1/24".
struct OwnAddress {
  std::uint32_t address = 0;
  std::uint8_t length = 32;
};
/// "2001:db8::1/64".
struct OwnIpv6Address {
  Ipv6Address address;
  std::uint8_t length = 128;
};
struct OwnAddresses {
  std::vector<OwnAddress> ipv4;
  std::vector<OwnIpv6Address> ipv6;
};

/// Addresses of all ports. Throws Error for a text that is none.
OwnAddresses own_addresses(std::span<const PlanPort> ports);

/// Reads every file of setting `table`, in order, then the kernel's routes if they are followed. A
/// line that is wrong, names an unknown port, or repeats a prefix is refused into `report`
/// ("file:line: reason"); the others load. Without ports (`millrace try`) any name is a port. With
/// `answers`, the networks of the ports' addresses are routes too, unless a line or the kernel says
/// otherwise, and a line may name next hops by address; without, the router asks for no neighbour,
/// so such a line is refused. Addresses that a path's translation gives to packets are no own ones
/// as sources: what is translated is forwarded. Throws Error when a file or the kernel cannot be
/// read.
RouteSet load_routes(const FunctionContext& context, const RouteSettings& settings,
                     BuildReport& report);

}  // namespace millrace
