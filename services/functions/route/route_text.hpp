// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/route/ipv6_address.hpp"
#include "services/functions/route/route_hop.hpp"
#include "shared/base/mac.hpp"

/// The text form of a route table, one route a line; fields are separated by spaces or tabs, and
/// '#' starts a comment:
///
///     10.0.0.0/8      wan  via 192.0.2.1         # prefix, output port, address of the next hop
///     10.7.0.0/24     lan                        # its hosts are neighbours at that port
///     10.66.0.0/16    drop                       # packets to it are dropped, reason no_route
///     10.9.0.0/16     wan  02:00:00:00:00:02     # MAC of the next hop, which is not asked for
///     2001:db8::/32   wan  via fe80::1           # IPv6 likewise
///     10.8.0.0/16     wan  via 192.0.2.1 weight 2, lan via 10.1.0.9   # one of several, by flow

namespace millrace {

/// One of the next hops of a route.
struct RouteLineHop {
  std::string_view port;  ///< borrowed from the line
  RouteHopKind kind = RouteHopKind::kStatic;
  MacAddress mac{};                        ///< kStatic
  std::array<std::uint8_t, 16> gateway{};  ///< kGateway4, kGateway6; as in RouteHop
  std::uint32_t weight = 1;                ///< 1..kRouteWeightMax
};

/// What the sender of a packet without a next hop is told, if not silence.
enum class RouteRefusal : std::uint8_t {
  kNone,
  kUnreachable,  ///< host unreachable; of IPv6: no route
  kProhibited,   ///< communication administratively prohibited
};

struct RouteLine {
  bool is_ipv6 = false;
  std::uint32_t prefix = 0;  ///< of IPv4, host byte order; bits behind `length` are zero
  Ipv6Address ipv6_prefix;   ///< likewise
  std::uint8_t length = 0;   ///< bits, 0..32 or 0..128
  RouteRefusal refusal = RouteRefusal::kNone;  ///< only of the kernel, no text says it
  /// Of packets to there, in bytes; 0: that of the port. Only of the kernel likewise.
  std::uint16_t mtu = 0;
  /// None: `drop`, or a refusal. Else 1..kRouteMembersMax; those of a text are all different.
  std::vector<RouteLineHop> hops;
};

enum class RouteLineKind : std::uint8_t { kEmpty, kRoute, kRefused };

/// Reads one line without its end. kEmpty: nothing but space and comment. kRefused: `reason` says
/// what is wrong and what was expected. Never throws for any bytes.
RouteLineKind parse_route_line(std::string_view line, RouteLine& route, std::string& reason);

/// "a.b.c.d" in host byte order, nothing around it.
bool parse_ipv4(std::string_view text, std::uint32_t& address);
std::string ipv4_text(std::uint32_t address);
/// The first `length` bits set, 0..32.
constexpr std::uint32_t ipv4_mask(std::uint32_t length) noexcept {
  return length == 0 ? 0 : ~std::uint32_t{0} << (32 - length);
}
/// A number of bits from 0 to `most`, at most 128.
bool parse_length(std::string_view text, std::uint8_t most, std::uint8_t& length);
/// "address/length".
std::string prefix_text(const RouteLine& route);

/// 169.254.0.0/16 (RFC 3927). Host byte order.
constexpr bool is_link_local(std::uint32_t address) noexcept { return address >> 16 == 0xa9fe; }

/// An address that no packet may be routed from or to: 0.0.0.0/8, 127.0.0.0/8, 169.254.0.0/16,
/// 224.0.0.0/4 and 255.255.255.255 (RFC 1812 5.3.7, RFC 3927 7, RFC 6890). Host byte order.
constexpr bool never_routed(std::uint32_t address) noexcept {
  const std::uint32_t first = address >> 24;
  return (first == 0) | (first == 127) | ((first & 0xf0) == 0xe0) | (address == 0xffffffff) |
         is_link_local(address);
}

}  // namespace millrace
