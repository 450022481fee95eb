// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "services/functions/flow/flow_tuple.hpp"
#include "shared/base/packet.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/ipv6_wire.hpp"

namespace millrace {

/// What headers of IPv4 and IPv6 both say of a packet (RFC 7915 4.1, 5.1).
struct IpFields {
  std::uint8_t traffic_class = 0;  ///< of IPv4 the TOS
  std::uint8_t hops = 0;           ///< TTL or hop limit
  bool has_fragment = false;       ///< it is a fragment, or has a fragment header of IPv6
  bool more = false;
  std::uint16_t offset = 0;          ///< of the fragment, in units of 8 bytes
  bool may_split = false;            ///< of IPv4 without DF
  std::uint32_t identification = 0;  ///< with has_fragment or may_split
  std::uint16_t payload_bytes = 0;   ///< behind the IP headers, as announced
  std::uint16_t payload_at = 0;      ///< in the frame

  /// One of several: an IPv6 packet with a fragment header may be whole (RFC 6946).
  constexpr bool is_fragment() const noexcept { return more || offset != 0; }

  /// Longer, as a packet of IPv6, than all links of IPv6 take, and routers of IPv4 might have cut
  /// it: it is to be cut (RFC 7915 4).
  constexpr bool splits() const noexcept {
    return may_split && ipv6_wire::kHeaderBytes + payload_bytes > ipv6_wire::kMtuMin;
  }
};

/// `headers`: of the packet in the frame, or of one that it quotes. Nothing: its headers are not
/// whole or contradict themselves, or the meaning of one would be lost: a source route, a routing
/// header with segments left, an authentication header. Other options of IPv4, hop-by-hop and
/// destination options are not translated; the packet is.
std::optional<IpFields> read_ip_fields(std::span<const std::byte> frame,
                                       const PacketHeaders& headers) noexcept;

/// IPv6 with a fragment header.
inline constexpr std::size_t kIpFieldsBytesMax =
    ipv6_wire::kHeaderBytes + ipv6_wire::kFragmentBytes;

/// Bytes of the header of `version` that write_ip_fields() writes.
constexpr std::size_t ip_fields_bytes(std::uint8_t version, const IpFields& fields) noexcept {
  if (version == 4) return ipv4_wire::kHeaderBytesMin;
  const bool fragment = fields.is_fragment() || fields.splits();
  return fragment ? kIpFieldsBytesMax : ipv6_wire::kHeaderBytes;
}

/// Writes a header of the tuple's version, addresses and protocol, in front of
/// `fields.payload_bytes`. IPv4: with DF where the packet is longer than 1,260 bytes and had no
/// fragment header, so that an IPv6 host need not know of an IPv4 link of less than 1,260 bytes on
/// its path (RFC 7915 5.1); without DF `identification` is that of a packet without a fragment
/// header. IPv6: with a fragment header for a fragment, and for a packet that splits(). False, and
/// nothing is written: the packet is too long for its length field.
bool write_ip_fields(std::span<std::byte> to, const IpFields& fields, const FlowTuple& tuple,
                     std::uint16_t identification) noexcept;

}  // namespace millrace
