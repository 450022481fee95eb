// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/flow/tcp_segment.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/tcp_wire.hpp"

/// The usual packet of a flow: Ethernet without tags, IPv4 without options, whole and no fragment,
/// with a true header of UDP or TCP. What other functions find out of any packet step by step is at
/// known places in it, so functions behind `flow` need not walk over its headers again.

namespace millrace::usual_packet {

inline constexpr std::size_t kNetworkAt = packet_walk::kEthernetBytes;
inline constexpr std::size_t kTransportAt = kNetworkAt + packet_walk::kIpv4BytesMin;
inline constexpr std::size_t kDestinationAt = kNetworkAt + 16;
inline constexpr std::size_t kBytesMin = kTransportAt + packet_walk::kUdpBytes;

inline std::uint16_t u16(const std::byte* at) noexcept {
  std::uint16_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap16(value);
}
inline std::uint32_t u32(const std::byte* at) noexcept {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap32(value);
}

/// From the IP header on, as it says. `frame`: here and below, of a usual packet.
inline std::uint32_t ip_bytes(const std::byte* frame) noexcept {
  return u16(frame + kNetworkAt + 2);
}
inline std::size_t tcp_header_bytes(const std::byte* frame) noexcept {
  return std::to_integer<std::size_t>(frame[kTransportAt + tcp_wire::kOffsetAt]) / 16 * 4;
}

/// True for a usual packet: `tuple` becomes what sort_packet() says of it, too. Else it is as it
/// was.
inline bool find_tuple(std::span<const std::byte> bytes, FlowTuple& tuple) noexcept {
  static_assert(std::endian::native == std::endian::little);
  if (bytes.size() < kBytesMin) return false;
  const std::byte* const frame = bytes.data();
  std::uint32_t type = 0;  // and the first byte of IP, and its service
  std::memcpy(&type, frame + kNetworkAt - 2, sizeof type);
  constexpr std::uint16_t kFragmentBits = 0x3fff;
  const bool is_plain =
      (type & 0xff'ffff) == 0x45'0008 && (u16(frame + kNetworkAt + 6) & kFragmentBits) == 0;
  const std::size_t whole = ip_bytes(frame);
  if (!is_plain || kNetworkAt + whole > bytes.size()) return false;
  const auto protocol = std::to_integer<std::uint8_t>(frame[kNetworkAt + 9]);
  std::size_t least = 0, announced = 0;
  if (protocol == ip_protocol::kUdp) {
    least = packet_walk::kUdpBytes;
    announced = u16(frame + kTransportAt + 4);
  } else if (protocol == ip_protocol::kTcp) {
    least = packet_walk::kTcpBytesMin;
    if (whole < packet_walk::kIpv4BytesMin + least) return false;
    announced = tcp_header_bytes(frame);
  } else {
    return false;
  }
  if (announced < least || packet_walk::kIpv4BytesMin + announced > whole) return false;
  tuple = {.source_port = u16(frame + kTransportAt),
           .destination_port = u16(frame + kTransportAt + 2),
           .protocol = protocol,
           .version = 4};
  std::memcpy(tuple.source.data(), frame + kNetworkAt + 12, 4);
  std::memcpy(tuple.destination.data(), frame + kNetworkAt + 16, 4);
  return true;
}

/// What parse_headers() says.
inline PacketHeaders headers(const std::byte* frame) noexcept {
  PacketHeaders headers;
  headers.ip_version = 4;
  headers.protocol = std::to_integer<std::uint8_t>(frame[kNetworkAt + 9]);
  headers.ether_type = packet_walk::kTypeIpv4;
  headers.network_offset = kNetworkAt;
  headers.transport_offset = kTransportAt;
  const std::size_t transport_bytes =
      headers.protocol == ip_protocol::kTcp ? tcp_header_bytes(frame) : packet_walk::kUdpBytes;
  headers.payload_offset = static_cast<std::uint16_t>(kTransportAt + transport_bytes);
  headers.payload_end = static_cast<std::uint16_t>(kNetworkAt + ip_bytes(frame));
  return headers;
}

/// Of TCP: true for a segment with ACK, and of SYN, FIN, RST and URG none, without options but
/// timestamps as all hosts write them (RFC 7323, appendix A): `segment` becomes what
/// parse_tcp_segment() says of it. Else it is as it was.
inline bool find_ack(const std::byte* frame, TcpSegment& segment) noexcept {
  using tcp_wire::kAck, tcp_wire::kAcknowledgmentAt, tcp_wire::kFin, tcp_wire::kFlagsAt,
      tcp_wire::kHeaderBytesMin, tcp_wire::kReset, tcp_wire::kSequenceAt, tcp_wire::kSyn,
      tcp_wire::kUrgent, tcp_wire::kWindowAt;
  const std::byte* const tcp = frame + kTransportAt;
  const auto flags = std::to_integer<std::uint8_t>(tcp[kFlagsAt]);
  if ((flags & (kFin | kSyn | kReset | kAck | kUrgent)) != kAck) return false;
  const std::size_t header = tcp_header_bytes(frame);
  constexpr std::uint32_t kTimestamps = 0x0101'080a;
  if (header != kHeaderBytesMin &&
      (header != kHeaderBytesMin + 12 || u32(tcp + kHeaderBytesMin) != kTimestamps)) {
    return false;
  }
  const std::size_t bytes = ip_bytes(frame) - packet_walk::kIpv4BytesMin - header;
  segment = {.sequence = u32(tcp + kSequenceAt),
             .acknowledgment = u32(tcp + kAcknowledgmentAt),
             .window = u16(tcp + kWindowAt),
             .kind = TcpKind::kAck,
             .acknowledges = true};
  segment.end = segment.sequence + static_cast<std::uint32_t>(bytes);
  segment.sack = segment.acknowledgment;
  return true;
}

}  // namespace millrace::usual_packet
