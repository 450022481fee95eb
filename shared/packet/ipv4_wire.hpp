// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/ip_protocol.hpp"
#include "shared/base/mac.hpp"
#include "shared/packet/wire_bytes.hpp"

/// Fields of untagged Ethernet frames with ARP or IPv4. All offsets lie within what they are used
/// on: the caller has checked.

namespace millrace::ipv4_wire {

using wire_bytes::array_at, wire_bytes::put_array;
using wire_bytes::put16, wire_bytes::put32, wire_bytes::put8;
using wire_bytes::u16, wire_bytes::u32, wire_bytes::u8;

inline constexpr std::size_t kEthernetBytes = 14, kEtherTypeAt = 12;
inline constexpr std::uint16_t kTypeIpv4 = 0x0800, kTypeArp = 0x0806;

inline constexpr std::size_t kHeaderBytesMin = 20, kHeaderBytesMax = 60;  // of IPv4
// Within the IPv4 header.
inline constexpr std::size_t kTypeOfServiceAt = 1, kTotalLengthAt = 2, kIdentificationAt = 4,
                             kFragmentAt = 6, kTtlAt = 8, kProtocolAt = 9, kChecksumAt = 10,
                             kSourceAt = 12, kDestinationAt = 16;
// Of the field at kFragmentAt; an offset counts units of 8 bytes.
inline constexpr std::uint16_t kDontFragment = 0x4000, kMoreFragments = 0x2000,
                               kFragmentOffset = 0x1fff;

inline constexpr std::size_t kIcmpBytes = 8, kIcmpChecksumAt = 2;
using ip_protocol::kIcmp;

inline MacAddress mac(std::span<const std::byte> bytes, std::size_t at) noexcept {
  return array_at<MacAddress>(bytes, at);
}

inline void put_mac(std::span<std::byte> bytes, std::size_t at,
                    const MacAddress& address) noexcept {
  put_array(bytes, at, address);
}

/// Bytes of the IPv4 header at the start of `packet`, 20 to 60, or 0 when there is no whole one.
inline std::size_t header_bytes(std::span<const std::byte> packet) noexcept {
  if (packet.size() < kHeaderBytesMin || u8(packet, 0) >> 4 != 4) return 0;
  const std::size_t bytes = std::size_t{u8(packet, 0)} % 16 * 4;
  return bytes < kHeaderBytesMin || bytes > packet.size() ? 0 : bytes;
}

}  // namespace millrace::ipv4_wire
