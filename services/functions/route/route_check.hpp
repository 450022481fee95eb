// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "services/functions/route/route_image.hpp"
#include "services/functions/route/route_text.hpp"

namespace millrace {

/// Word of a packet: kRouteDrop | RouteReason, or the number of its next hop, with kRouteTtlExpired
/// when it may not be forwarded any further, and kRouteIpv6.
inline constexpr std::uint32_t kRouteDrop = 1u << 31;
inline constexpr std::uint32_t kRouteTtlExpired = 1u << 30;
inline constexpr std::uint32_t kRouteIpv6 = 1u << 29;  ///< a packet of IPv6; not where dropped
inline constexpr std::uint32_t kRouteHopMask = kRouteIpv6 - 1;

namespace route {

inline constexpr std::uint32_t kEthernetBytes = 14;
inline constexpr std::uint32_t kIpv4Bytes = 20;
inline constexpr std::uint32_t kIpv6Bytes = 40;

template <typename Bytes>
constexpr std::uint32_t be32(const Bytes& bytes, std::uint32_t at) noexcept {
  return std::uint32_t{bytes.u16(at)} << 16 | bytes.u16(at + 2);
}

template <typename Bytes>
constexpr Ipv6Address be128(const Bytes& bytes, std::uint32_t at) noexcept {
  return {std::uint64_t{be32(bytes, at)} << 32 | be32(bytes, at + 4),
          std::uint64_t{be32(bytes, at + 8)} << 32 | be32(bytes, at + 12)};
}

constexpr std::uint32_t drop(RouteReason why) noexcept {
  return kRouteDrop | static_cast<std::uint32_t>(why);
}

constexpr bool is_own(std::uint32_t address, const RouteTable& table) noexcept {
  if (!table.own_filter->may_have(OwnFilter::hash(address))) return false;
  for (const std::uint32_t own : table.own) {
    if (own == address) return true;
  }
  return false;
}

/// Ones' complement sum (RFC 1071) of the header; 0xffff: one that holds its own checksum is good.
template <typename Bytes>
constexpr std::uint32_t sum_of(const Bytes& bytes, std::uint32_t at, std::uint32_t size) noexcept {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < size; i += 2) sum += bytes.u16(at + i);
  sum = (sum & 0xffff) + (sum >> 16);
  return (sum & 0xffff) + (sum >> 16);
}

/// Destination address of a frame that check() did not drop; host byte order.
template <typename Bytes>
constexpr std::uint32_t destination(const Bytes& bytes) noexcept {
  return be32(bytes, kEthernetBytes + 16);
}

template <typename Bytes>
constexpr Ipv6Address ipv6_destination(const Bytes& bytes) noexcept {
  return be128(bytes, kEthernetBytes + 24);
}

/// check() behind an Ethernet header of IPv6. A router on the way does not look at extension
/// headers (RFC 8200 4), but a payload of no bytes cannot begin with one: that is a jumbogram (RFC
/// 2675), or what segmentation offload leaves.
template <typename Bytes>
constexpr std::uint32_t check_ipv6(const Bytes& bytes, std::uint32_t ends_early,
                                   const Ipv6Routes& routes) noexcept {
  const auto size = static_cast<std::uint32_t>(bytes.size);
  const std::uint32_t ip = kEthernetBytes;
  if (size < ip + kIpv6Bytes) return ends_early;
  if (bytes.u8(ip) >> 4 != 6) return drop(RouteReason::kMalformed);
  const std::uint32_t payload = bytes.u16(ip + 4);
  if (payload > size - ip - kIpv6Bytes) return drop(RouteReason::kTruncated);
  if (payload == 0 && bytes.u8(ip + 6) == 0) return drop(RouteReason::kMalformed);
  const Ipv6Address source = be128(bytes, ip + 8);
  const bool to_group = (bytes.u8(0) & 1) != 0;
  if (to_group || never_routed(source) || never_routed(ipv6_destination(bytes)) ||
      routes.is_own(source)) {
    return drop(RouteReason::kNotUnicast);
  }
  return kRouteIpv6 | (bytes.u8(ip + 7) <= 1 ? kRouteTtlExpired : 0);
}

/// route_check() of a frame wherever it lies; `Bytes` as in shared/base/packet_walk.hpp.
template <typename Bytes>
constexpr std::uint32_t check(const Bytes& bytes, std::uint32_t wire_length,
                              const RouteTable& table) noexcept {
  const auto size = static_cast<std::uint32_t>(bytes.size);
  const std::uint32_t ends_early =
      drop(wire_length > size ? RouteReason::kTruncated : RouteReason::kMalformed);
  if (size < kEthernetBytes) return ends_early;
  switch (bytes.u16(12)) {
    case 0x0800:
      break;
    case 0x0806:
    case 0x8035:
    case 0x8100:
    case 0x88a8:
    case 0x9100:
      return drop(RouteReason::kNotForwarded);
    case 0x86dd:
      if (!table.ipv6.present()) return drop(RouteReason::kNotIpv4);
      return check_ipv6(bytes, ends_early, table.ipv6);
    default:
      return drop(RouteReason::kNotIpv4);
  }
  const std::uint32_t ip = kEthernetBytes;
  if (size < ip + kIpv4Bytes) return ends_early;
  const std::uint32_t header = (bytes.u8(ip) & 15u) * 4;
  if (bytes.u8(ip) >> 4 != 4 || header < kIpv4Bytes) return drop(RouteReason::kMalformed);
  if (size < ip + header) return ends_early;
  if (sum_of(bytes, ip, header) != 0xffff) return drop(RouteReason::kBadChecksum);
  const std::uint32_t total = bytes.u16(ip + 2);
  if (total > size - ip) return drop(RouteReason::kTruncated);
  if (total < header) return drop(RouteReason::kMalformed);
  const std::uint32_t source = be32(bytes, ip + 12);
  const bool to_group = (bytes.u8(0) & 1) != 0;
  if (to_group || never_routed(source) || never_routed(destination(bytes)) ||
      is_own(source, table)) {
    return drop(RouteReason::kNotUnicast);
  }
  return bytes.u8(ip + 8) <= 1 ? kRouteTtlExpired : 0;
}

}  // namespace route

/// All checks of one frame, in the order of README.md: its word before the look-up (kRouteDrop |
/// RouteReason, or the flags of one that goes on). `wire_length` only tells a cut frame from a
/// short one. Reads nothing outside `frame`. The slow form; route_compute() asks it about what is
/// not ordinary, and a GPU takes it for all.
std::uint32_t route_check(std::span<const std::byte> frame, std::uint32_t wire_length,
                          const RouteTable& table) noexcept;

}  // namespace millrace
