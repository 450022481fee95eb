// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/ipv6_plain.hpp"

#include <cstring>
#include <span>

#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using ip_protocol::kDestinationOptions, ip_protocol::kFragment, ip_protocol::kHopByHop;
using ip_protocol::kRouting;
using ipv6_wire::kNextHeaderAt, ipv6_wire::kPayloadLengthAt;
using packet_walk::kEthernetBytes;
using packet_walk::kIpv6Bytes;

/// Up to `end`, the upper layer.
bool says_nothing_more(std::span<const std::byte> ip, std::size_t end) noexcept {
  const FrameBytes bytes{ip.data(), ip.size()};
  std::uint8_t type = wire_bytes::u8(ip, kNextHeaderAt);
  for (std::size_t at = kIpv6Bytes; at < end;) {
    const bool known =
        type == kHopByHop || type == kRouting || type == kFragment || type == kDestinationOptions;
    if (!known) return false;
    if (type == kFragment && (wire_bytes::u16(ip, at + 2) & 0xfff9) != 0) return false;
    const std::uint8_t next = wire_bytes::u8(ip, at);
    at += packet_walk::extension_bytes(bytes, type, at);
    type = next;
  }
  return true;
}

}  // namespace

bool take_extensions_out(const Batch& batch, std::uint16_t packet,
                         const Ipv6Extensions& chain) noexcept {
  const std::span<const std::byte> before = batch.bytes(packet).subspan(kEthernetBytes);
  if (chain.end != Ipv6ChainEnd::kUpper || chain.upper_offset <= kIpv6Bytes) return false;
  if (!says_nothing_more(before, chain.upper_offset)) return false;
  const std::size_t bytes = chain.upper_offset - kIpv6Bytes;
  std::byte* const frame = batch.data(packet);
  std::memmove(frame + bytes, frame, kEthernetBytes + kIpv6Bytes);
  batch.grow_front(packet, -static_cast<std::int32_t>(bytes));  // there is as much of it
  const std::span<std::byte> ip = batch.bytes(packet).subspan(kEthernetBytes);
  const std::size_t payload = wire_bytes::u16(ip, kPayloadLengthAt) - bytes;
  wire_bytes::put16(ip, kPayloadLengthAt, static_cast<std::uint16_t>(payload));
  wire_bytes::put8(ip, kNextHeaderAt, chain.upper_protocol);
  return true;
}

}  // namespace millrace
