// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "services/functions/acl/acl_rule.hpp"
#include "shared/base/flow_key.hpp"
#include "shared/base/packet.hpp"

/// From a frame to what it is compared by.

namespace millrace {

inline constexpr std::size_t kTcpFlagsAt = 13;  ///< in TCP's header

/// Of the usual frame; `from.protocol` is not 0. What rules with conditions ask for is not set.
constexpr void acl_key_of(const FlowKey& from, AclKey& key) {
  key = {};
  key.protocol = from.protocol;
  key.version = 4;
  key.has_ports = 1;
  key.flags = from.tcp_flags;
  key.source[0] = from.source;
  key.destination[0] = from.destination;
  key.source_port = from.source_port;
  key.destination_port = from.destination_port;
}

/// Bytes of a transport header that a first fragment holds: a filter learns from them all that its
/// rules ask for. Receivers round the length of a fragment down to 8 bytes.
inline constexpr std::size_t kTcpBytesInFirst = 16;  ///< with the flags (RFC 1858 3.2.1)
inline constexpr std::size_t kPortsBytesInFirst = 8;

/// True for a packet that hides from a filter what its receiver will see: a first fragment that
/// ends before ports or flags, a fragment that lies over the flags of TCP (RFC 1858, RFC 3128), a
/// chain of IPv6 extension headers that cannot be walked to its end (RFC 7112). `headers`: of an IP
/// packet.
constexpr bool acl_hides_transport(const PacketHeaders& headers) {
  const bool tcp = headers.protocol == 6;
  if (headers.fragment && !headers.first_fragment) return tcp && headers.fragment_offset == 1;
  if (chain_breaks_off(headers)) return true;
  if (!headers.first_fragment || !acl_protocol_has_ports(headers.protocol)) return false;
  const std::size_t needed = tcp ? kTcpBytesInFirst : kPortsBytesInFirst;
  return headers.transport_offset == 0 || headers.transport_offset + needed > headers.payload_end;
}

/// Sets vlan, icmp and marks of `key`: all that is not there says so.
template <typename Bytes>
constexpr void acl_walk_conditions(const Bytes& bytes, const PacketHeaders& headers, AclKey& key) {
  const auto word = [&bytes](std::size_t at) {
    return static_cast<std::uint16_t>(bytes.u8(at) << 8 | bytes.u8(at + 1));
  };
  constexpr std::size_t kOuterTagAt = 14;
  constexpr std::uint16_t kVlanBits = 0xfff;
  const std::uint16_t vlan = headers.vlan_tags == 0
                                 ? kAclNoTag
                                 : static_cast<std::uint16_t>(word(kOuterTagAt) & kVlanBits);
  key.vlan = static_cast<std::uint16_t>(acl_swap(vlan));
  // The traffic class of IPv6 begins in the middle of the first byte.
  const std::uint16_t front = word(headers.network_offset);
  std::uint32_t marks = (headers.ip_version == 4 ? front >> 2u : front >> 6u) & kAclDscpBits;
  marks |= !headers.fragment        ? kAclWhole
           : headers.first_fragment ? kAclFirstFragment
                                    : kAclLaterFragment;
  const std::size_t at = headers.transport_offset;
  const bool icmp = headers.protocol == 1 || headers.protocol == 58;
  if (icmp && at != 0 && at + 2 <= headers.payload_end) {
    key.icmp = static_cast<std::uint16_t>(acl_swap(word(at)));
  } else {
    marks |= kAclNoIcmp;
  }
  key.marks = acl_swap(marks);
}

/// Sets `key` and returns true; false (and `key.version` 0) for a frame that is no IP packet, whose
/// IP header is not there, or that hides its transport: `word` then says which of these.
/// `headers`: of walk_headers(); `bytes`: as there, on a CPU or on a GPU.
template <typename Bytes>
constexpr bool acl_walk_key(const Bytes& bytes, const PacketHeaders& headers, AclKey& key,
                            std::uint32_t& word) {
  key = {};
  if (headers.ip_version == 0) {
    const bool announced = headers.ether_type == 0x0800 || headers.ether_type == 0x86dd;
    word = announced ? kAclNoRule : kAclNotIp;
    return false;
  }
  if (acl_hides_transport(headers)) {
    word = kAclHidden;
    return false;
  }
  // As on the wire: the first byte is the lowest.
  const auto half = [&bytes](std::size_t at) {
    return static_cast<std::uint16_t>(bytes.u8(at) | bytes.u8(at + 1) << 8);
  };
  key.version = headers.ip_version;
  key.protocol = headers.protocol;
  const bool ipv4 = key.version == 4;
  const std::size_t source = headers.network_offset + (ipv4 ? 12u : 8u);
  const std::size_t address_bytes = ipv4 ? 4 : 16;
  for (std::size_t i = 0; i < 16; i += 4) {  // unrolled, `key` needs no memory
    if (i >= address_bytes) break;
    const std::size_t from = source + i, to = from + address_bytes;
    key.source[i / 4] = half(from) | std::uint32_t{half(from + 2)} << 16;
    key.destination[i / 4] = half(to) | std::uint32_t{half(to + 2)} << 16;
  }
  acl_walk_conditions(bytes, headers, key);
  const std::size_t at = headers.transport_offset;
  if (at == 0 || !acl_protocol_has_ports(key.protocol) || at + 4 > headers.payload_end) return true;
  key.has_ports = 1;
  key.source_port = half(at);
  key.destination_port = half(at + 2);
  if (key.protocol == 6 && at + kTcpFlagsAt < headers.payload_end) {
    key.flags = bytes.u8(at + kTcpFlagsAt);
  }
  return true;
}

/// The same on a CPU. Reads nothing outside `frame`.
bool acl_key_of(std::span<const std::byte> frame, const PacketHeaders& headers, AclKey& key,
                std::uint32_t& word) noexcept;

/// The same for a frame of which nothing is known yet. The usual one (FlowKey) takes a short way,
/// unless `conditions` are to be set.
bool acl_key_of(std::span<const std::byte> frame, bool conditions, AclKey& key,
                std::uint32_t& word) noexcept;

}  // namespace millrace
