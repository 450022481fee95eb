// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/ipv6_bytes.hpp"

namespace millrace {

/// The checksum of an upper-layer packet over the pseudo header of RFC 8200 8.1, for a checksum
/// field that holds 0. Over a packet with its checksum in place the result is 0 if that is right.
/// `front` and `rest`: the packet in two pieces, `front` of even length.
inline std::uint16_t ipv6_checksum(const Ipv6Bytes& source, const Ipv6Bytes& destination,
                                   std::uint8_t next_header, std::span<const std::byte> front,
                                   std::span<const std::byte> rest = {}) noexcept {
  const std::uint16_t pseudo =
      pseudo_sum(std::as_bytes(std::span(source)), std::as_bytes(std::span(destination)),
                 next_header, static_cast<std::uint32_t>(front.size() + rest.size()));
  return internet_checksum(rest, internet_sum(front, pseudo));
}

}  // namespace millrace
