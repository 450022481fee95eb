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
#include "shared/packet/put_headers.hpp"
#include "shared/packet/tcp_wire.hpp"

namespace millrace {
namespace {

using ip_protocol::kTcp;
using wire_bytes::put16, wire_bytes::put32;
using wire_bytes::u16, wire_bytes::u32, wire_bytes::u8;

constexpr std::size_t kTcpBytes = tcp_wire::kHeaderBytesMin, kMacBytes = 6, kTagBytes = 4;

std::span<const std::byte> ip_of(std::span<const std::byte> frame,
                                 const PacketHeaders& headers) noexcept {
  return frame.first(headers.payload_end).subspan(headers.network_offset);
}

void put_ip(std::span<std::byte> ip, std::span<const std::byte> old, ProxyWay way) noexcept {
  const bool back = way == ProxyWay::kBack;
  if (u8(old, 0) >> 4 == 4) {
    namespace wire = ipv4_wire;
    return put_ipv4(ip,
                    {.fragment = wire::kDontFragment,
                     .ttl = back ? kHopsDefault : u8(old, wire::kTtlAt),
                     .protocol = kTcp,
                     .source = u32(old, back ? wire::kDestinationAt : wire::kSourceAt),
                     .destination = u32(old, back ? wire::kSourceAt : wire::kDestinationAt)},
                    ip.size() - wire::kHeaderBytesMin);
  }
  namespace wire = ipv6_wire;
  const auto source = wire::array_at<Ipv6Bytes>(old, wire::kSourceAt);
  const auto destination = wire::array_at<Ipv6Bytes>(old, wire::kDestinationAt);
  put_ipv6(ip,
           {.next_header = kTcp,
            .hop_limit = back ? kHopsDefault : u8(old, wire::kHopLimitAt),
            .source = back ? destination : source,
            .destination = back ? source : destination},
           ip.size() - wire::kHeaderBytes);
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
  put_ip(ip, old, way);
  const std::span<std::byte> tcp = to.subspan(transport_at);
  std::ranges::copy(std::span(options).first(option_bytes), tcp.subspan(kTcpBytes).begin());
  const std::span<const std::byte> ports = frame.subspan(headers.transport_offset);
  const std::uint16_t from_port = u16(ports, tcp_wire::kSourcePortAt);
  const std::uint16_t to_port = u16(ports, tcp_wire::kDestinationPortAt);
  const bool back = way == ProxyWay::kBack;
  put_tcp(tcp, {.source = back ? to_port : from_port,
                .destination = back ? from_port : to_port,
                .sequence = segment.sequence,
                .acknowledgment = segment.acknowledgment,
                .flags = segment.flags,
                .window = segment.window});
  put_tcp_checksum(tcp, ip_pseudo_sum(ip, kTcp, tcp.size()));
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
