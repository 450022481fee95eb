// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/mac.hpp"
#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/ipv6_bytes.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/tcp_wire.hpp"

/// The writers of headers of packets that Millrace makes.
///
///     put_ethernet(frame, from, to, ipv4_wire::kTypeIpv4);
///     const std::span<std::byte> ip = frame.subspan(ipv4_wire::kEthernetBytes);
///     put_ipv4(ip, {.protocol = kTcp, .source = a, .destination = b}, segment_bytes);
///     const auto segment = ip.subspan(ipv4_wire::kHeaderBytesMin, segment_bytes);
///     put_tcp(segment.first(tcp_header_bytes), {.source = 80, ...});
///     put_tcp_checksum(segment, ip_pseudo_sum(ip, kTcp, segment_bytes));
///
/// Each writes all bytes of its header, whatever stood there. Numbers are in host byte order, and
/// so are addresses of IPv4; those of IPv6 are as the packet holds them. The caller has checked
/// that the header fits. The span of an Ethernet, IPv4 or IPv6 header begins with it and may go on
/// behind it; that of a TCP header is the header with its options, and one of which a checksum is
/// made is what the checksum is of. What is given to them must not lie in the header that they
/// write.

namespace millrace {

/// Of packets that a host sends by itself, unless something says otherwise (RFC 1700).
inline constexpr std::uint8_t kHopsDefault = 64;

/// 14 bytes. `type`: an EtherType.
inline void put_ethernet(std::span<std::byte> frame, const MacAddress& from, const MacAddress& to,
                         std::uint16_t type) noexcept {
  wire_bytes::put_array(frame, 0, to);
  wire_bytes::put_array(frame, to.size(), from);
  wire_bytes::put16(frame, ipv4_wire::kEtherTypeAt, type);
}

/// Makes the header checksum right. `header`: of IPv4, with its options.
inline void put_ipv4_checksum(std::span<std::byte> header) noexcept {
  wire_bytes::put16(header, ipv4_wire::kChecksumAt, 0);
  wire_bytes::put16(header, ipv4_wire::kChecksumAt, internet_checksum(header));
}

/// A header of IPv4 without options.
struct Ipv4Fields {
  std::uint8_t type_of_service = 0;
  std::uint16_t identification = 0;
  std::uint16_t fragment = 0;  ///< ipv4_wire::kDontFragment, kMoreFragments, offset in 8 bytes
  std::uint8_t ttl = kHopsDefault;
  std::uint8_t protocol = 0;
  std::uint32_t source = 0, destination = 0;
};

/// 20 bytes, with their checksum. `payload_bytes`: 0..65,515.
inline void put_ipv4(std::span<std::byte> packet, const Ipv4Fields& fields,
                     std::size_t payload_bytes) noexcept {
  constexpr std::uint8_t kVersionAndWords = 0x45;
  namespace wire = ipv4_wire;
  const std::span<std::byte> header = packet.first(wire::kHeaderBytesMin);
  wire::put8(header, 0, kVersionAndWords);
  wire::put8(header, wire::kTypeOfServiceAt, fields.type_of_service);
  wire::put16(header, wire::kTotalLengthAt,
              static_cast<std::uint16_t>(wire::kHeaderBytesMin + payload_bytes));
  wire::put16(header, wire::kIdentificationAt, fields.identification);
  wire::put16(header, wire::kFragmentAt, fields.fragment);
  wire::put8(header, wire::kTtlAt, fields.ttl);
  wire::put8(header, wire::kProtocolAt, fields.protocol);
  wire::put32(header, wire::kSourceAt, fields.source);
  wire::put32(header, wire::kDestinationAt, fields.destination);
  put_ipv4_checksum(header);
}

/// The fixed header of IPv6, flow label 0. The addresses are borrowed.
struct Ipv6Fields {
  std::uint8_t traffic_class = 0;
  std::uint8_t next_header = 0;
  std::uint8_t hop_limit = kHopsDefault;
  const Ipv6Bytes& source;
  const Ipv6Bytes& destination;
};

/// 40 bytes. `payload_bytes`: 0..65,535, of all behind them.
inline void put_ipv6(std::span<std::byte> packet, const Ipv6Fields& fields,
                     std::size_t payload_bytes) noexcept {
  constexpr std::uint32_t kVersion = 0x60000000;
  constexpr unsigned kTrafficClassShift = 20;
  namespace wire = ipv6_wire;
  wire::put32(packet, 0, kVersion | std::uint32_t{fields.traffic_class} << kTrafficClassShift);
  wire::put16(packet, wire::kPayloadLengthAt, static_cast<std::uint16_t>(payload_bytes));
  wire::put8(packet, wire::kNextHeaderAt, fields.next_header);
  wire::put8(packet, wire::kHopLimitAt, fields.hop_limit);
  wire::put_array(packet, wire::kSourceAt, fields.source);
  wire::put_array(packet, wire::kDestinationAt, fields.destination);
}

/// A header of TCP; the urgent pointer is 0.
struct TcpFields {
  std::uint16_t source = 0, destination = 0;  ///< ports
  std::uint32_t sequence = 0, acknowledgment = 0;
  std::uint8_t flags = 0;  ///< tcp_wire::kSyn, ...
  std::uint16_t window = 0;
};

/// The first 20 bytes of a header that is as long as `header`, 20..60 by fours: the rest are
/// options, which the caller writes. The checksum is 0 until put_tcp_checksum().
inline void put_tcp(std::span<std::byte> header, const TcpFields& fields) noexcept {
  constexpr std::size_t kWordBytes = 4;
  constexpr unsigned kOffsetShift = 4;
  namespace wire = tcp_wire;
  wire_bytes::put16(header, wire::kSourcePortAt, fields.source);
  wire_bytes::put16(header, wire::kDestinationPortAt, fields.destination);
  wire_bytes::put32(header, wire::kSequenceAt, fields.sequence);
  wire_bytes::put32(header, wire::kAcknowledgmentAt, fields.acknowledgment);
  wire_bytes::put8(header, wire::kOffsetAt,
                   static_cast<std::uint8_t>(header.size() / kWordBytes << kOffsetShift));
  wire_bytes::put8(header, wire::kFlagsAt, fields.flags);
  wire_bytes::put16(header, wire::kWindowAt, fields.window);
  wire_bytes::put16(header, wire::kChecksumAt, 0);
  wire_bytes::put16(header, wire::kUrgentAt, 0);
}

/// Of a segment with a checksum of 0. `pseudo`: pseudo_sum() of its addresses and length.
inline void put_tcp_checksum(std::span<std::byte> segment, std::uint16_t pseudo) noexcept {
  wire_bytes::put16(segment, tcp_wire::kChecksumAt, internet_checksum(segment, pseudo));
}

/// A header of ICMP or ICMPv6. `rest`: its bytes 4 to 7.
struct IcmpFields {
  std::uint8_t type = 0, code = 0;
  std::uint32_t rest = 0;
};

/// The first 8 bytes of `message`, with the checksum over it and over what stands `behind` it
/// elsewhere; then `message` has an even length. `pseudo`: pseudo_sum() over IPv6, 0 over IPv4.
inline void put_icmp(std::span<std::byte> message, const IcmpFields& fields, std::uint16_t pseudo,
                     std::span<const std::byte> behind = {}) noexcept {
  namespace wire = ipv4_wire;
  wire::put8(message, 0, fields.type);
  wire::put8(message, 1, fields.code);
  wire::put16(message, wire::kIcmpChecksumAt, 0);
  wire::put32(message, 4, fields.rest);
  wire::put16(message, wire::kIcmpChecksumAt,
              internet_checksum(behind, internet_sum(message, pseudo)));
}

}  // namespace millrace
