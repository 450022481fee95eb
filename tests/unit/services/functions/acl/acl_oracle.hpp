// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "services/functions/acl/acl_text.hpp"
#include "tests/unit/shared/base/packet_oracle.hpp"

/// `acl` by trying every rule in turn. Parses by the oracle of packet_test.

namespace millrace::oracle {

/// What a packet is compared by, one number a field.
struct AclPacket {
  bool ip = false;
  bool ip_type = false;  ///< an EtherType of IP
  bool hidden = false;   ///< what a filter asks for is hidden: it is dropped
  unsigned version = 0, protocol = 0, flags = 0;
  bool has_ports = false;
  unsigned source_port = 0, destination_port = 0;
  std::vector<unsigned> source, destination;  ///< bytes
  int vlan = -1;                              ///< of the outer tag; -1: none
  unsigned dscp = 0;
  bool fragment = false, later_fragment = false;
  int icmp_type = -1, icmp_code = -1;  ///< -1: not ICMP, or not there
  int state = -1, port_in = -1;        ///< of those that keys may say; -1: not said
};

inline bool in_prefix(const std::vector<unsigned>& address, const std::uint8_t* prefix,
                      unsigned length) {
  for (unsigned bit = 0; bit < length; ++bit) {
    const unsigned shift = 7 - bit % 8;
    if ((address[bit / 8] >> shift & 1) != (prefix[bit / 8] >> shift & 1u)) return false;
  }
  return true;
}

/// VLAN, ICMP, DSCP and what the marks of a rule ask for.
inline bool matches_conditions(const AclRule& rule, const AclPacket& packet) {
  if (rule.vlan_low == 65535 && packet.vlan != -1) return false;
  if (rule.vlan_low != 65535 && (rule.vlan_low != 0 || rule.vlan_high != 65535)) {
    if (packet.vlan < rule.vlan_low || packet.vlan > rule.vlan_high) return false;
  }
  const bool asks_for_icmp = (rule.marks_mask & 64) != 0;
  if (asks_for_icmp && packet.icmp_type < 0) return false;
  if (asks_for_icmp) {
    const int both = packet.icmp_type * 256 + packet.icmp_code;
    if (both < rule.icmp_low || both > rule.icmp_high) return false;
  }
  if ((rule.marks_mask & 63) != 0 && (rule.marks & 63) != packet.dscp) return false;
  const auto refused = [&](unsigned bit) { return (rule.marks_mask >> bit & 1) != 0; };
  if (refused(packet.later_fragment ? 10 : packet.fragment ? 9 : 8)) return false;
  if (packet.state >= 0 && refused(11 + static_cast<unsigned>(packet.state))) return false;
  if (packet.port_in >= 0) return !refused(16 + static_cast<unsigned>(packet.port_in));
  return rule.marks_mask >> 16 == 0;
}

inline bool matches(const AclRule& rule, const AclPacket& packet) {
  if ((rule.families & (packet.version == 4 ? 1 : 2)) == 0) return false;
  if (!in_prefix(packet.source, rule.source, rule.source_length)) return false;
  if (!in_prefix(packet.destination, rule.destination, rule.destination_length)) return false;
  if ((packet.protocol & rule.protocol_mask) != rule.protocol) return false;
  if (rule.flags_mask != 0 && !packet.has_ports) return false;
  if ((packet.flags & rule.flags_mask) != rule.flags) return false;
  if (!matches_conditions(rule, packet)) return false;
  const auto in_range = [&](unsigned port, unsigned low, unsigned high) {
    if (low == 0 && high == 65535) return true;
    return packet.has_ports && port >= low && port <= high;
  };
  return in_range(packet.source_port, rule.source_port_low, rule.source_port_high) &&
         in_range(packet.destination_port, rule.destination_port_low, rule.destination_port_high);
}

inline std::uint32_t acl_word(const AclPacket& packet, std::span<const AclNamedRule> rules) {
  if (!packet.ip) return packet.ip_type ? 0 : UINT32_MAX;
  if (packet.hidden) return UINT32_MAX - 2;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (matches(rules[i].rule, packet)) return static_cast<std::uint32_t>(i) + 1;
  }
  return 0;
}

/// RFC 1858 and RFC 3128 as they stand: FO is the offset, TMIN what a first fragment has to hold.
/// RFC 7112: it holds the whole chain of headers, which we follow for eight.
inline bool hidden(const PacketHeaders& headers, const AclPacket& packet, bool with_ports) {
  const unsigned fo = headers.fragment_offset;
  if (fo > 0) return packet.protocol == 6 && fo == 1;
  if (headers.transport_offset == 0) {
    return packet.version == 6 || (headers.fragment && with_ports);
  }
  const unsigned tmin = !with_ports ? 0 : packet.protocol == 6 ? 16 : 8;
  const int there = headers.payload_end - headers.transport_offset;
  return headers.fragment && there < static_cast<int>(tmin);
}

inline AclPacket acl_packet(std::span<const std::byte> frame) {
  const PacketHeaders headers = parse(frame);
  AclPacket packet;
  packet.ip_type = headers.ether_type == 0x0800 || headers.ether_type == 0x86dd;
  packet.ip = headers.ip_version != 0;
  if (!packet.ip) return packet;
  const auto byte = [&](std::size_t at) { return std::to_integer<unsigned>(frame[at]); };
  packet.version = headers.ip_version;
  packet.protocol = headers.protocol;
  const std::size_t bytes = packet.version == 4 ? 4 : 16;
  const std::size_t at = headers.network_offset + (packet.version == 4 ? 12u : 8u);
  for (std::size_t i = 0; i < bytes; ++i) packet.source.push_back(byte(at + i));
  for (std::size_t i = 0; i < bytes; ++i) packet.destination.push_back(byte(at + bytes + i));
  if (headers.vlan_tags > 0) packet.vlan = static_cast<int>((byte(14) * 256 + byte(15)) % 4096);
  const std::size_t network = headers.network_offset;
  const unsigned dscp_and_ecn =
      packet.version == 4 ? byte(network + 1) : byte(network) % 16 * 16 + byte(network + 1) / 16;
  packet.dscp = dscp_and_ecn / 4;
  packet.fragment = headers.fragment;
  packet.later_fragment = headers.fragment && !headers.first_fragment;
  bool known = false;
  for (const unsigned with_ports : {6u, 17u, 33u, 132u, 136u}) {
    known = known || packet.protocol == with_ports;
  }
  const std::size_t transport = headers.transport_offset;
  packet.hidden = hidden(headers, packet, known);
  const bool icmp = packet.protocol == 1 || packet.protocol == 58;
  if (icmp && transport != 0 && transport + 2 <= headers.payload_end) {
    packet.icmp_type = static_cast<int>(byte(transport));
    packet.icmp_code = static_cast<int>(byte(transport + 1));
  }
  if (!known || transport == 0 || transport + 4 > headers.payload_end) return packet;
  packet.has_ports = true;
  packet.source_port = byte(transport) * 256 + byte(transport + 1);
  packet.destination_port = byte(transport + 2) * 256 + byte(transport + 3);
  if (packet.protocol == 6 && transport + 14 <= headers.payload_end) {
    packet.flags = byte(transport + 13);
  }
  return packet;
}

/// The same of a key, for look-ups without frames.
inline AclPacket acl_packet(const AclKey& key) {
  AclPacket packet{.ip = true,
                   .ip_type = true,
                   .version = key.version,
                   .protocol = key.protocol,
                   .flags = key.flags,
                   .has_ports = key.has_ports != 0,
                   .source_port = __builtin_bswap16(key.source_port),
                   .destination_port = __builtin_bswap16(key.destination_port),
                   .source = {},
                   .destination = {}};
  const unsigned marks = __builtin_bswap32(key.marks), vlan = __builtin_bswap16(key.vlan);
  packet.vlan = vlan == 65535 ? -1 : static_cast<int>(vlan);
  packet.dscp = marks % 64;
  packet.fragment = (marks >> 9 & 3) != 0;
  packet.later_fragment = (marks >> 10 & 1) != 0;
  if ((marks & 64) == 0) {
    packet.icmp_type = __builtin_bswap16(key.icmp) / 256;
    packet.icmp_code = __builtin_bswap16(key.icmp) % 256;
  }
  for (int state = 0; state < 5; ++state) {
    if ((marks >> (11 + state) & 1) != 0) packet.state = state;
  }
  for (int port = 0; port < 16; ++port) {
    if (marks >> 16 == 1u << port) packet.port_in = port;
  }
  const auto* const source = reinterpret_cast<const std::uint8_t*>(key.source);
  const auto* const destination = reinterpret_cast<const std::uint8_t*>(key.destination);
  const std::size_t bytes = key.version == 4 ? 4 : 16;
  packet.source.assign(source, source + bytes);
  packet.destination.assign(destination, destination + bytes);
  return packet;
}

}  // namespace millrace::oracle
