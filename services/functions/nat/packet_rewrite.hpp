// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "services/functions/flow/flow_tuple.hpp"
#include "shared/base/packet.hpp"

/// Translates the addresses and ports of a packet in place. Each checksum is updated by what has
/// changed (RFC 1624), so one that was wrong stays wrong. Nothing here reads or writes outside the
/// given bytes; nothing is written when the answer is false.

namespace millrace {

/// The packet's tuple is `has` and becomes `gets`, which has the same protocol and version; what is
/// equal in both is not touched. `headers`: of parse_headers() of `frame`. Changed are:
/// - addresses of IPv4 and IPv6 and the header checksum of IPv4: of each packet
/// - ports and the checksum of TCP, UDP, UDP-Lite and DCCP. A UDP checksum of 0 stays 0 over IPv4
///   (RFC 768); an updated one of 0 is sent as 0xffff
/// - ports of SCTP and its CRC32c, which covers no addresses (RFC 9260 6.8)
/// - the identifier of a question of ICMP or its answer, and the checksum. FlowTuple holds it as
///   one port and the type as the other, which cannot change
/// - of a fragment other than the first only the addresses; of other protocols too
/// False, and the packet cannot go on:
/// - there are no whole IP headers
/// - a first fragment ends before its checksum (RFC 1858 3), or is SCTP's and its ports change:
///   the sum is over fragments that are not here
/// - has and gets differ in something else
/// IPv4 options and IPv6 routing headers that name further addresses stay as they are.
bool rewrite_packet(std::span<std::byte> frame, const PacketHeaders& headers, const FlowTuple& has,
                    const FlowTuple& gets) noexcept;

/// The same of a usual packet (flow_usual.hpp), in a fourth of the time: the same bytes come out.
/// `has` and `gets` are of IPv4 and of one protocol, UDP or TCP. False: its tuple is not `has`, and
/// nothing is changed.
bool rewrite_usual(std::byte* frame, const FlowTuple& has, const FlowTuple& gets) noexcept;

/// The packet is an ICMP error about a packet of the other direction: the one that it quotes has
/// the tuple reversed(has), which becomes reversed(gets) as far as the quote goes, its checksums
/// with it (RFC 5508 4.2, 4.3). The error's own source becomes gets' where the translation changes
/// the source: a router of the inside does not show its address. Its destination likewise. The
/// checksum of ICMP covers both.
/// False: it is no such error, it quotes no packet with that tuple, or it is a redirect, which
/// names an address that means nothing on the other side.
bool rewrite_icmp_error(std::span<std::byte> frame, const PacketHeaders& headers,
                        const FlowTuple& has, const FlowTuple& gets) noexcept;

}  // namespace millrace
