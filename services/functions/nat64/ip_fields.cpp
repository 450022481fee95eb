// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/ip_fields.hpp"

#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/ipv4_options.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/put_headers.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using wire_bytes::put16, wire_bytes::put32, wire_bytes::put8;
using wire_bytes::u16, wire_bytes::u32, wire_bytes::u8;

using ipv6_wire::kFragmentBytes;
using packet_walk::kIpv4BytesMin, packet_walk::kIpv6Bytes;

constexpr std::size_t kIpv4LengthMax = 65535;
/// A longer packet has DF (RFC 7915 5.1): 1,280 without the 20 bytes that the headers differ.
constexpr std::size_t kWithoutDfMax = 1260;

/// First byte behind the IP headers; 0: they are not whole.
std::size_t payload_at(const PacketHeaders& headers) noexcept {
  return headers.transport_offset != 0 ? headers.transport_offset : headers.payload_offset;
}

std::optional<IpFields> read_ipv4(std::span<const std::byte> ip, std::size_t header_bytes) {
  const std::span<const std::byte> header = ip.first(header_bytes);
  switch (check_ipv4_options(header).result) {
    case Ipv4OptionsResult::kProblem:
    case Ipv4OptionsResult::kSourceRoute:
      return std::nullopt;
    case Ipv4OptionsResult::kNothing:
    case Ipv4OptionsResult::kChanged:
      break;
  }
  const std::uint16_t fragment = u16(ip, ipv4_wire::kFragmentAt);
  IpFields fields{.traffic_class = u8(ip, ipv4_wire::kTypeOfServiceAt),
                  .hops = u8(ip, ipv4_wire::kTtlAt),
                  .more = (fragment & ipv4_wire::kMoreFragments) != 0,
                  .offset = static_cast<std::uint16_t>(fragment & ipv4_wire::kFragmentOffset),
                  .may_split = (fragment & ipv4_wire::kDontFragment) == 0,
                  .identification = u16(ip, ipv4_wire::kIdentificationAt),
                  .payload_bytes = static_cast<std::uint16_t>(u16(ip, ipv4_wire::kTotalLengthAt) -
                                                              header_bytes)};
  fields.has_fragment = fields.is_fragment();
  return fields;
}

/// `chain_bytes`: of the extension headers, which are whole.
std::optional<IpFields> read_ipv6(std::span<const std::byte> ip, std::size_t chain_bytes) {
  const std::span<const std::byte> chain = ip.subspan(kIpv6Bytes, chain_bytes);
  if (u16(ip, ipv6_wire::kPayloadLengthAt) < chain_bytes) return std::nullopt;
  IpFields fields{.traffic_class = static_cast<std::uint8_t>(u16(ip, 0) >> 4),
                  .hops = u8(ip, ipv6_wire::kHopLimitAt),
                  .payload_bytes = static_cast<std::uint16_t>(u16(ip, ipv6_wire::kPayloadLengthAt) -
                                                              chain_bytes)};
  std::uint8_t type = u8(ip, ipv6_wire::kNextHeaderAt);
  for (std::size_t at = 0; at + 8 <= chain.size();) {
    const bool route_left = type == ip_protocol::kRouting && u8(chain, at + 3) != 0;
    if (type == ip_protocol::kFragment) {
      if (fields.has_fragment) return std::nullopt;
      fields.has_fragment = true;
      fields.more = (u16(chain, at + 2) & 1) != 0;
      fields.offset = static_cast<std::uint16_t>(u16(chain, at + 2) >> 3);
      fields.identification = u32(chain, at + 4);
    } else if (route_left || (type != ip_protocol::kHopByHop && type != ip_protocol::kRouting &&
                              type != ip_protocol::kDestinationOptions)) {
      return std::nullopt;
    }
    const FrameBytes bytes{chain.data(), chain.size()};
    const std::size_t next = at + packet_walk::extension_bytes(bytes, type, at);
    // Later fragments go on where all of this one's headers end.
    if (fields.is_fragment() && next < chain.size()) return std::nullopt;
    type = u8(chain, at);
    at = next;
  }
  return fields;
}

std::span<const std::byte> wire(const Ipv6Bytes& address) noexcept {
  return std::as_bytes(std::span(address));
}

void write_ipv4(std::span<std::byte> to, const IpFields& fields, const FlowTuple& tuple,
                std::uint16_t identification) noexcept {
  const std::size_t total = kIpv4BytesMin + fields.payload_bytes;
  std::uint16_t fragment = fields.offset;
  if (fields.more) fragment |= ipv4_wire::kMoreFragments;
  if (fields.has_fragment) {
    identification = static_cast<std::uint16_t>(fields.identification);
  } else if (total > kWithoutDfMax) {
    fragment = ipv4_wire::kDontFragment;
    identification = 0;
  }
  put_ipv4(to,
           {.type_of_service = fields.traffic_class,
            .identification = identification,
            .fragment = fragment,
            .ttl = fields.hops,
            .protocol = tuple.protocol,
            .source = u32(wire(tuple.source), 0),
            .destination = u32(wire(tuple.destination), 0)},
           fields.payload_bytes);
}

void write_ipv6(std::span<std::byte> to, const IpFields& fields, const FlowTuple& tuple) noexcept {
  const bool fragment = fields.is_fragment() || fields.splits();
  const std::size_t payload = fields.payload_bytes + (fragment ? kFragmentBytes : 0);
  put_ipv6(to,
           {.traffic_class = fields.traffic_class,
            .next_header = fragment ? ip_protocol::kFragment : tuple.protocol,
            .hop_limit = fields.hops,
            .source = tuple.source,
            .destination = tuple.destination},
           payload);
  if (!fragment) return;
  put8(to, kIpv6Bytes, tuple.protocol);
  put8(to, kIpv6Bytes + 1, 0);
  put16(to, kIpv6Bytes + 2, static_cast<std::uint16_t>(fields.offset << 3 | (fields.more ? 1 : 0)));
  put32(to, kIpv6Bytes + 4, fields.identification);
}

}  // namespace

std::optional<IpFields> read_ip_fields(std::span<const std::byte> frame,
                                       const PacketHeaders& headers) noexcept {
  const std::size_t fixed = headers.ip_version == 4 ? kIpv4BytesMin : kIpv6Bytes;
  const std::size_t at = payload_at(headers), network = headers.network_offset;
  if (headers.ip_version == 0 || at < network + fixed || at > frame.size()) return std::nullopt;
  const std::span<const std::byte> ip = frame.subspan(network);
  std::optional<IpFields> fields =
      fixed == kIpv4BytesMin ? read_ipv4(ip, at - network) : read_ipv6(ip, at - network - fixed);
  if (fields) fields->payload_at = static_cast<std::uint16_t>(at);
  return fields;
}

bool write_ip_fields(std::span<std::byte> to, const IpFields& fields, const FlowTuple& tuple,
                     std::uint16_t identification) noexcept {
  const std::size_t header = ip_fields_bytes(tuple.version, fields);
  if (tuple.version == 4) {
    if (header + fields.payload_bytes > kIpv4LengthMax) return false;
    write_ipv4(to, fields, tuple, identification);
  } else {
    if (header - kIpv6Bytes + fields.payload_bytes > UINT16_MAX) return false;
    write_ipv6(to, fields, tuple);
  }
  return true;
}

}  // namespace millrace
