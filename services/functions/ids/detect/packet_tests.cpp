// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/packet_tests.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "services/functions/ids/detect/rule_routes.hpp"
#include "shared/base/ip_protocol.hpp"

namespace millrace {
namespace {

using Field = std::optional<std::uint32_t>;

// RFC 791, RFC 8200: places in the headers of IP.
constexpr std::size_t kTosAt = 1, kIpIdAt = 4, kFragmentBitsAt = 6, kTtlAt = 8, kHopLimitAt = 7;
constexpr std::uint32_t kFragmentBitsMask = 0xe000;
// RFC 792, RFC 4443.
constexpr std::size_t kIcmpTypeAt = 0, kIcmpCodeAt = 1, kIcmpIdAt = 4, kIcmpSequenceAt = 6;
constexpr std::size_t kIcmpHeaderBytes = 8;
// RFC 768.
constexpr std::size_t kUdpLengthAt = 4, kUdpHeaderBytes = 8;
// RFC 9260.
constexpr std::size_t kSctpHeaderBytes = 12;
// RFC 9293.
constexpr std::size_t kSequenceAt = 4, kAcknowledgmentAt = 8, kDataOffsetAt = 12, kFlagsAt = 13,
                      kWindowAt = 14, kTcpOptionsAt = 20;
constexpr std::uint32_t kOptionEnd = 0, kOptionNone = 1, kOptionMss = 2, kOptionMssBytes = 4;

/// `bytes` bytes at `at`, the highest first; nothing when they are not all there.
Field number_at(std::span<const std::byte> frame, std::size_t at, std::size_t bytes) noexcept {
  if (at > frame.size() || bytes > frame.size() - at) return std::nullopt;
  std::uint32_t number = 0;
  for (const std::byte byte : frame.subspan(at, bytes)) {
    number = number << 8 | std::to_integer<std::uint32_t>(byte);
  }
  return number;
}

Field ipv4_field(const PacketView& packet, std::size_t at, std::size_t bytes) noexcept {
  if (packet.headers.ip_version != 4) return std::nullopt;
  return number_at(packet.frame, packet.headers.network_offset + at, bytes);
}

Field ttl_of(const PacketView& packet) noexcept {
  const bool is_ipv6 = packet.headers.ip_version == 6;
  return number_at(packet.frame, packet.headers.network_offset + (is_ipv6 ? kHopLimitAt : kTtlAt),
                   1);
}

/// Of IPv6 the traffic class, which lies across two bytes.
Field tos_of(const PacketView& packet) noexcept {
  if (packet.headers.ip_version == 4) return ipv4_field(packet, kTosAt, 1);
  const Field word = number_at(packet.frame, packet.headers.network_offset, 2);
  return word ? Field(*word >> 4 & 0xff) : std::nullopt;
}

Field transport_field(const PacketView& packet, bool is_it, std::size_t at,
                      std::size_t bytes) noexcept {
  if (!is_it || packet.headers.transport_offset == 0) return std::nullopt;
  return number_at(packet.frame, packet.headers.transport_offset + at, bytes);
}

Field tcp_field(const PacketView& packet, std::size_t at, std::size_t bytes) noexcept {
  return transport_field(packet, packet.headers.protocol == ip_protocol::kTcp, at, bytes);
}

Field icmp_field(const PacketView& packet, std::size_t at, std::size_t bytes) noexcept {
  return transport_field(packet, ip_protocol::is_icmp(packet.headers.protocol), at, bytes);
}

/// Questions and answers have an identifier and a number: echo, timestamp, information, address
/// mask; of ICMPv6 echo.
bool is_icmp_query(const PacketView& packet) noexcept {
  const Field type = icmp_field(packet, kIcmpTypeAt, 1);
  if (!type) return false;
  if (packet.headers.protocol == ip_protocol::kIcmpv6) return *type == 128 || *type == 129;
  return *type == 0 || *type == 8 || (*type >= 13 && *type <= 18);
}

Field icmp_query_field(const PacketView& packet, std::size_t at) noexcept {
  return is_icmp_query(packet) ? icmp_field(packet, at, 2) : std::nullopt;
}

Field tcp_mss_of(const PacketView& packet) noexcept {
  const Field words = tcp_field(packet, kDataOffsetAt, 1);
  if (!words) return std::nullopt;
  const std::size_t end = std::size_t{*words >> 4} * 4;
  for (std::size_t at = kTcpOptionsAt; at < end;) {
    const Field kind = tcp_field(packet, at, 1);
    if (!kind || *kind == kOptionEnd) return std::nullopt;
    if (*kind == kOptionNone) {
      ++at;
      continue;
    }
    const Field bytes = tcp_field(packet, at + 1, 1);
    if (!bytes || *bytes < 2 || at + *bytes > end) return std::nullopt;
    if (*kind == kOptionMss && *bytes == kOptionMssBytes) return tcp_field(packet, at + 2, 2);
    at += *bytes;
  }
  return std::nullopt;
}

Field field_of(const PacketView& packet, HeaderField field) noexcept {
  switch (field) {
    case HeaderField::kDataSize:
      return static_cast<std::uint32_t>(packet.payload.size());
    case HeaderField::kTtl:
      return ttl_of(packet);
    case HeaderField::kTos:
      return tos_of(packet);
    case HeaderField::kIpId:
      return ipv4_field(packet, kIpIdAt, 2);
    case HeaderField::kIpProtocol:
      return packet.headers.protocol;
    case HeaderField::kFragmentOffset:
      return packet.headers.fragment_offset;
    case HeaderField::kIcmpType:
      return icmp_field(packet, kIcmpTypeAt, 1);
    case HeaderField::kIcmpCode:
      return icmp_field(packet, kIcmpCodeAt, 1);
    case HeaderField::kIcmpId:
      return icmp_query_field(packet, kIcmpIdAt);
    case HeaderField::kIcmpSequence:
      return icmp_query_field(packet, kIcmpSequenceAt);
    case HeaderField::kTcpSequence:
      return tcp_field(packet, kSequenceAt, 4);
    case HeaderField::kTcpAcknowledgment:
      return tcp_field(packet, kAcknowledgmentAt, 4);
    case HeaderField::kTcpWindow:
      return tcp_field(packet, kWindowAt, 2);
    case HeaderField::kTcpMss:
      return tcp_mss_of(packet);
    case HeaderField::kCount:
      break;
  }
  return std::nullopt;
}

bool bits_pass(const std::optional<BitsTest>& test, Field field) noexcept {
  return !test || (field && test->passes(static_cast<std::uint16_t>(*field)));
}

bool protocol_fits(RuleProtocol protocol, const PacketHeaders& headers) noexcept {
  if (headers.ip_version == 0) return false;
  switch (protocol) {
    case RuleProtocol::kIp:
      return true;
    case RuleProtocol::kUdp:
      return headers.protocol == ip_protocol::kUdp;
    case RuleProtocol::kIcmp:
      return ip_protocol::is_icmp(headers.protocol);
    case RuleProtocol::kSctp:
      return headers.protocol == ip_protocol::kSctp;
    case RuleProtocol::kDns:
      return headers.protocol == ip_protocol::kUdp || headers.protocol == ip_protocol::kTcp;
    default:
      return headers.protocol == ip_protocol::kTcp;
  }
}

bool direction_fits(const FlowTest& flow, const PacketView& packet) noexcept {
  if (flow.to_server && !(packet.has_flow && packet.direction == 0)) return false;
  return !flow.to_client || (packet.has_flow && packet.direction == 1);
}

bool flow_fits(const FlowTest& flow, const PacketView& packet) noexcept {
  if (!direction_fits(flow, packet)) return false;
  const bool established = packet.has_flow && packet.is_established;
  if ((flow.established && !established) || (flow.not_established && established)) return false;
  if (flow.only_fragments && !packet.headers.fragment) return false;
  return !(flow.no_fragments && packet.headers.fragment);
}

/// Ports and addresses of one way of the rule.
struct Ends {
  const PortSet &source_ports, &destination_ports;
  const AddressSet &source, &destination;
};

bool has_ports(std::uint8_t protocol) noexcept {
  using ip_protocol::kTcp, ip_protocol::kUdp, ip_protocol::kSctp, ip_protocol::kUdpLite,
      ip_protocol::kDccp;
  return protocol == kTcp || protocol == kUdp || protocol == kSctp || protocol == kUdpLite ||
         protocol == kDccp;
}

bool port_fits(const PortSet& ports, std::uint16_t port, const PacketView& packet) noexcept {
  if (ports.is_any) return true;
  if (packet.headers.transport_offset == 0) return false;  // a later fragment does not tell
  return ports.contains(has_ports(packet.headers.protocol) ? port : std::uint16_t{0});
}

bool ends_fit(const Ends& ends, const PacketView& packet) noexcept {
  const FlowTuple& tuple = packet.tuple;
  return port_fits(ends.destination_ports, tuple.destination_port, packet) &&
         port_fits(ends.source_ports, tuple.source_port, packet) &&
         ends.source.contains(packet.headers.ip_version, tuple.source) &&
         ends.destination.contains(packet.headers.ip_version, tuple.destination);
}

/// Receivers take as much as UDP says that there is (RFC 768); 0 is of jumbograms (RFC 2675).
std::size_t udp_end(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept {
  const std::size_t at = headers.transport_offset;
  const std::uint32_t bytes = number_at(frame, at + kUdpLengthAt, 2).value_or(0);
  return bytes < kUdpHeaderBytes ? SIZE_MAX : at + bytes;
}

bool ends_fit(const Signature& signature, const PacketView& packet) noexcept {
  const Ends ends{signature.source_ports, signature.destination_ports, signature.source,
                  signature.destination};
  if (ends_fit(ends, packet)) return true;
  if (!signature.both_ways) return false;
  const Ends other_way{signature.destination_ports, signature.source_ports, signature.destination,
                       signature.source};
  return ends_fit(other_way, packet);
}

}  // namespace

std::span<const std::byte> rule_payload(std::span<const std::byte> frame,
                                        const PacketHeaders& headers) noexcept {
  if (headers.payload_offset == 0) return {};
  std::size_t end = std::min<std::size_t>(headers.payload_end, frame.size());
  std::size_t begin = headers.payload_offset;
  if (headers.transport_offset != 0) {
    if (ip_protocol::is_icmp(headers.protocol)) begin += kIcmpHeaderBytes;
    if (headers.protocol == ip_protocol::kSctp) begin += kSctpHeaderBytes;
    if (headers.protocol == ip_protocol::kUdp) end = std::min(end, udp_end(frame, headers));
  }
  return begin < end ? frame.subspan(begin, end - begin) : std::span<const std::byte>{};
}

PacketView turned_to(const PacketView& packet, std::uint8_t direction) noexcept {
  PacketView view = packet;
  if (packet.direction == direction) return view;
  view.direction = direction;
  view.tuple = reversed(packet.tuple);
  view.history = nullptr;
  view.rules = nullptr;
  view.payload = {};
  return view;
}

bool head_fits(const Signature& signature, const PacketView& packet) noexcept {
  if (!protocol_fits(signature.protocol, packet.headers)) return false;
  return flow_fits(signature.flow, packet) && ends_fit(signature, packet);
}

AppFit app_fits(const Signature& signature, AppProtocol app) noexcept {
  const bool wants = asks_app(signature.protocol);
  const bool asks = wants || !signature.not_protocols.empty();
  const bool is_named = std::ranges::any_of(
      signature.not_protocols, [&](RuleProtocol protocol) { return is_app(protocol, app); });
  if (!asks) return AppFit::kYes;
  if (app != AppProtocol::kUnknown && !is_named && (!wants || is_app(signature.protocol, app))) {
    return AppFit::kYes;
  }
  return app == AppProtocol::kUnknown ? AppFit::kNotYet : AppFit::kNo;
}

bool headers_pass(const PacketTests& tests, const PacketView& packet) noexcept {
  if (tests.same_address && packet.tuple.source != packet.tuple.destination) return false;
  if (tests.tcp_flags && !bits_pass(tests.tcp_flags, tcp_field(packet, kFlagsAt, 1))) return false;
  if (tests.fragment_bits) {
    const Field field = ipv4_field(packet, kFragmentBitsAt, 2);
    const Field bits = field ? Field(*field & kFragmentBitsMask) : std::nullopt;
    if (!bits_pass(tests.fragment_bits, bits)) return false;
  }
  return std::ranges::all_of(tests.headers, [&](const HeaderTest& test) {
    const Field field = field_of(packet, test.field);
    return field && test.number.passes(*field);
  });
}

}  // namespace millrace
