// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/mac.hpp"
#include "shared/packet/ipv6_bytes.hpp"

/// ICMPv6 (RFC 4443) for nodes that answer: errors and echo replies. Nothing here keeps state,
/// allocates or blocks; any thread may call it. The caller limits the rate of errors (2.4 (f)).

namespace millrace {

/// Whether an ICMPv6 error may be sent because of `packet` (from the IPv6 header on), by
/// RFC 4443 2.4 (e). False:
/// - it is no IPv6 packet
/// - its source is ::, a multicast address or ::1
/// - its destination is a multicast address, unless `to_multicast_allowed`: set that for Packet Too
///   Big and for Parameter Problem with code 2
/// - it is an ICMPv6 error or a redirect, or ICMPv6 that ends before its type
/// - it has more than 8 extension headers, so that it may be one of these
/// - it is a later fragment whose fragment header names ICMPv6 or one more extension header: it may
///   belong to one of these, for which (e) says MUST NOT. All other later fragments may be
///   answered: (e) has no exception for them, unlike RFC 1812 for IPv4. Linux answers both.
/// True as well for a packet whose chain of headers ends too early: RFC 7112 answers these.
/// The caller checks that the frame came to a unicast MAC address, unless `to_multicast_allowed`,
/// and not to the broadcast address.
bool may_answer_ipv6(std::span<const std::byte> packet, bool to_multicast_allowed) noexcept;

/// Type, code and the four bytes behind the checksum of an error message (RFC 4443 3).
struct Icmpv6Error {
  std::uint8_t type = 1;
  std::uint8_t code = 0;
  std::uint32_t rest = 0;

  static constexpr Icmpv6Error no_route() noexcept { return {1, 0, 0}; }
  static constexpr Icmpv6Error admin_prohibited() noexcept { return {1, 1, 0}; }
  static constexpr Icmpv6Error beyond_scope() noexcept { return {1, 2, 0}; }
  static constexpr Icmpv6Error address_unreachable() noexcept { return {1, 3, 0}; }
  static constexpr Icmpv6Error port_unreachable() noexcept { return {1, 4, 0}; }
  /// `mtu`: of the next link, in bytes; at least 1,280 (RFC 8201 4).
  static constexpr Icmpv6Error packet_too_big(std::uint32_t mtu) noexcept { return {2, 0, mtu}; }
  static constexpr Icmpv6Error hop_limit_exceeded() noexcept { return {3, 0, 0}; }
  static constexpr Icmpv6Error reassembly_time_exceeded() noexcept { return {3, 1, 0}; }
  /// `pointer`: offset from the packet's IPv6 header, which may lie behind what is quoted.
  static constexpr Icmpv6Error erroneous_field(std::uint32_t pointer) noexcept {
    return {4, 0, pointer};
  }
  static constexpr Icmpv6Error unknown_next_header(std::uint32_t pointer) noexcept {
    return {4, 1, pointer};
  }
  static constexpr Icmpv6Error unknown_option(std::uint32_t pointer) noexcept {
    return {4, 2, pointer};
  }
  /// A first fragment without the whole header chain (RFC 7112 5).
  static constexpr Icmpv6Error incomplete_chain() noexcept { return {4, 3, 0}; }

  constexpr bool operator==(const Icmpv6Error&) const = default;
};

inline constexpr std::size_t kIcmpv6ErrorFrontBytes = 62;   // Ethernet 14, IPv6 40, ICMPv6 8
inline constexpr std::size_t kIcmpv6ErrorPacketMax = 1280;  // from the IPv6 header on
inline constexpr std::size_t kIcmpv6QuoteBytesMax = kIcmpv6ErrorPacketMax - 48;

/// How much an error quotes of a packet of `packet_bytes`, from its IPv6 header on: as much as fits
/// the minimum MTU (RFC 4443 2.4 (c)).
constexpr std::size_t icmpv6_quote_bytes(std::size_t packet_bytes) noexcept {
  return packet_bytes < kIcmpv6QuoteBytesMax ? packet_bytes : kIcmpv6QuoteBytesMax;
}

/// All of an error in front of its quote, checksum over both, hop limit 64, traffic class 0.
/// `front`: exactly kIcmpv6ErrorFrontBytes. `quote`: the first icmpv6_quote_bytes() of the packet
/// that it answers, which follow in the frame and are not changed from now on. `source`: an own
/// unicast address; `destination`: the packet's source.
void write_icmpv6_error(std::span<std::byte> front, std::span<const std::byte> quote,
                        MacAddress from, MacAddress to, const Ipv6Bytes& source,
                        const Ipv6Bytes& destination, Icmpv6Error error) noexcept;

/// Makes an echo request into its reply: addresses and MAC addresses exchanged, hop limit 64, type
/// 129, checksum; traffic class and flow label stay. The request is an untagged frame with ICMPv6
/// directly behind the fixed header, code 0, a right checksum, a source that is a unicast address
/// and a MAC address of one station. False, and nothing is changed: it is none, or one of these:
/// - the destination is a multicast address and `source_instead`, the reply's source then, is null
/// - the frame came to a group MAC address and `mac_instead`, the reply's source MAC address then,
///   is null
/// The caller checks that the destination is its own or a group that it is in.
bool echo_reply_in_place_ipv6(std::span<std::byte> frame, const Ipv6Bytes* source_instead,
                              const MacAddress* mac_instead = nullptr) noexcept;

}  // namespace millrace
