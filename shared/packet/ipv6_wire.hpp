// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/ip_protocol.hpp"
#include "shared/base/mac.hpp"
#include "shared/packet/ipv6_bytes.hpp"
#include "shared/packet/ipv6_checksum.hpp"
#include "shared/packet/wire_bytes.hpp"

/// Fields of untagged Ethernet frames with IPv6. All offsets lie within what they are used on: the
/// caller has checked.

namespace millrace::ipv6_wire {

using wire_bytes::array_at, wire_bytes::put_array;
using wire_bytes::put16, wire_bytes::put32, wire_bytes::put8;
using wire_bytes::u16, wire_bytes::u8;

inline constexpr std::size_t kEthernetBytes = 14;
inline constexpr std::size_t kHeaderBytes = 40;  // of IPv6
inline constexpr std::size_t kFrontBytes = kEthernetBytes + kHeaderBytes;
inline constexpr std::size_t kIcmpBytes = 8;
inline constexpr std::size_t kFragmentBytes = 8;  // of the fragment header
inline constexpr std::size_t kMtuMin = 1280;      // of all links (RFC 8200 5)
inline constexpr std::uint16_t kEtherType = 0x86dd;
using ip_protocol::kIcmpv6;
// Within the IPv6 header.
inline constexpr std::size_t kPayloadLengthAt = 4, kNextHeaderAt = 6, kHopLimitAt = 7,
                             kSourceAt = 8, kDestinationAt = 24;

/// The ICMPv6 message of an untagged frame, directly behind the fixed IPv6 header and as long as
/// that says, of at least kIcmpBytes and with a right checksum. Empty: the frame holds none.
inline std::span<const std::byte> icmpv6_message(std::span<const std::byte> frame) noexcept {
  if (frame.size() < kFrontBytes + kIcmpBytes || u16(frame, 12) != kEtherType) return {};
  const std::span<const std::byte> packet = frame.subspan(kEthernetBytes);
  const std::size_t bytes = u16(packet, kPayloadLengthAt);
  if (u8(packet, 0) >> 4 != 6 || u8(packet, kNextHeaderAt) != kIcmpv6 || bytes < kIcmpBytes ||
      bytes > packet.size() - kHeaderBytes) {
    return {};
  }
  const std::span<const std::byte> message = packet.subspan(kHeaderBytes, bytes);
  const auto source = array_at<Ipv6Bytes>(packet, kSourceAt);
  const auto destination = array_at<Ipv6Bytes>(packet, kDestinationAt);
  return ipv6_checksum(source, destination, kIcmpv6, message) == 0 ? message
                                                                   : std::span<const std::byte>{};
}

}  // namespace millrace::ipv6_wire
