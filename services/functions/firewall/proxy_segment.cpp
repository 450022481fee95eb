// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/firewall/proxy_segment.hpp"

#include <algorithm>

#include "services/functions/stream/tcp_data.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/packet/icmp.hpp"
#include "shared/packet/icmpv6.hpp"
#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/ip_pseudo_sum.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/tcp_wire.hpp"

namespace millrace {
namespace {

using ip_protocol::kTcp;
using wire_bytes::put16, wire_bytes::put32, wire_bytes::put8;
using wire_bytes::u16, wire_bytes::u32, wire_bytes::u8;

constexpr std::size_t kTcpBytes = tcp_wire::kHeaderBytesMin, kMacBytes = 6, kTagBytes = 4;
constexpr std::uint8_t kHops = 64;

std::span<const std::byte> ip_of(std::span<const std::byte> frame,
                                 const PacketHeaders& headers) noexcept {
  return frame.first(headers.payload_end).subspan(headers.network_offset);
}

void put_ipv4(std::span<std::byte> ip, std::span<const std::byte> old, ProxyWay way) noexcept {
  namespace wire = ipv4_wire;
  put16(ip, 0, 0x4500);
  put16(ip, wire::kTotalLengthAt, static_cast<std::uint16_t>(ip.size()));
  put16(ip, wire::kIdentificationAt, 0);
  put16(ip, wire::kFragmentAt, wire::kDontFragment);
  put8(ip, wire::kTtlAt, way == ProxyWay::kOn ? u8(old, wire::kTtlAt) : kHops);
  put8(ip, wire::kProtocolAt, kTcp);
  put16(ip, wire::kChecksumAt, 0);
  const bool back = way == ProxyWay::kBack;
  put32(ip, wire::kSourceAt, u32(old, back ? wire::kDestinationAt : wire::kSourceAt));
  put32(ip, wire::kDestinationAt, u32(old, back ? wire::kSourceAt : wire::kDestinationAt));
  put16(ip, wire::kChecksumAt, internet_checksum(ip.first(wire::kHeaderBytesMin)));
}

void put_ipv6(std::span<std::byte> ip, std::span<const std::byte> old, ProxyWay way) noexcept {
  namespace wire = ipv6_wire;
  const bool back = way == ProxyWay::kBack;
  put32(ip, 0, 0x60000000);
  put16(ip, wire::kPayloadLengthAt, static_cast<std::uint16_t>(ip.size() - wire::kHeaderBytes));
  put8(ip, wire::kNextHeaderAt, kTcp);
  put8(ip, wire::kHopLimitAt, back ? kHops : u8(old, wire::kHopLimitAt));
  const auto source = old.subspan(wire::kSourceAt, sizeof(Ipv6Bytes));
  const auto destination = old.subspan(wire::kDestinationAt, sizeof(Ipv6Bytes));
  std::ranges::copy(back ? destination : source, ip.subspan(wire::kSourceAt).begin());
  std::ranges::copy(back ? source : destination, ip.subspan(wire::kDestinationAt).begin());
}

/// All but the checksum. `ports`: of the segment that it is made from.
void put_segment(std::span<std::byte> to, std::span<const std::byte> ports, ProxyWay way,
                 const ProxySegment& segment) noexcept {
  const bool back = way == ProxyWay::kBack;
  put16(to, 0, u16(ports, back ? 2 : 0));
  put16(to, 2, u16(ports, back ? 0 : 2));
  put32(to, tcp_wire::kSequenceAt, segment.sequence);
  put32(to, tcp_wire::kAcknowledgmentAt, segment.acknowledgment);
  put8(to, tcp_wire::kOffsetAt, static_cast<std::uint8_t>(to.size() / 4 << 4));
  put8(to, tcp_wire::kFlagsAt, segment.flags);
  put16(to, tcp_wire::kWindowAt, segment.window);
  put32(to, tcp_wire::kChecksumAt, 0);
}

}  // namespace

std::optional<ProxySegment> read_proxy_segment(std::span<const std::byte> frame,
                                               const PacketHeaders& headers) noexcept {
  const bool is_tcp = headers.ip_version != 0 && headers.protocol == kTcp && !headers.fragment &&
                      headers.transport_offset != 0 && headers.payload_offset != 0;
  if (!is_tcp) return std::nullopt;
  const std::span<const std::byte> segment =
      frame.first(headers.payload_end).subspan(headers.transport_offset);
  return ProxySegment{.sequence = u32(segment, tcp_wire::kSequenceAt),
                      .acknowledgment = u32(segment, tcp_wire::kAcknowledgmentAt),
                      .window = u16(segment, tcp_wire::kWindowAt),
                      .flags = u8(segment, tcp_wire::kFlagsAt),
                      .options = read_tcp_options(segment)};
}

bool may_answer_segment(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  if (((u8(frame, 0) | u8(frame, kMacBytes)) & 1) != 0) return false;  // a group of the link
  const std::span<const std::byte> ip = ip_of(frame, headers);
  if (headers.ip_version == 4 ? !may_answer_ipv4(ip) : !may_answer_ipv6(ip, false)) return false;
  return has_good_tcp_checksum(frame, headers);
}

ProxyFrame make_proxy_frame(std::span<const std::byte> frame, const PacketHeaders& headers,
                            ProxyWay way, const ProxySegment& segment) noexcept {
  ProxyFrame out;
  std::array<std::byte, kTcpOptionBytesMax> options;
  const std::size_t option_bytes = put_tcp_options(segment.options, options);
  const std::size_t ip_bytes =
      headers.ip_version == 4 ? ipv4_wire::kHeaderBytesMin : ipv6_wire::kHeaderBytes;
  const std::size_t network_at = 2 * kMacBytes + headers.vlan_tags * kTagBytes + 2;
  const std::size_t transport_at = network_at + ip_bytes;
  out.size = transport_at + kTcpBytes + option_bytes;
  const std::span<std::byte> to = std::span(out.room).first(out.size);
  std::ranges::copy(frame.first(network_at), to.begin());
  if (way == ProxyWay::kBack) {
    std::ranges::swap_ranges(to.first(kMacBytes), to.subspan(kMacBytes, kMacBytes));
  }
  const std::span<const std::byte> old = frame.subspan(headers.network_offset);
  const std::span<std::byte> ip = to.subspan(network_at);
  headers.ip_version == 4 ? put_ipv4(ip, old, way) : put_ipv6(ip, old, way);
  const std::span<std::byte> tcp = to.subspan(transport_at);
  std::ranges::copy(std::span(options).first(option_bytes), tcp.subspan(kTcpBytes).begin());
  put_segment(tcp, frame.subspan(headers.transport_offset), way, segment);
  put16(tcp, tcp_wire::kChecksumAt, internet_checksum(tcp, ip_pseudo_sum(ip, kTcp, tcp.size())));
  return out;
}

void change_segment_u32(std::span<std::byte> segment, std::size_t at,
                        std::uint32_t value) noexcept {
  // Whole words of the sum, also where an option stands at an odd place.
  const std::size_t from = at & ~std::size_t{1};
  const std::span<std::byte> words = segment.subspan(from, at == from ? 4 : 6);
  const std::uint16_t before = internet_sum(words);
  put32(segment, at, value);
  put16(segment, tcp_wire::kChecksumAt,
        updated_checksum(u16(segment, tcp_wire::kChecksumAt), before, internet_sum(words)));
}

void change_segment_window(std::span<std::byte> segment, std::uint16_t window) noexcept {
  put16(segment, tcp_wire::kChecksumAt,
        updated_checksum(u16(segment, tcp_wire::kChecksumAt), u16(segment, tcp_wire::kWindowAt),
                         window));
  put16(segment, tcp_wire::kWindowAt, window);
}

}  // namespace millrace
