// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/packets/ip_fragment.hpp"

#include <algorithm>

#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/put_headers.hpp"

namespace millrace {
namespace {

using ipv4_wire::kFragmentAt, ipv4_wire::kFragmentOffset, ipv4_wire::kMoreFragments;
using wire_bytes::u16, wire_bytes::u32, wire_bytes::u8;
constexpr std::size_t kUnitBytes = 8;
constexpr std::uint16_t kMoreFragmentsOfIpv6 = 1, kOffsetOfIpv6 = 0xfff8;

/// Where the fragment header of a packet of IPv6 lies, and the byte that names it.
struct FragmentHeader {
  std::size_t at = 0, named_at = 0;
};

/// The first one that makes it a fragment: one on a whole packet (RFC 6946) does not.
std::optional<FragmentHeader> find_fragment_header(std::span<const std::byte> packet) noexcept {
  const FrameBytes bytes{packet.data(), packet.size()};
  std::size_t at = ipv6_wire::kHeaderBytes, named_at = ipv6_wire::kNextHeaderAt;
  if (packet.size() < at) return std::nullopt;
  for (int walked = 0; walked < packet_walk::kExtensionHeadersMax; ++walked) {
    const std::uint8_t type = u8(packet, named_at);
    if (!packet_walk::is_extension(type) || at + kUnitBytes > packet.size()) return std::nullopt;
    if (type == ip_protocol::kFragment &&
        (u16(packet, at + 2) & (kMoreFragmentsOfIpv6 | kOffsetOfIpv6)) != 0) {
      return FragmentHeader{at, named_at};
    }
    named_at = at;
    at += packet_walk::extension_bytes(bytes, type, at);
  }
  return std::nullopt;
}

FlowTuple key_of(std::span<const std::byte> packet, std::uint8_t version,
                 std::uint32_t identification) noexcept {
  constexpr int kHalfBits = 16;
  FlowTuple key{.source_port = static_cast<std::uint16_t>(identification >> kHalfBits),
                .destination_port = static_cast<std::uint16_t>(identification),
                .version = version};
  set_addresses(packet, key);
  return key;
}

std::optional<IpFragment> ipv4_fragment(std::span<const std::byte> packet) noexcept {
  const std::size_t header = ipv4_wire::header_bytes(packet);
  const std::size_t announced = u16(packet, ipv4_wire::kTotalLengthAt);
  if (header == 0 || announced < header || announced > packet.size()) return std::nullopt;
  const std::uint16_t word = u16(packet, kFragmentAt);
  IpFragment fragment{.key = key_of(packet, 4, u16(packet, ipv4_wire::kIdentificationAt)),
                      .at = static_cast<std::uint32_t>((word & kFragmentOffset) * kUnitBytes),
                      .more = (word & kMoreFragments) != 0,
                      .ttl = u8(packet, ipv4_wire::kTtlAt),
                      .data = packet.first(announced).subspan(header),
                      .front = packet.first(header)};
  fragment.key.protocol = u8(packet, ipv4_wire::kProtocolAt);
  return fragment;
}

std::optional<IpFragment> ipv6_fragment(std::span<const std::byte> packet) noexcept {
  const auto header = find_fragment_header(packet);
  if (!header) return std::nullopt;
  const std::size_t announced = ipv6_wire::kHeaderBytes + u16(packet, ipv6_wire::kPayloadLengthAt);
  const std::size_t data_at = header->at + ipv6_wire::kFragmentBytes;
  if (announced > packet.size() || announced < data_at) return std::nullopt;
  const std::uint16_t word = u16(packet, header->at + 2);
  return IpFragment{.key = key_of(packet, 6, u32(packet, header->at + 4)),
                    .at = std::uint32_t{word} & kOffsetOfIpv6,
                    .more = (word & kMoreFragmentsOfIpv6) != 0,
                    .ttl = u8(packet, ipv6_wire::kHopLimitAt),
                    .data = packet.first(announced).subspan(data_at),
                    .front = packet.first(data_at)};
}

void make_ipv4_header(std::span<const std::byte> front, std::span<std::byte> made,
                      std::size_t bytes) noexcept {
  wire_bytes::put16(made, ipv4_wire::kTotalLengthAt, static_cast<std::uint16_t>(bytes));
  wire_bytes::put16(
      made, kFragmentAt,
      static_cast<std::uint16_t>(u16(front, kFragmentAt) & ~(kMoreFragments | kFragmentOffset)));
  put_ipv4_checksum(made);
}

}  // namespace

std::optional<IpFragment> ip_fragment(std::span<const std::byte> frame,
                                      const PacketHeaders& headers, std::uint8_t depth) noexcept {
  const std::span<const std::byte> packet = frame.subspan(headers.network_offset);
  auto fragment = headers.ip_version == 4 ? ipv4_fragment(packet) : ipv6_fragment(packet);
  if (fragment) fragment->key.zone = depth;
  return fragment;
}

bool append_datagram_headers(std::span<const std::byte> front, std::size_t data_bytes,
                             std::vector<std::byte>& whole) noexcept {
  const bool is_ipv4 = u8(front, 0) >> 4 == 4;
  FragmentHeader header{.at = front.size()};
  if (!is_ipv4) {
    const auto found = find_fragment_header(front);
    if (!found) return false;
    header = *found;
  }
  const std::size_t bytes = header.at + data_bytes;
  if (bytes > kDatagramBytesMax) return false;
  const std::size_t at = whole.size();
  whole.insert(whole.end(), front.begin(), front.begin() + static_cast<std::ptrdiff_t>(header.at));
  const std::span<std::byte> made = std::span(whole).subspan(at);
  if (is_ipv4) {
    make_ipv4_header(front, made, bytes);
    return true;
  }
  wire_bytes::put8(made, header.named_at, u8(front, header.at));
  wire_bytes::put16(made, ipv6_wire::kPayloadLengthAt,
                    static_cast<std::uint16_t>(bytes - ipv6_wire::kHeaderBytes));
  return true;
}

PacketHeaders parse_ip_headers(std::span<const std::byte> packet) noexcept {
  const FrameBytes bytes{packet.data(), std::min(packet.size(), kDatagramBytesMax)};
  PacketHeaders headers;
  headers.payload_end = packet_walk::narrow(bytes.size);
  const bool is_ipv6 = !packet.empty() && u8(packet, 0) >> 4 == 6;
  headers.ether_type = is_ipv6 ? packet_walk::kTypeIpv6 : packet_walk::kTypeIpv4;
  if (is_ipv6) {
    packet_walk::walk_ipv6(bytes, 0, headers);
  } else {
    packet_walk::walk_ipv4(bytes, 0, headers);
  }
  return headers;
}

}  // namespace millrace
