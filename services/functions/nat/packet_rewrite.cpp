// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/packet_rewrite.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "services/functions/flow/flow_usual.hpp"
#include "services/functions/flow/same_tuple.hpp"
#include "services/functions/nat/crc32c_change.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/tcp_wire.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using wire_bytes::put16, wire_bytes::u16, wire_bytes::u8;

using ip_protocol::kIcmp, ip_protocol::kIcmpv6, ip_protocol::kSctp;
using ip_protocol::kUdp, ip_protocol::kUdpLite;
constexpr std::size_t kIdentifierAt = 4, kIcmpBytes = 8, kSctpBytes = 12, kSctpChecksumAt = 8;

/// The sum of what has changed, before and after: all that a checksum needs to know.
class Change {
 public:
  void replace(std::span<std::byte> bytes, std::size_t at, std::uint16_t value) noexcept {
    before_ += u16(bytes, at);
    after_ += value;
    put16(bytes, at, value);
  }
  void replace(std::span<std::byte> bytes, std::size_t at,
               std::span<const std::byte> value) noexcept {
    for (std::size_t i = 0; i < value.size(); i += 2) replace(bytes, at + i, u16(value, i));
  }
  void add(const Change& other) noexcept {
    before_ += other.before_;
    after_ += other.after_;
  }
  std::uint16_t of(std::uint16_t checksum) const noexcept {
    return updated_checksum(checksum, folded_sum(before_), folded_sum(after_));
  }

 private:
  std::uint32_t before_ = 0, after_ = 0;
};

bool has_ports(std::uint8_t protocol) noexcept {
  return protocol == kSctp ||
         (transport_checksum_at(protocol) != 0 && protocol != kIcmp && protocol != kIcmpv6);
}

/// What becomes of the ports, or of the identifier.
struct Ports {
  bool source, destination;  ///< it changes
  bool any() const noexcept { return source || destination; }
};

/// One IP packet in the frame, or one that an error quotes.
struct Ip {
  std::span<std::byte> frame;
  const PacketHeaders& headers;

  std::span<std::byte> network() const noexcept { return to_end(headers.network_offset); }
  /// Empty where there is none, as in later fragments.
  std::span<std::byte> transport() const noexcept {
    return headers.transport_offset == 0 ? std::span<std::byte>{}
                                         : to_end(headers.transport_offset);
  }

 private:
  std::span<std::byte> to_end(std::size_t at) const noexcept {
    const std::size_t end = std::min<std::size_t>(frame.size(), headers.payload_end);
    return at > end ? std::span<std::byte>{} : frame.subspan(at, end - at);
  }
};

std::span<const std::byte> address(const Ipv6Bytes& bytes, std::uint8_t version) noexcept {
  return std::as_bytes(std::span(bytes)).first(version == 4 ? 4 : 16);
}

/// Returns what has changed of the addresses. `whole`: with the header checksum of IPv4.
Change replace_addresses(const Ip& ip, const FlowTuple& has, const FlowTuple& gets,
                         Change& whole) noexcept {
  const std::span<std::byte> header = ip.network();
  const bool four = ip.headers.ip_version == 4;
  const std::size_t source_at = four ? ipv4_wire::kSourceAt : ipv6_wire::kSourceAt;
  const std::size_t destination_at = four ? ipv4_wire::kDestinationAt : ipv6_wire::kDestinationAt;
  Change addresses;
  if (!is_same_address(has.source, gets.source)) {
    addresses.replace(header, source_at, address(gets.source, gets.version));
  }
  if (!is_same_address(has.destination, gets.destination)) {
    addresses.replace(header, destination_at, address(gets.destination, gets.version));
  }
  whole.add(addresses);
  if (four) {
    whole.replace(header, ipv4_wire::kChecksumAt,
                  addresses.of(u16(header, ipv4_wire::kChecksumAt)));
  }
  return addresses;
}

Ports changed_ports(const FlowTuple& has, const FlowTuple& gets) noexcept {
  return {has.source_port != gets.source_port, has.destination_port != gets.destination_port};
}

/// Ports or identifier of a transport header that holds them.
Change replace_ports(std::span<std::byte> transport, const FlowTuple& gets, Ports ports) noexcept {
  Change change;
  if (has_ports(gets.protocol)) {
    if (ports.source) change.replace(transport, 0, gets.source_port);
    if (ports.destination) change.replace(transport, 2, gets.destination_port);
  } else if (ports.any()) {
    change.replace(transport, kIdentifierAt,
                   ports.source ? gets.source_port : gets.destination_port);
  }
  return change;
}

/// The checksum of a transport header that holds it. `change`: of what it covers.
void update_checksum(std::span<std::byte> transport, std::uint8_t protocol, bool four,
                     const Change& change, Change& whole) noexcept {
  const std::size_t at = transport_checksum_at(protocol);
  const std::uint16_t before = u16(transport, at);
  if (protocol == kUdp && four && before == 0) return;
  std::uint16_t after = change.of(before);
  if ((protocol == kUdp || protocol == kUdpLite) && after == 0) after = 0xffff;
  whole.replace(transport, at, after);
}

/// How much of a transport header has to be there for a change; `all`: with its checksum.
std::size_t bytes_needed(std::uint8_t protocol, Ports ports, bool all) noexcept {
  std::size_t bytes = 0;
  if (ports.any()) bytes = has_ports(protocol) ? 4 : kIcmpBytes;
  if (!all) return bytes;
  if (protocol == kSctp && ports.any()) return kSctpBytes;
  const std::size_t at = transport_checksum_at(protocol);
  return std::max(bytes, at == 0 ? 0 : at + 2);
}

/// Both ports of a packet that is no TCP, ... do not change; an identifier is one of them.
bool can_change(const FlowTuple& has, const FlowTuple& gets, Ports ports) noexcept {
  if (has.protocol != gets.protocol || has.version != gets.version) return false;
  if (!ports.any() || has_ports(has.protocol)) return true;
  return transport_checksum_at(has.protocol) != 0 && ports.source != ports.destination;
}

/// The addresses are part of the sum of all protocols with a checksum but ICMP of IPv4.
Change covered(std::uint8_t protocol, const Change& addresses, const Change& ports) noexcept {
  Change change = ports;
  if (protocol != kIcmp) change.add(addresses);
  return change;
}

/// The packet that is quoted at `at` of `frame`. Its end may be missing.
PacketHeaders quoted_headers(std::span<const std::byte> frame, std::size_t at,
                             std::uint8_t version) noexcept {
  PacketHeaders headers;
  const FrameBytes bytes{frame.data(), frame.size()};
  if (version == 4) packet_walk::walk_ipv4(bytes, at, headers);
  if (version == 6) packet_walk::walk_ipv6(bytes, at, headers);
  return headers;
}

bool is_error(std::uint8_t protocol, std::uint8_t type) noexcept {
  if (protocol == kIcmpv6) return type >= 1 && type <= 4;
  return protocol == kIcmp && (type == 3 || type == 4 || type == 11 || type == 12);
}

/// The ports or the identifier are those of `wanted`, or not there.
bool ports_match(std::span<const std::byte> transport, const FlowTuple& wanted) noexcept {
  if (has_ports(wanted.protocol)) {
    return transport.size() < 4 || (u16(transport, 0) == wanted.source_port &&
                                    u16(transport, 2) == wanted.destination_port);
  }
  if (transport_checksum_at(wanted.protocol) == 0 || transport.size() < kIcmpBytes) return true;
  const std::uint16_t identifier = u16(transport, kIdentifierAt);
  return identifier == wanted.source_port || identifier == wanted.destination_port;
}

/// What a later fragment does not tell of itself counts as equal.
bool quotes(const Ip& quote, const FlowTuple& wanted) noexcept {
  const PacketHeaders& headers = quote.headers;
  if (headers.ip_version != wanted.version || headers.protocol != wanted.protocol) return false;
  const std::span<const std::byte> header = quote.network();
  const bool four = wanted.version == 4;
  const std::size_t bytes = four ? 4 : 16;
  const std::size_t at = four ? ipv4_wire::kSourceAt : ipv6_wire::kSourceAt;
  return ports_match(quote.transport(), wanted) &&
         std::ranges::equal(header.subspan(at, bytes), address(wanted.source, wanted.version)) &&
         std::ranges::equal(header.subspan(at + bytes, bytes),
                            address(wanted.destination, wanted.version));
}

/// Translates a quote; `whole`: what has changed of it. Checksums are updated where they are.
void rewrite_quote(const Ip& quote, const FlowTuple& has, const FlowTuple& gets,
                   Change& whole) noexcept {
  const Ports ports = changed_ports(has, gets);
  const std::span<std::byte> transport = quote.transport();
  const Change addresses = replace_addresses(quote, has, gets, whole);
  if (transport.size() < bytes_needed(has.protocol, ports, false)) return;
  const Change changed = replace_ports(transport, gets, ports);
  whole.add(changed);
  const std::size_t at = transport_checksum_at(has.protocol);
  if (at == 0 || transport.size() < at + 2) return;
  update_checksum(transport, has.protocol, has.version == 4,
                  covered(has.protocol, addresses, changed), whole);
}

/// SCTP, whole: the CRC32c of header and chunks.
void rewrite_sctp(std::span<std::byte> transport, const FlowTuple& gets, Ports ports) noexcept {
  std::array<std::byte, 4> difference;
  std::ranges::copy(transport.first(4), difference.begin());
  replace_ports(transport, gets, ports);
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] ^= transport[i];
  const std::uint32_t change = crc32c_change(difference, transport.size() - difference.size());
  for (std::size_t i = 0; i < 4; ++i) {  // the only one that is not in network order
    transport[kSctpChecksumAt + i] ^= static_cast<std::byte>(change >> 8 * i);
  }
}

}  // namespace

bool rewrite_packet(std::span<std::byte> frame, const PacketHeaders& headers, const FlowTuple& has,
                    const FlowTuple& gets) noexcept {
  const Ports ports = changed_ports(has, gets);
  if (headers.ip_version == 0 || headers.ip_version != has.version) return false;
  if (!can_change(has, gets, ports)) return false;
  const Ip ip{frame, headers};
  const std::span<std::byte> transport = ip.transport();
  const bool later = headers.fragment && !headers.first_fragment;
  if (!later) {
    if (headers.protocol != has.protocol || headers.transport_offset == 0) return false;
    if (transport.size() < bytes_needed(has.protocol, ports, true)) return false;
    if (has.protocol == kSctp && ports.any() && headers.fragment) return false;
    if (!ports_match(transport, has)) return false;
  }
  Change whole;
  const Change addresses = replace_addresses(ip, has, gets, whole);
  if (later) return true;
  if (has.protocol == kSctp) {
    if (ports.any()) rewrite_sctp(transport, gets, ports);
  } else if (transport_checksum_at(has.protocol) != 0) {
    const Change changed = replace_ports(transport, gets, ports);
    update_checksum(transport, has.protocol, has.version == 4,
                    covered(has.protocol, addresses, changed), whole);
  }
  return true;
}

bool rewrite_usual(std::byte* frame, const FlowTuple& has, const FlowTuple& gets) noexcept {
  constexpr std::size_t kSourceAt = usual_packet::kNetworkAt + ipv4_wire::kSourceAt,
                        kDestinationAt = usual_packet::kNetworkAt + ipv4_wire::kDestinationAt,
                        kChecksumAt = usual_packet::kNetworkAt + ipv4_wire::kChecksumAt,
                        kPortsAt = usual_packet::kTransportAt;
  const auto address = [](const Ipv6Bytes& bytes) {
    return usual_packet::u32(reinterpret_cast<const std::byte*>(bytes.data()));
  };
  const auto put = [frame](std::size_t at, std::uint16_t value) {
    value = __builtin_bswap16(value);
    std::memcpy(frame + at, &value, sizeof value);
  };
  const std::uint32_t source = address(has.source), destination = address(has.destination);
  if (usual_packet::u32(frame + kSourceAt) != source ||
      usual_packet::u32(frame + kDestinationAt) != destination ||
      usual_packet::u16(frame + kPortsAt) != has.source_port ||
      usual_packet::u16(frame + kPortsAt + 2) != has.destination_port) {
    return false;
  }
  std::uint32_t before = 0, after = 0;  // sums of what changes
  const auto change_address = [&](std::size_t at, std::uint32_t from, std::uint32_t to) {
    if (from == to) return;
    before += (from >> 16) + (from & 0xffff);
    after += (to >> 16) + (to & 0xffff);
    put(at, static_cast<std::uint16_t>(to >> 16));
    put(at + 2, static_cast<std::uint16_t>(to));
  };
  change_address(kSourceAt, source, address(gets.source));
  change_address(kDestinationAt, destination, address(gets.destination));
  const auto updated = [&](std::uint16_t checksum) {
    return updated_checksum(checksum, folded_sum(before), folded_sum(after));
  };
  put(kChecksumAt, updated(usual_packet::u16(frame + kChecksumAt)));
  const auto change_port = [&](std::size_t at, std::uint16_t from, std::uint16_t to) {
    if (from == to) return;
    before += from;
    after += to;
    put(at, to);
  };
  change_port(kPortsAt, has.source_port, gets.source_port);
  change_port(kPortsAt + 2, has.destination_port, gets.destination_port);
  const bool is_udp = has.protocol == kUdp;
  const std::size_t at = kPortsAt + (is_udp ? transport_checksum_at(kUdp) : tcp_wire::kChecksumAt);
  const std::uint16_t checksum = usual_packet::u16(frame + at);
  if (is_udp && checksum == 0) return true;
  const std::uint16_t value = updated(checksum);
  put(at, is_udp && value == 0 ? 0xffff : value);
  return true;
}

bool rewrite_icmp_error(std::span<std::byte> frame, const PacketHeaders& headers,
                        const FlowTuple& has, const FlowTuple& gets) noexcept {
  const FlowTuple quoted = reversed(has), becomes = reversed(gets);
  if (headers.ip_version == 0 || headers.ip_version != has.version) return false;
  if (headers.fragment || !can_change(has, gets, changed_ports(has, gets))) return false;
  const Ip ip{frame, headers};
  const std::span<std::byte> message = ip.transport();
  if (message.size() < kIcmpBytes || !is_error(headers.protocol, u8(message, 0))) return false;
  const std::size_t end = headers.transport_offset + message.size();
  const PacketHeaders inner =
      quoted_headers(frame.first(end), headers.transport_offset + kIcmpBytes, has.version);
  const Ip quote{frame.first(end), inner};
  if (inner.ip_version == 0 || quote.network().empty() || !quotes(quote, quoted)) return false;
  Change of_message, whole;
  rewrite_quote(quote, quoted, becomes, of_message);
  const Change addresses = replace_addresses(ip, has, gets, whole);
  update_checksum(message, headers.protocol, has.version == 4,
                  covered(headers.protocol, addresses, of_message), whole);
  return true;
}

}  // namespace millrace
