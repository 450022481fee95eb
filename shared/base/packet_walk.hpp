// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet.hpp"

/// The walk of parse_headers() as templates, so that a GPU, whose packets lie elsewhere, takes the
/// same steps. `Bytes` is a frame: `size`, and u8(at), u16(at) in network order, asked only for
/// what lies within.

namespace millrace {

/// A frame that lies in one piece.
struct FrameBytes {
  const std::byte* data;
  std::size_t size;

  constexpr std::uint8_t u8(std::size_t at) const { return static_cast<std::uint8_t>(data[at]); }
  constexpr std::uint16_t u16(std::size_t at) const {
    return static_cast<std::uint16_t>(u8(at) << 8 | u8(at + 1));
  }
};

namespace packet_walk {

inline constexpr std::size_t kEthernetBytes = 14;
inline constexpr std::size_t kMacsBytes = 12;  ///< both addresses; VLAN tags come behind them
inline constexpr std::size_t kVlanTagBytes = 4;
inline constexpr std::size_t kVlanTagsMax = 2;
inline constexpr std::size_t kIpv4BytesMin = 20;
inline constexpr std::size_t kIpv6Bytes = 40;
inline constexpr std::size_t kTcpBytesMin = 20;
inline constexpr std::size_t kUdpBytes = 8;
inline constexpr int kExtensionHeadersMax = 8;

inline constexpr std::uint16_t kTypeIpv4 = 0x0800, kTypeIpv6 = 0x86dd;
inline constexpr std::uint16_t kTypeVlan = 0x8100, kTypeServiceVlan = 0x88a8;
using ip_protocol::kTcp, ip_protocol::kUdp;

constexpr std::uint16_t narrow(std::size_t offset) { return static_cast<std::uint16_t>(offset); }

/// A header that would end behind `end`: cut by the capture if the IP length says that it was
/// there.
constexpr ParseStatus status_of_short(std::size_t header_end, std::size_t announced_end) {
  return header_end > announced_end ? ParseStatus::kMalformed : ParseStatus::kTruncated;
}

/// `announced_end`: where the packet ends by its IP length; payload_end is that or the end of
/// the bytes.
template <typename Bytes>
constexpr void walk_transport(const Bytes& bytes, std::size_t at, std::size_t announced_end,
                              PacketHeaders& headers) {
  const std::size_t end = headers.payload_end;
  if (at > end) {
    headers.status = status_of_short(at, announced_end);
    return;
  }
  headers.transport_offset = narrow(at);
  std::size_t header_bytes = 0;
  if (headers.protocol == kUdp) header_bytes = kUdpBytes;
  if (headers.protocol == kTcp) {
    header_bytes = kTcpBytesMin;
    if (at + kTcpBytesMin <= end) header_bytes = std::size_t{bytes.u8(at + 12)} / 16 * 4;
    if (header_bytes < kTcpBytesMin) {
      headers.status = ParseStatus::kMalformed;
      return;
    }
  }
  if (at + header_bytes > end) {
    headers.status = status_of_short(at + header_bytes, announced_end);
    return;
  }
  headers.payload_offset = narrow(at + header_bytes);
}

/// `offset`: in units of 8 bytes. What an IPv6 fragment header in front of this one said stays.
constexpr void set_fragment(bool more, std::uint16_t offset, PacketHeaders& headers) {
  headers.fragment = headers.fragment || more || offset != 0;
  headers.first_fragment = headers.fragment && offset == 0;
  headers.fragment_offset = offset;
}

/// `at`: first byte behind the IP headers.
template <typename Bytes>
constexpr void walk_behind_ip(const Bytes& bytes, std::size_t at, std::size_t announced_end,
                              PacketHeaders& headers) {
  if (!headers.fragment || headers.first_fragment) {
    walk_transport(bytes, at, announced_end, headers);
  } else if (at > headers.payload_end) {
    headers.status = status_of_short(at, announced_end);
  } else {
    headers.payload_offset = narrow(at);
  }
}

/// Sets payload_end and says whether the capture was cut.
template <typename Bytes>
constexpr void set_end(const Bytes& bytes, std::size_t announced_end, PacketHeaders& headers) {
  headers.payload_end = narrow(std::min(announced_end, bytes.size));
  if (announced_end > bytes.size) headers.status = ParseStatus::kTruncated;
}

/// True when an IP header of `version` with its `fixed_bytes` is there; sets what that means.
template <typename Bytes>
constexpr bool enter_ip(const Bytes& bytes, std::size_t at, std::uint8_t version,
                        std::size_t fixed_bytes, PacketHeaders& headers) {
  if (at + fixed_bytes > bytes.size) {
    headers.status = ParseStatus::kTruncated;
    return false;
  }
  if (bytes.u8(at) >> 4 != version) {
    headers.status = ParseStatus::kMalformed;
    return false;
  }
  headers.ip_version = version;
  headers.network_offset = narrow(at);
  return true;
}

template <typename Bytes>
constexpr void walk_ipv4(const Bytes& bytes, std::size_t at, PacketHeaders& headers) {
  if (!enter_ip(bytes, at, 4, kIpv4BytesMin, headers)) return;
  const std::size_t header_bytes = std::size_t{bytes.u8(at)} % 16 * 4;
  const std::size_t total_bytes = bytes.u16(at + 2);
  const std::uint16_t fragment = bytes.u16(at + 6);
  headers.protocol = bytes.u8(at + 9);
  set_fragment((fragment & 0x2000) != 0, fragment & 0x1fff, headers);
  set_end(bytes, at + total_bytes, headers);
  if (header_bytes < kIpv4BytesMin || total_bytes < header_bytes) {
    headers.status = ParseStatus::kMalformed;
    return;
  }
  walk_behind_ip(bytes, at + header_bytes, at + total_bytes, headers);
}

/// Bytes of the extension header `type` at `at`, or 0 when `type` is none. The first 8 bytes are
/// there.
template <typename Bytes>
constexpr std::size_t extension_bytes(const Bytes& bytes, std::uint8_t type, std::size_t at) {
  switch (type) {
    case 0:    // hop-by-hop options
    case 43:   // routing
    case 60:   // destination options
    case 135:  // mobility
    case 139:  // host identity
    case 140:  // shim6
      return (std::size_t{bytes.u8(at + 1)} + 1) * 8;
    case 51:
      return (std::size_t{bytes.u8(at + 1)} + 2) * 4;  // authentication
    case 44:
      return 8;  // fragment
    default:
      return 0;
  }
}

constexpr bool is_extension(std::uint8_t type) {
  return type == 0 || type == 43 || type == ip_protocol::kFragment || type == 51 || type == 60 ||
         type == 135 || type == 139 || type == 140;
}

template <typename Bytes>
constexpr void walk_ipv6(const Bytes& bytes, std::size_t at, PacketHeaders& headers) {
  if (!enter_ip(bytes, at, 6, kIpv6Bytes, headers)) return;
  const std::size_t announced_end = at + kIpv6Bytes + bytes.u16(at + 4);
  headers.protocol = bytes.u8(at + 6);
  set_end(bytes, announced_end, headers);
  at += kIpv6Bytes;
  for (int walked = 0; is_extension(headers.protocol); ++walked) {
    if (walked == kExtensionHeadersMax) {
      headers.status = ParseStatus::kMalformed;
      return;
    }
    if (at + 8 > headers.payload_end) {
      headers.status = status_of_short(at + 8, announced_end);
      return;
    }
    const std::uint8_t type = headers.protocol;
    if (type == ip_protocol::kFragment) {
      const std::uint16_t fragment = bytes.u16(at + 2);
      set_fragment((fragment & 1) != 0, fragment >> 3, headers);
    }
    headers.protocol = bytes.u8(at);
    at += extension_bytes(bytes, type, at);
    if (at > headers.payload_end) {
      headers.status = status_of_short(at, announced_end);
      return;
    }
    // What follows in a later fragment is the middle of something, not a header.
    if (headers.fragment && !headers.first_fragment) break;
  }
  walk_behind_ip(bytes, at, announced_end, headers);
}

}  // namespace packet_walk

/// parse_headers() of `bytes`, of which there are at most 65,535.
template <typename Bytes>
constexpr PacketHeaders walk_headers(const Bytes& bytes) {
  PacketHeaders headers;
  headers.payload_end = packet_walk::narrow(bytes.size);
  if (bytes.size < packet_walk::kEthernetBytes) {
    headers.status = ParseStatus::kTruncated;
    return headers;
  }
  std::size_t at = packet_walk::kEthernetBytes;
  headers.ether_type = bytes.u16(at - 2);
  while ((headers.ether_type == packet_walk::kTypeVlan ||
          headers.ether_type == packet_walk::kTypeServiceVlan) &&
         headers.vlan_tags < packet_walk::kVlanTagsMax) {
    if (at + packet_walk::kVlanTagBytes > bytes.size) {
      headers.status = ParseStatus::kTruncated;
      return headers;
    }
    at += packet_walk::kVlanTagBytes;
    headers.ether_type = bytes.u16(at - 2);
    ++headers.vlan_tags;
  }
  if (headers.ether_type == packet_walk::kTypeIpv4) packet_walk::walk_ipv4(bytes, at, headers);
  if (headers.ether_type == packet_walk::kTypeIpv6) packet_walk::walk_ipv6(bytes, at, headers);
  return headers;
}

}  // namespace millrace
