// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow_sort.hpp"

#include <algorithm>
#include <optional>

#include "shared/base/ip_protocol.hpp"
#include "shared/packet/quoted_headers.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using Kind = SortedPacket::Kind;

using ip_protocol::kIcmp, ip_protocol::kIcmpv6, ip_protocol::kUdp, ip_protocol::kUdpLite;

/// Discovery of neighbours and of listeners to groups, which no router passes on (RFC 4861, 2710,
/// 3810).
bool is_link_local_icmpv6(std::uint8_t type) noexcept {
  return (type >= 130 && type <= 137) || type == 143 || (type >= 151 && type <= 153);
}

bool is_icmp_answer(std::uint8_t protocol, std::uint8_t type) noexcept {
  if (protocol == kIcmpv6) return type == 129;
  return protocol == kIcmp && (type == 0 || type == 14 || type == 16 || type == 18);
}

std::uint32_t ip_bytes_of(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  const std::size_t at = headers.network_offset;
  if (headers.ip_version == 4) return wire_bytes::u16(frame, at + 2);
  return 40u + wire_bytes::u16(frame, at + 4);
}

/// An error comes to the sender of what it quotes.
bool comes_to_sender(std::span<const std::byte> frame, const PacketHeaders& headers,
                     const FlowTuple& quoted) noexcept {
  const std::size_t bytes = headers.ip_version == 4 ? 4 : 16;
  const std::size_t at = headers.network_offset + (headers.ip_version == 4 ? 16u : 24u);
  return std::ranges::equal(frame.subspan(at, bytes),
                            std::as_bytes(std::span(quoted.source)).first(bytes));
}

void sort_icmp(std::span<const std::byte> frame, SortedPacket& packet) noexcept {
  const PacketHeaders& headers = packet.headers;
  if (headers.transport_offset >= headers.payload_end) {
    packet.kind = Kind::kInvalid;
    return;
  }
  const std::uint8_t type = wire_bytes::u8(frame, headers.transport_offset);
  if (is_icmp_error(headers.protocol, type)) {
    packet.kind = Kind::kInvalid;
    const std::optional<PacketHeaders> quoted = quoted_headers(frame, headers);
    if (!quoted) return;
    const std::optional<FlowTuple> tuple = flow_tuple_of(frame, *quoted);
    if (!tuple || !comes_to_sender(frame, headers, *tuple)) return;
    packet.tuple = reversed(*tuple);
    packet.kind = Kind::kError;
    return;
  }
  if (headers.protocol == kIcmpv6 && is_link_local_icmpv6(type)) return;
  const std::optional<FlowTuple> tuple = flow_tuple_of(frame, headers);
  packet.kind = Kind::kInvalid;
  if (!tuple) return;
  packet.tuple = *tuple;
  packet.kind = is_icmp_answer(headers.protocol, type) ? Kind::kAnswer : Kind::kFlow;
}

/// The length of UDP, or what the checksum of UDP-Lite covers (RFC 3828, 3.1; 0: all), lies between
/// the header and the end of the packet; of the first fragment it is that of all fragments.
bool has_true_length(std::span<const std::byte> frame, const SortedPacket& packet) noexcept {
  constexpr std::uint32_t kLengthAt = 4, kHeaderBytes = 8;
  const PacketHeaders& headers = packet.headers;
  if (headers.protocol != kUdp && headers.protocol != kUdpLite) return true;
  if (headers.transport_offset + kHeaderBytes > headers.payload_end) return false;
  const std::uint32_t length = wire_bytes::u16(frame, headers.transport_offset + kLengthAt);
  if (headers.protocol == kUdpLite && length == 0) return true;
  const std::uint32_t in_front = headers.transport_offset - headers.network_offset;
  return length >= kHeaderBytes && (headers.fragment || length + in_front <= packet.ip_bytes);
}

}  // namespace

SortedPacket sort_packet(std::span<const std::byte> frame) noexcept {
  SortedPacket packet;
  packet.headers = parse_headers(frame);
  if (packet.headers.ip_version == 0) return packet;
  packet.ip_bytes = ip_bytes_of(frame, packet.headers);
  if (packet.headers.fragment && !packet.headers.first_fragment) {
    packet.kind = Kind::kRest;
    return packet;
  }
  if (packet.headers.transport_offset == 0) {
    packet.kind = Kind::kInvalid;
    return packet;
  }
  if (packet.headers.protocol == kIcmp || packet.headers.protocol == kIcmpv6) {
    sort_icmp(frame, packet);
    return packet;
  }
  const std::optional<FlowTuple> tuple = flow_tuple_of(frame, packet.headers);
  packet.kind = tuple && has_true_length(frame, packet) ? Kind::kFlow : Kind::kInvalid;
  if (tuple) packet.tuple = *tuple;
  return packet;
}

}  // namespace millrace
