// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>

#include "tests/unit/services/functions/ids/packets/fragment_frames.hpp"

/// Packets in tunnels, for tests.

namespace millrace {

enum class Tunnel {
  kIp,
  kGre,
  kGreWithAll,  ///< checksum, key, sequence number
  kGreWithRoutes,
  kGrePpp,
  kGrePptp,
  kGreEthernet,
  kErspan1,
  kErspan2,
  kErspan3,
  kVxlan,
  kGeneve,
  kTeredo,
  kNsh,
  kNshEthernet,
  kPppoe,
  kMpls,
  kMplsEthernet,
  kThreeTags,
};
inline constexpr Tunnel kTunnels[] = {
    Tunnel::kIp,      Tunnel::kGre,          Tunnel::kGreWithAll,  Tunnel::kGreWithRoutes,
    Tunnel::kGrePpp,  Tunnel::kGrePptp,      Tunnel::kGreEthernet, Tunnel::kErspan1,
    Tunnel::kErspan2, Tunnel::kErspan3,      Tunnel::kVxlan,       Tunnel::kGeneve,
    Tunnel::kTeredo,  Tunnel::kNsh,          Tunnel::kNshEthernet, Tunnel::kPppoe,
    Tunnel::kMpls,    Tunnel::kMplsEthernet, Tunnel::kThreeTags};

/// Teredo is for IPv6 alone.
inline bool is_carried_by(Tunnel tunnel, bool inner_ipv6) {
  return tunnel != Tunnel::kTeredo || inner_ipv6;
}

namespace tunnel_frames {

/// What stands in front of the inner packet, from the outer transport or EtherType on.
struct Front {
  unsigned protocol = 0;  ///< of IP
  unsigned port = 0;      ///< of UDP
  unsigned type = 0;      ///< of a frame without IP
  std::vector<unsigned> bytes{};
  bool has_ethernet = false;  ///< the inner packet keeps its Ethernet header
};

inline Front front_of(Tunnel tunnel, bool inner_ipv6) {
  const unsigned high = inner_ipv6 ? 0x86 : 0x08, low = inner_ipv6 ? 0xdd : 0;
  const unsigned ppp = inner_ipv6 ? 0x57 : 0x21;
  switch (tunnel) {
    case Tunnel::kIp:
      return {.protocol = inner_ipv6 ? 41u : 4u};
    case Tunnel::kGre:
      return {.protocol = 47, .bytes = {0, 0, high, low}};
    case Tunnel::kGreWithAll:
      return {.protocol = 47, .bytes = {0xb0, 0, high, low, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}};
    case Tunnel::kGreWithRoutes:
      return {.protocol = 47,
              .bytes = {0x40, 0, high, low, 0, 0, 0, 0, 8, 0, 0, 4, 1, 2, 3, 4, 0, 0, 0, 0}};
    case Tunnel::kGrePpp:
      return {.protocol = 47, .bytes = {0, 0, 0x88, 0x0b, 0xff, 3, 0, ppp}};
    case Tunnel::kGrePptp:
      return {.protocol = 47,
              .bytes = {0x30, 0x81, 0x88, 0x0b, 0, 9, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, ppp}};
    case Tunnel::kGreEthernet:
      return {.protocol = 47, .bytes = {0, 0, 0x65, 0x58}, .has_ethernet = true};
    case Tunnel::kErspan1:
      return {.protocol = 47, .bytes = {0, 0, 0x88, 0xbe}, .has_ethernet = true};
    case Tunnel::kErspan2:
      return {.protocol = 47,
              .bytes = {0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 1, 2, 3, 4, 5, 6, 7},
              .has_ethernet = true};
    case Tunnel::kErspan3:
      return {.protocol = 47,
              .bytes = {0x10, 0, 0x22, 0xeb, 0,  0, 0, 1, 0x20, 1, 2, 3, 4, 5,
                        6,    7, 8,    9,    10, 1, 1, 2, 3,    4, 5, 6, 7, 8},
              .has_ethernet = true};
    case Tunnel::kVxlan:
      return {
          .protocol = 17, .port = 4789, .bytes = {8, 0, 0, 0, 0, 0, 9, 0}, .has_ethernet = true};
    case Tunnel::kGeneve:
      return {.protocol = 17,
              .port = 6081,
              .bytes = {1, 0, 0x65, 0x58, 0, 0, 9, 0, 1, 2, 3, 4},
              .has_ethernet = true};
    case Tunnel::kTeredo:
      return {.protocol = 17, .port = 3544, .bytes = {0, 1, 1, 2, 9, 9, 9, 1, 2, 3, 4, 5,
                                                      6, 7, 8, 0, 0, 0, 1, 2, 3, 4, 5, 6}};
    case Tunnel::kNsh:
      return {.type = 0x894f, .bytes = {0, 2, 2, inner_ipv6 ? 2u : 1u, 0, 0, 0, 0}};
    case Tunnel::kNshEthernet:
      return {.type = 0x894f, .bytes = {0, 3, 2, 3, 0, 0, 0, 0, 1, 2, 3, 4}, .has_ethernet = true};
    case Tunnel::kPppoe:
      return {.type = 0x8864, .bytes = {0x11, 0, 0, 1, 0, 40, 0, ppp}};
    case Tunnel::kMpls:
      return {.type = 0x8847, .bytes = {0, 1, 0, 64, 0, 2, 1, 64}};
    case Tunnel::kMplsEthernet:
      return {.type = 0x8847, .bytes = {0, 2, 1, 64, 0, 0, 0, 0}, .has_ethernet = true};
    case Tunnel::kThreeTags:
      return {.type = 0x88a8, .bytes = {0, 1, 0x81, 0, 0, 2, 0x81, 0, 0, 3, high, low}};
  }
  return {};
}

}  // namespace tunnel_frames

/// A frame that carries `inner`, a frame whose IP header follows its Ethernet header.
inline Frame in_tunnel(const Frame& inner, Tunnel tunnel, bool outer_ipv6 = false) {
  const bool inner_ipv6 = wire_bytes::u16(inner, 12) == 0x86dd;
  const auto front = tunnel_frames::front_of(tunnel, inner_ipv6);
  const std::size_t skipped = front.has_ethernet ? 0 : kIpAt;
  const auto bytes = static_cast<unsigned>(front.bytes.size() + inner.size() - skipped);
  FrameBuilder builder;
  if (front.type != 0) {
    builder.type(front.type);
  } else {
    const unsigned behind = bytes + (front.protocol == 17 ? 8 : 0);
    outer_ipv6 ? builder.ipv6(front.protocol, behind) : builder.ipv4(front.protocol, behind);
  }
  if (front.protocol == 17) builder.udp(bytes, 50'000, front.port);
  Frame frame = builder.build();
  for (const unsigned byte : front.bytes) frame.push_back(std::byte(byte));
  frame.insert(frame.end(), inner.begin() + static_cast<std::ptrdiff_t>(skipped), inner.end());
  if (front.type == 0 && !outer_ipv6) put_ip_checksum(frame);
  return frame;
}

}  // namespace millrace
