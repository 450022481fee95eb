// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/firewall/link_traffic.hpp"

#include <cstdint>

#include "shared/base/ip_protocol.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

bool is_discovery(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  constexpr std::uint8_t kFirst = 133, kLast = 137;  // RFC 4861 4.1 to 4.5
  constexpr std::uint8_t kFromThisLink = 255;
  const std::size_t at = headers.transport_offset;
  if (headers.protocol != ip_protocol::kIcmpv6 || headers.fragment || at == 0) return false;
  if (at >= headers.payload_end || at >= frame.size()) return false;
  const auto type = std::to_integer<std::uint8_t>(frame[at]);
  const auto limit =
      std::to_integer<std::uint8_t>(frame[headers.network_offset + ipv6_wire::kHopLimitAt]);
  return type >= kFirst && type <= kLast && limit == kFromThisLink;
}

}  // namespace

bool is_of_the_link(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  const std::span<const std::byte> ip = frame.subspan(headers.network_offset);
  if (headers.ip_version == 4) {
    return ipv4_is_of_the_link(wire_bytes::u32(ip, ipv4_wire::kDestinationAt));
  }
  if (headers.ip_version != 6) return false;
  const std::uint32_t front = wire_bytes::u16(ip, ipv6_wire::kDestinationAt);
  return front >> 6 == 0xfe80 >> 6 || front == 0xff02 || is_discovery(frame, headers);
}

}  // namespace millrace
