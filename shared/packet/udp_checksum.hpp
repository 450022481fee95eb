// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/ip_protocol.hpp"
#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/ipv6_checksum.hpp"
#include "shared/packet/wire_bytes.hpp"

/// What a receiver of UDP looks at before it looks at the port. Nothing here reads outside the
/// given bytes.

namespace millrace {

namespace udp {

inline constexpr std::size_t kHeaderBytes = 8;

/// Header and data by the length in the header; empty: it does not fit in `message`, which goes
/// from the UDP header to the end of the packet.
inline std::span<const std::byte> datagram(std::span<const std::byte> message) noexcept {
  if (message.size() < kHeaderBytes) return {};
  const std::size_t bytes = wire_bytes::u16(message, 4);
  if (bytes < kHeaderBytes || bytes > message.size()) return {};
  return message.first(bytes);
}

}  // namespace udp

/// The datagram is whole, and its checksum right or absent (RFC 768). Addresses in host byte order.
inline bool is_good_udp(std::span<const std::byte> message, std::uint32_t source,
                        std::uint32_t destination) noexcept {
  const std::span<const std::byte> whole = udp::datagram(message);
  if (whole.empty()) return false;
  const std::uint16_t pseudo =
      pseudo_sum(source, destination, ip_protocol::kUdp, static_cast<std::uint16_t>(whole.size()));
  return wire_bytes::u16(whole, 6) == 0 || internet_checksum(whole, pseudo) == 0;
}

/// Likewise; over IPv6 the checksum must be there (RFC 8200 8.1).
inline bool is_good_udp(std::span<const std::byte> message, const Ipv6Bytes& source,
                        const Ipv6Bytes& destination) noexcept {
  const std::span<const std::byte> whole = udp::datagram(message);
  return !whole.empty() && wire_bytes::u16(whole, 6) != 0 &&
         ipv6_checksum(source, destination, ip_protocol::kUdp, whole) == 0;
}

}  // namespace millrace
