// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/packet/tcp_reset.hpp"

#include "shared/base/check.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/tcp_wire.hpp"

namespace millrace {
namespace {

using wire_bytes::put16, wire_bytes::put32, wire_bytes::put8;
using wire_bytes::u16, wire_bytes::u32, wire_bytes::u8;

using packet_walk::kTcp;
using tcp_wire::kFin, tcp_wire::kSyn, tcp_wire::kReset, tcp_wire::kAck;
using tcp_wire::kSequenceAt, tcp_wire::kAcknowledgmentAt, tcp_wire::kOffsetAt, tcp_wire::kFlagsAt,
    tcp_wire::kChecksumAt;
constexpr std::uint8_t kHops = 64;
constexpr std::size_t kTcpBytes = tcp_wire::kHeaderBytesMin;

/// All but the checksum.
void put_segment(std::span<std::byte> segment, const TcpReset& reset) noexcept {
  put16(segment, 0, reset.source);
  put16(segment, 2, reset.destination);
  put32(segment, kSequenceAt, reset.sequence);
  put32(segment, kAcknowledgmentAt, reset.acknowledgment);
  put8(segment, kOffsetAt, kTcpBytes / 4 << 4);
  put8(segment, kFlagsAt, reset.acknowledges ? kReset | kAck : kReset);
  put16(segment, tcp_wire::kWindowAt, 0);
  put32(segment, kChecksumAt, 0);
}

}  // namespace

std::optional<TcpReset> tcp_reset_for(std::span<const std::byte> segment,
                                      std::uint16_t pseudo) noexcept {
  if (segment.size() < kTcpBytes) return std::nullopt;
  const std::size_t header = std::size_t{u8(segment, kOffsetAt)} / 16 * 4;
  const std::uint8_t flags = u8(segment, kFlagsAt);
  if (header < kTcpBytes || header > segment.size() || (flags & kReset) != 0) return std::nullopt;
  if (internet_checksum(segment, pseudo) != 0) return std::nullopt;
  TcpReset reset{.source = u16(segment, 2), .destination = u16(segment, 0)};
  if ((flags & kAck) != 0) {
    reset.sequence = u32(segment, kAcknowledgmentAt);
    return reset;
  }
  const auto bytes = static_cast<std::uint32_t>(segment.size() - header);
  const std::uint32_t controls = ((flags & kSyn) != 0 ? 1u : 0u) + ((flags & kFin) != 0 ? 1u : 0u);
  reset.acknowledgment = u32(segment, kSequenceAt) + bytes + controls;
  reset.acknowledges = true;
  return reset;
}

void write_tcp_reset(std::span<std::byte> frame, const MacAddress& from, const MacAddress& to,
                     std::uint32_t source, std::uint32_t destination,
                     const TcpReset& reset) noexcept {
  namespace wire = ipv4_wire;
  MILLRACE_CHECK(frame.size() == kTcpResetFrameBytes);
  wire::put_mac(frame, 0, to);
  wire::put_mac(frame, 6, from);
  put16(frame, wire::kEtherTypeAt, wire::kTypeIpv4);
  const std::span<std::byte> header = frame.subspan(wire::kEthernetBytes, wire::kHeaderBytesMin);
  put16(header, 0, 0x4500);
  put16(header, wire::kTotalLengthAt, wire::kHeaderBytesMin + kTcpBytes);
  put32(header, 4, wire::kDontFragment);
  put8(header, wire::kTtlAt, kHops);
  put8(header, wire::kProtocolAt, kTcp);
  put16(header, wire::kChecksumAt, 0);
  put32(header, wire::kSourceAt, source);
  put32(header, wire::kDestinationAt, destination);
  put16(header, wire::kChecksumAt, internet_checksum(header));
  const std::span<std::byte> segment = frame.last(kTcpBytes);
  put_segment(segment, reset);
  put16(segment, kChecksumAt,
        internet_checksum(segment, pseudo_sum(source, destination, kTcp, kTcpBytes)));
}

void write_tcp_reset(std::span<std::byte> frame, const MacAddress& from, const MacAddress& to,
                     const Ipv6Bytes& source, const Ipv6Bytes& destination,
                     const TcpReset& reset) noexcept {
  MILLRACE_CHECK(frame.size() == kTcpResetIpv6FrameBytes);
  ipv6_wire::put_headers(frame, from, to, source, destination, kTcpBytes, kHops);
  put8(frame, ipv6_wire::kEthernetBytes + 6, kTcp);
  const std::span<std::byte> segment = frame.last(kTcpBytes);
  put_segment(segment, reset);
  put16(segment, kChecksumAt, ipv6_checksum(source, destination, kTcp, segment));
}

}  // namespace millrace
