// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/ip_protocol.hpp"

/// The checksum of IPv4, ICMP, TCP and UDP (RFC 1071). Sums and checksums are numbers in host byte
/// order that a packet holds in network byte order. Nothing here reads outside the given bytes.

namespace millrace {

/// The one's complement sum of `bytes` as 16-bit words of network order, at any alignment and of
/// any length below 16 GiB, added to `initial` (the sum of something else). 0 only where all of it
/// is 0. A last odd byte counts as the upper half of a word, so of several pieces only the last may
/// be odd.
std::uint16_t internet_sum(std::span<const std::byte> bytes, std::uint32_t initial = 0) noexcept;

/// The checksum of `bytes`, whose checksum field holds 0. Over bytes with their checksum in place:
/// 0 if that is right. UDP sends 0xffff instead of 0 (RFC 768); that is the caller's.
inline std::uint16_t internet_checksum(std::span<const std::byte> bytes,
                                       std::uint32_t initial = 0) noexcept {
  return static_cast<std::uint16_t>(~internet_sum(bytes, initial));
}

/// The sum of the pseudo header of TCP and UDP over IPv4 (RFC 9293 3.1, RFC 768), an `initial` of
/// the functions above. Addresses in host byte order; `length`: bytes of transport header and data.
std::uint16_t pseudo_sum(std::uint32_t source, std::uint32_t destination, std::uint8_t protocol,
                         std::uint16_t length) noexcept;

/// The same over IPv6 (RFC 8200 8.1). Addresses as the packet holds them; `next_header`: of the
/// transport protocol, whatever extension headers stand in front.
std::uint16_t pseudo_sum(std::span<const std::byte, 16> source,
                         std::span<const std::byte, 16> destination, std::uint8_t next_header,
                         std::uint32_t length) noexcept;

/// Where the header of a transport protocol has such a checksum; 0: it has none, or another kind,
/// as SCTP's.
constexpr std::size_t transport_checksum_at(std::uint8_t protocol) noexcept {
  switch (protocol) {
    case ip_protocol::kTcp:
      return 16;
    case ip_protocol::kUdp:
    case ip_protocol::kUdpLite:
    case ip_protocol::kDccp:
      return 6;
    case ip_protocol::kIcmp:
    case ip_protocol::kIcmpv6:
      return 2;
    default:
      return 0;
  }
}

/// The one's complement sum of 16-bit words that were added as plain numbers.
constexpr std::uint16_t folded_sum(std::uint32_t sum) noexcept {
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>((sum & 0xffff) + (sum >> 16));
}

/// What `checksum` becomes when the word `before` becomes `after` (RFC 1624 equation 3). Also for a
/// longer piece that starts at an even offset, with its internet_sum() before and after. A checksum
/// that was wrong stays wrong.
constexpr std::uint16_t updated_checksum(std::uint16_t checksum, std::uint16_t before,
                                         std::uint16_t after) noexcept {
  const std::uint32_t sum = std::uint32_t{static_cast<std::uint16_t>(~checksum)} +
                            static_cast<std::uint16_t>(~before) + after;
  return static_cast<std::uint16_t>(~folded_sum(sum));
}

}  // namespace millrace
