// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/ipv6_wire.hpp"

namespace millrace {

/// pseudo_sum() of the addresses in the header of IPv4 or IPv6 that begins `ip`, whose fixed part
/// is whole. `bytes`: of transport header and data, 0..65535.
inline std::uint16_t ip_pseudo_sum(std::span<const std::byte> ip, std::uint8_t protocol,
                                   std::size_t bytes) noexcept {
  if (wire_bytes::u8(ip, 0) >> 4 == 4) {
    return pseudo_sum(wire_bytes::u32(ip, ipv4_wire::kSourceAt),
                      wire_bytes::u32(ip, ipv4_wire::kDestinationAt), protocol,
                      static_cast<std::uint16_t>(bytes));
  }
  return pseudo_sum(ip.subspan<ipv6_wire::kSourceAt, 16>(),
                    ip.subspan<ipv6_wire::kDestinationAt, 16>(), protocol,
                    static_cast<std::uint32_t>(bytes));
}

}  // namespace millrace
