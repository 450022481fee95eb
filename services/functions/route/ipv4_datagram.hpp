// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/mac.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/layout/batch.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/wire_bytes.hpp"

/// Fields of a packet without VLAN tags. Its headers have been checked.

namespace millrace {

inline MacAddress destination_mac(const Batch& batch, std::uint16_t packet) noexcept {
  return wire_bytes::array_at<MacAddress>(batch.bytes(packet), 0);
}
inline MacAddress source_mac(const Batch& batch, std::uint16_t packet) noexcept {
  return wire_bytes::array_at<MacAddress>(batch.bytes(packet), 6);
}

namespace ipv4_datagram {

/// From the IPv4 header to the end by its total length.
inline std::span<std::byte> datagram_of(const Batch& batch, std::uint16_t packet) noexcept {
  const std::span<std::byte> ip = batch.bytes(packet).subspan(packet_walk::kEthernetBytes);
  return ip.first(std::min<std::size_t>(ip.size(), wire_bytes::u16(ip, ipv4_wire::kTotalLengthAt)));
}

// Of what datagram_of() returns.

inline std::size_t header_bytes(std::span<const std::byte> ip) noexcept {
  return (std::to_integer<std::size_t>(ip[0]) & 15) * 4;
}
inline std::uint32_t source_of(std::span<const std::byte> ip) noexcept {
  return wire_bytes::u32(ip, ipv4_wire::kSourceAt);
}
inline std::uint32_t destination_of(std::span<const std::byte> ip) noexcept {
  return wire_bytes::u32(ip, ipv4_wire::kDestinationAt);
}
inline bool is_fragment(std::span<const std::byte> ip) noexcept {
  constexpr std::uint16_t kPart = ipv4_wire::kMoreFragments | ipv4_wire::kFragmentOffset;
  return (wire_bytes::u16(ip, ipv4_wire::kFragmentAt) & kPart) != 0;
}

}  // namespace ipv4_datagram
}  // namespace millrace
