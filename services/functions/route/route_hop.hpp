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
  kGroup = 4,     ///< that of one of several next hops, by the packet's flow
};

/// Where to send a packet, or why not.
struct RouteHop {
  std::uint8_t mac[6];         ///< of the next hop; kStatic
  std::uint8_t port;           ///< index in the image's port names
  std::uint8_t reason;         ///< RouteReason; kNone: forward
  std::uint8_t kind;           ///< RouteHopKind
  std::uint8_t member_count;   ///< kGroup: 1..kRouteMembersMax, else 0
  std::uint16_t mtu;           ///< of packets that go there; 0: that of the port
  std::uint32_t first_member;  ///< kGroup: place of the first one in the image's members, else 0
  std::uint8_t gateway[16];    ///< as on the wire; of IPv4 the first four bytes
};
static_assert(sizeof(RouteHop) == 32);
static_assert(offsetof(RouteHop, port) == 6 && offsetof(RouteHop, reason) == 7);
static_assert(offsetof(RouteHop, kind) == 8 && offsetof(RouteHop, gateway) == 16);
static_assert(offsetof(RouteHop, mtu) == 10);
static_assert(offsetof(RouteHop, member_count) == 9 && offsetof(RouteHop, first_member) == 12);

inline constexpr std::uint32_t kRouteMembersMax = 16;  ///< of a group
inline constexpr std::uint32_t kRouteWeightMax = 256;  ///< of a member; as in Linux

/// One of the next hops of a group, with its share of all flow hashes (RFC 2992): those up to
/// `last` that none in front of it in the group has. They ascend; that of the last one is
/// UINT32_MAX. With the weights of all laid side by side, hash h falls on number h * sum >> 32.
struct RouteMember {
  std::uint32_t last;
  std::uint32_t hop;  ///< its number; no group, and it forwards
};
static_assert(sizeof(RouteMember) == 8 && offsetof(RouteMember, hop) == 4);

}  // namespace millrace
