// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/quoted_headers.hpp"

#include <cstdint>

#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using ip_protocol::kIcmp, ip_protocol::kIcmpv6;
constexpr std::size_t kIcmpErrorBytes = 8;  // in front of the quote

}  // namespace

bool is_icmp_error(std::uint8_t protocol, std::uint8_t type) noexcept {
  if (protocol == kIcmpv6) return type >= 1 && type <= 4;
  return protocol == kIcmp && (type == 3 || type == 4 || type == 5 || type == 11 || type == 12);
}

std::optional<PacketHeaders> quoted_headers(std::span<const std::byte> frame,
                                            const PacketHeaders& headers) noexcept {
  const std::size_t quote = headers.transport_offset + kIcmpErrorBytes;
  if (headers.transport_offset == 0 || quote > headers.payload_end) return std::nullopt;
  if ((headers.protocol == kIcmp) != (headers.ip_version == 4)) return std::nullopt;
  if (!is_icmp_error(headers.protocol, wire_bytes::u8(frame, headers.transport_offset))) {
    return std::nullopt;
  }
  PacketHeaders quoted;
  const FrameBytes bytes{frame.data(), headers.payload_end};
  if (headers.ip_version == 4) {
    packet_walk::walk_ipv4(bytes, quote, quoted);
  } else {
    packet_walk::walk_ipv6(bytes, quote, quoted);
  }
  if (quoted.ip_version == 0) return std::nullopt;
  return quoted;
}

}  // namespace millrace
