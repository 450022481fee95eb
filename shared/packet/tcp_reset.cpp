// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/packet/tcp_reset.hpp"

#include "shared/base/check.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/ip_pseudo_sum.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/put_headers.hpp"
#include "shared/packet/tcp_wire.hpp"

namespace millrace {
namespace {

using wire_bytes::u16, wire_bytes::u32, wire_bytes::u8;

using packet_walk::kTcp;
using tcp_wire::kFin, tcp_wire::kSyn, tcp_wire::kReset, tcp_wire::kAck;
using tcp_wire::kSequenceAt, tcp_wire::kAcknowledgmentAt, tcp_wire::kOffsetAt, tcp_wire::kFlagsAt;
constexpr std::size_t kTcpBytes = tcp_wire::kHeaderBytesMin;

/// `pseudo`: pseudo_sum() of the addresses and kTcpBytes.
void put_segment(std::span<std::byte> segment, const TcpReset& reset,
                 std::uint16_t pseudo) noexcept {
  put_tcp(segment,
          {.source = reset.source,
           .destination = reset.destination,
           .sequence = reset.sequence,
           .acknowledgment = reset.acknowledgment,
           .flags = static_cast<std::uint8_t>(reset.acknowledges ? kReset | kAck : kReset)});
  put_tcp_checksum(segment, pseudo);
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
  MILLRACE_CHECK(frame.size() == kTcpResetFrameBytes);
  put_ethernet(frame, from, to, ipv4_wire::kTypeIpv4);
  const std::span<std::byte> packet = frame.subspan(ipv4_wire::kEthernetBytes);
  put_ipv4(packet,
           {.fragment = ipv4_wire::kDontFragment,
            .protocol = kTcp,
            .source = source,
            .destination = destination},
           kTcpBytes);
  put_segment(frame.last(kTcpBytes), reset, pseudo_sum(source, destination, kTcp, kTcpBytes));
}

void write_tcp_reset(std::span<std::byte> frame, const MacAddress& from, const MacAddress& to,
                     const Ipv6Bytes& source, const Ipv6Bytes& destination,
                     const TcpReset& reset) noexcept {
  MILLRACE_CHECK(frame.size() == kTcpResetIpv6FrameBytes);
  put_ethernet(frame, from, to, ipv6_wire::kEtherType);
  const std::span<std::byte> packet = frame.subspan(ipv6_wire::kEthernetBytes);
  put_ipv6(packet, {.next_header = kTcp, .source = source, .destination = destination}, kTcpBytes);
  put_segment(frame.last(kTcpBytes), reset, ip_pseudo_sum(packet, kTcp, kTcpBytes));
}

}  // namespace millrace
