// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "shared/base/packet.hpp"

namespace millrace {

/// A packet that another one carries. Borrowed from it.
struct CarriedPacket {
  std::span<const std::byte> frame;  ///< ends where the outer packet does
  PacketHeaders headers;  ///< offsets in `frame`; `network_offset` may be 0. IPv4 or IPv6
};

/// The packet of IP that a packet carries, one step inwards: IP in IP (RFC 2003, 2473, 4213), GRE
/// (RFC 2784, 2890, 2637; with IP, PPP, Ethernet, ERSPAN, NSH, MPLS), and over UDP, by the
/// destination port, VXLAN (4789, RFC 7348), Geneve (6081, RFC 8926) and Teredo (3544, RFC 4380).
/// Of a frame without IP that it knows: what is behind NSH (RFC 8300), PPPoE (RFC 2516), MPLS (RFC
/// 3032) and further VLAN tags. `headers`: of the frame, whose payload is whole: no fragment.
/// Nothing: it carries none, as far as that can be told.
std::optional<CarriedPacket> carried_packet(std::span<const std::byte> frame,
                                            const PacketHeaders& headers) noexcept;

}  // namespace millrace
