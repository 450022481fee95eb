// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/mac.hpp"

/// ICMP of a router (RFC 792, RFC 1122 3.2.2, RFC 1191, RFC 1812 4.3): errors about datagrams, and
/// replies to echo requests. IPv4 addresses in host byte order. No extensions of RFC 4884: the
/// length of the quote in an error is 0, as in errors of before it.

namespace millrace {

/// False where no ICMP error may ever answer `packet` (RFC 1122 3.2.2, RFC 1812 4.3.2.7): from a
/// source that is no host (0/8, 127/8, multicast, 240/4, broadcast), to multicast or to
/// 255.255.255.255, a fragment other than the first, ICMP that is an error, of a type that Linux
/// does not know either, or too short for a type. `packet`: from the IPv4 header to the end of the
/// datagram; also false when it does not begin with a whole header. Whether the frame was broadcast
/// on the link, or the destination is a subnet's broadcast, is the caller's to know.
bool may_answer_ipv4(std::span<const std::byte> packet) noexcept;

/// What an error says. `rest`: bytes 4 to 7 of its header, in host byte order.
struct IcmpError {
  std::uint8_t type;
  std::uint8_t code;
  std::uint32_t rest = 0;

  friend bool operator==(const IcmpError&, const IcmpError&) = default;
};

inline constexpr IcmpError kIcmpNetUnreachable{3, 0};
inline constexpr IcmpError kIcmpHostUnreachable{3, 1};
inline constexpr IcmpError kIcmpProtocolUnreachable{3, 2};
inline constexpr IcmpError kIcmpPortUnreachable{3, 3};
inline constexpr IcmpError kIcmpSourceRouteFailed{3, 5};
inline constexpr IcmpError kIcmpAdminProhibited{3, 13};  // RFC 1812 5.2.7.1
inline constexpr IcmpError kIcmpTimeExceeded{11, 0};     // in transit: the TTL ended

/// The datagram needs fragments and forbids them (RFC 1191 4). `mtu`: of the next hop, in bytes.
constexpr IcmpError icmp_fragmentation_needed(std::uint16_t mtu) noexcept { return {3, 4, mtu}; }

/// `pointer`: offset of the byte in the datagram's header that is wrong.
constexpr IcmpError icmp_parameter_problem(std::uint8_t pointer) noexcept {
  return {12, 0, std::uint32_t{pointer} << 24};
}

/// Packets for this host are better sent to `gateway` (RFC 1812 5.2.7.2).
constexpr IcmpError icmp_redirect_host(std::uint32_t gateway) noexcept { return {5, 1, gateway}; }

/// An error with its IPv4 header is at most as long (RFC 1812 4.3.2.3).
inline constexpr std::size_t kIcmpErrorDatagramBytesMax = 576;

/// What stands in front of the quote: Ethernet, IPv4 and ICMP headers.
inline constexpr std::size_t kIcmpErrorFrontBytes = 42;

/// How many bytes of a datagram of `datagram_bytes`, from its IPv4 header on, an error quotes.
constexpr std::size_t icmp_quote_bytes(std::size_t datagram_bytes) noexcept {
  return std::min(datagram_bytes, kIcmpErrorDatagramBytesMax - (kIcmpErrorFrontBytes - 14));
}

/// Writes what stands in front of `quote`, with right checksums; the quote itself stays where it
/// is. `front`: exactly kIcmpErrorFrontBytes. `quote`: of icmp_quote_bytes(), at most 65,507.
/// `source`: an address of the interface that the datagram came in by; `destination`: its source.
/// TTL 64, identification 0, DF clear, precedence 6 (RFC 1812 4.3.2.5).
void write_icmp_error(std::span<std::byte> front, std::span<const std::byte> quote, MacAddress from,
                      MacAddress to, std::uint32_t source, std::uint32_t destination,
                      IcmpError error) noexcept;

/// Makes the echo request in `frame` the reply to it: MAC and IPv4 addresses change places, type 8
/// becomes 0, TTL 64, checksums follow; all else stays, options of IPv4 too. `frame`: untagged
/// Ethernet, bytes behind the datagram are padding. False, and nothing changes: no echo request, a
/// cut one or a fragment, a wrong checksum of header or message, or an address that cannot be a
/// reply's (a MAC group address, a source that may_answer_ipv4() refuses, a destination that is
/// multicast or 255.255.255.255). Whether the destination is ours is the caller's to know.
bool echo_reply_in_place(std::span<std::byte> frame) noexcept;

}  // namespace millrace
