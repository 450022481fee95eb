// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/packet/ipv6_bytes.hpp"

namespace millrace {

namespace ipv6_wire {

/// `sum` and the 16-bit words of `bytes`, in network order. An odd last byte is the upper half of a
/// word, so only the last of several pieces may be odd. At most 2^32 bytes altogether.
constexpr std::uint64_t add_words(std::uint64_t sum, std::span<const std::byte> bytes) noexcept {
  const std::size_t even = bytes.size() / 2 * 2;
  for (std::size_t at = 0; at < even; at += 2) {
    sum += std::to_integer<std::uint64_t>(bytes[at]) << 8 |
           std::to_integer<std::uint64_t>(bytes[at + 1]);
  }
  if (even < bytes.size()) sum += std::to_integer<std::uint64_t>(bytes[even]) << 8;
  return sum;
}

}  // namespace ipv6_wire

/// The checksum of an upper-layer packet over the pseudo header of RFC 8200 8.1, for a checksum
/// field that holds 0. Over a packet with its checksum in place the result is 0 if that is right.
/// `front` and `rest`: the packet in two pieces, `front` of even length.
inline std::uint16_t ipv6_checksum(const Ipv6Bytes& source, const Ipv6Bytes& destination,
                                   std::uint8_t next_header, std::span<const std::byte> front,
                                   std::span<const std::byte> rest = {}) noexcept {
  const std::uint64_t length = front.size() + rest.size();
  std::uint64_t sum = (length >> 16) + (length & 0xffff) + next_header;
  sum = ipv6_wire::add_words(sum, std::as_bytes(std::span(source)));
  sum = ipv6_wire::add_words(sum, std::as_bytes(std::span(destination)));
  sum = ipv6_wire::add_words(ipv6_wire::add_words(sum, front), rest);
  while (sum > 0xffff) sum = (sum >> 16) + (sum & 0xffff);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace millrace
