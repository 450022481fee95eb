// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/version_change.hpp"

#include <algorithm>
#include <optional>

#include "services/functions/nat64/icmp_counterpart.hpp"
#include "services/functions/nat64/ip_fields.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/ip_header_checksum.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/put_headers.hpp"
#include "shared/packet/quoted_headers.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using wire_bytes::put16;
using wire_bytes::u16, wire_bytes::u32, wire_bytes::u8;

using ip_protocol::is_icmp;
using ip_protocol::kIcmp, ip_protocol::kIcmpv6, ip_protocol::kTcp, ip_protocol::kUdp;
using ipv4_wire::kIcmpBytes;
constexpr std::uint8_t kEcho = 8, kEchoReply = 0, kEcho6 = 128, kEchoReply6 = 129;
constexpr std::size_t kIdentifierAt = 4, kTypeBytes = 2;

/// Both protocols are the same, TCP or UDP, or ICMP of either version.
bool fit(const FlowTuple& has, const FlowTuple& gets) noexcept {
  if (has.version + gets.version != 10 || has.version == gets.version) return false;
  if (!is_icmp(has.protocol)) {
    return has.protocol == gets.protocol && (has.protocol == kTcp || has.protocol == kUdp);
  }
  return has.protocol == (has.version == 4 ? kIcmp : kIcmpv6) &&
         gets.protocol == (gets.version == 4 ? kIcmp : kIcmpv6);
}

/// The sum of the pseudo header that the protocol's checksum covers; 0 for ICMP of IPv4.
std::uint16_t pseudo_of(const FlowTuple& tuple, std::uint16_t bytes) noexcept {
  if (tuple.protocol == kIcmp) return 0;
  const auto source = std::as_bytes(std::span(tuple.source));
  const auto destination = std::as_bytes(std::span(tuple.destination));
  if (tuple.version == 6) return pseudo_sum(source, destination, tuple.protocol, bytes);
  return pseudo_sum(u32(source, 0), u32(destination, 0), tuple.protocol, bytes);
}

/// Type and code of the echo of the other version; nothing: it is none.
std::optional<std::uint16_t> echo_counterpart(std::uint16_t type_and_code) noexcept {
  switch (type_and_code) {
    case kEcho << 8:
      return kEcho6 << 8;
    case kEchoReply << 8:
      return kEchoReply6 << 8;
    case kEcho6 << 8:
      return kEcho << 8;
    case kEchoReply6 << 8:
      return kEchoReply << 8;
    default:
      return std::nullopt;
  }
}

/// The identifier of an echo: that of a question is its source port, of an answer its destination
/// port.
std::uint16_t identifier_of(const FlowTuple& tuple, std::uint16_t type_and_code) noexcept {
  const bool asks = type_and_code == kEcho << 8 || type_and_code == kEcho6 << 8;
  return asks ? tuple.source_port : tuple.destination_port;
}

/// Replaces the first eight bytes of a transport header and updates its checksum, if that is there.
/// `payload_bytes`: of the whole packet.
class Transport {
 public:
  Transport(std::span<std::byte> bytes, const FlowTuple& has, const FlowTuple& gets,
            std::uint16_t payload_bytes) noexcept
      : bytes_(bytes), has_(has), gets_(gets), payload_bytes_(payload_bytes) {}

  /// Of a whole packet or a first fragment: its checksum can be made right.
  Changed check(bool fragment) const noexcept {
    const std::size_t at = transport_checksum_at(has_.protocol);
    if (bytes_.size() < std::max(at + 2, kIcmpBytes)) return Changed::kMalformed;
    if (is_icmp(has_.protocol)) {
      return fragment || !echo_counterpart(u16(bytes_, 0)) ? Changed::kUnknown : Changed::kDone;
    }
    if (has_.protocol != kUdp || u16(bytes_, at) != 0) return Changed::kDone;
    if (has_.version == 6) return Changed::kMalformed;  // RFC 8200 8.1
    if (fragment) return Changed::kUnknown;
    const std::size_t bytes = u16(bytes_, 4);
    return bytes < kIcmpBytes || bytes > bytes_.size() ? Changed::kMalformed : Changed::kDone;
  }

  /// `quoted`: the packet may be cut, and a UDP checksum of 0 stays.
  void change(bool quoted) noexcept {
    if (bytes_.size() < (is_icmp(has_.protocol) ? kIcmpBytes : 4)) return;
    const std::uint16_t length = length_covered();
    std::uint32_t before = pseudo_of(has_, length), after = pseudo_of(gets_, length);
    const auto replace = [&](std::size_t at, std::uint16_t value) {
      before += u16(bytes_, at);
      after += value;
      put16(bytes_, at, value);
    };
    if (is_icmp(has_.protocol)) {
      const std::uint16_t type = u16(bytes_, 0);
      replace(0, echo_counterpart(type).value_or(type));
      replace(kIdentifierAt, identifier_of(gets_, u16(bytes_, 0)));
    } else {
      replace(0, gets_.source_port);
      replace(2, gets_.destination_port);
    }
    const std::size_t at = transport_checksum_at(has_.protocol);
    if (bytes_.size() < at + 2) return;
    const std::uint16_t old = u16(bytes_, at);
    const bool udp = has_.protocol == kUdp;
    if (udp && old == 0 && quoted) return;
    std::uint16_t sum = 0;
    if (udp && old == 0) {
      sum = internet_checksum(bytes_.first(u16(bytes_, 4)), pseudo_of(gets_, length));
    } else {
      sum = updated_checksum(old, folded_sum(before), folded_sum(after));
    }
    if (udp && sum == 0) sum = 0xffff;
    put16(bytes_, at, sum);
  }

 private:
  /// UDP says its own; what is the same on both sides does not matter.
  std::uint16_t length_covered() const noexcept {
    if (has_.protocol == kUdp && bytes_.size() >= kIcmpBytes) return u16(bytes_, 4);
    return payload_bytes_;
  }

  std::span<std::byte> bytes_;
  const FlowTuple& has_;
  const FlowTuple& gets_;
  std::uint16_t payload_bytes_;
};

/// Ethernet and tags of the frame, and the EtherType of the other version. Returns their bytes.
std::size_t write_link(std::span<const std::byte> frame, std::size_t network_offset,
                       std::uint8_t version, NewFront& front) noexcept {
  std::ranges::copy(frame.first(network_offset), front.bytes.begin());
  put16(front.bytes, network_offset - kTypeBytes,
        version == 4 ? packet_walk::kTypeIpv4 : packet_walk::kTypeIpv6);
  return network_offset;
}

/// The message of an ICMP error, as both versions have it.
struct Message {
  std::uint8_t type = 0, code = 0;
  std::uint32_t rest = 0;
};

/// Of the other version; nothing: there is none.
std::optional<Message> counterpart(const Message& message, std::uint8_t version,
                                   std::uint16_t quoted_bytes) noexcept {
  const auto message_of = [](const auto& error) -> std::optional<Message> {
    if (!error) return std::nullopt;
    return Message{error->type, error->code, error->rest};
  };
  const auto [type, code, rest] = message;
  return version == 4 ? message_of(icmpv6_counterpart({type, code, rest}, quoted_bytes))
                      : message_of(icmp_counterpart({type, code, rest}));
}

/// How long the quote is by the message's header (RFC 4884 4); 0: to its end.
std::size_t quote_bytes(const Message& message, std::uint8_t version) noexcept {
  if (version == 6) return message.type == 1 || message.type == 3 ? (message.rest >> 24) * 8 : 0;
  return (message.rest >> 16 & 0xff) * 4;
}

/// The quote lies in the message; `change` is that of the error.
struct Quote {
  PacketHeaders headers;
  IpFields fields;
  FlowTuple has, gets;
};

std::optional<Quote> quote_of(std::span<const std::byte> frame, const PacketHeaders& headers,
                              const VersionChange& change) noexcept {
  const auto inner = quoted_headers(frame, headers);
  if (!inner || inner->protocol != change.has.protocol) return std::nullopt;
  const auto fields = read_ip_fields(frame, *inner);
  if (!fields) return std::nullopt;
  return Quote{*inner, *fields, reversed(change.has), reversed(change.gets)};
}

bool is_right(std::span<const std::byte> message, std::span<const std::byte> ip,
              std::uint8_t version) noexcept {
  if (version == 4) return internet_checksum(message) == 0;
  const auto source = ip.subspan<ipv6_wire::kSourceAt, 16>();
  const auto destination = ip.subspan<ipv6_wire::kDestinationAt, 16>();
  return internet_checksum(message, pseudo_sum(source, destination, kIcmpv6,
                                               static_cast<std::uint32_t>(message.size()))) == 0;
}

}  // namespace

Changed change_version(std::span<std::byte> frame, const PacketHeaders& headers,
                       const VersionChange& change, NewFront& front) noexcept {
  if (!fit(change.has, change.gets) || headers.ip_version != change.has.version ||
      headers.protocol != change.has.protocol) {
    return Changed::kUnknown;
  }
  if (!has_good_ip_checksum(frame, headers)) return Changed::kMalformed;
  const auto fields = read_ip_fields(frame, headers);
  if (!fields) return headers.status == ParseStatus::kOk ? Changed::kUnknown : Changed::kMalformed;
  const std::size_t end = std::size_t{fields->payload_at} + fields->payload_bytes;
  if (end > frame.size()) return Changed::kMalformed;
  Transport transport(frame.subspan(fields->payload_at, fields->payload_bytes), change.has,
                      change.gets, fields->payload_bytes);
  const bool later = fields->offset != 0;
  if (later && is_icmp(change.has.protocol)) return Changed::kUnknown;
  if (!later) {
    const Changed can = transport.check(fields->more);
    if (can != Changed::kDone) return can;
  }
  const std::size_t at = write_link(frame, headers.network_offset, change.gets.version, front);
  if (!write_ip_fields(std::span(front.bytes).subspan(at), *fields, change.gets,
                       change.identification)) {
    return Changed::kUnknown;
  }
  if (!later) transport.change(false);
  front.count = static_cast<std::uint16_t>(at + ip_fields_bytes(change.gets.version, *fields));
  front.replaces = fields->payload_at;
  front.end = static_cast<std::uint16_t>(end);
  front.splits = change.gets.version == 6 && fields->splits();
  return Changed::kDone;
}

Changed change_version_of_error(std::span<std::byte> frame, const PacketHeaders& headers,
                                const VersionChange& change, const Ipv6Bytes& reporter,
                                NewFront& front) noexcept {
  constexpr std::size_t kIpv4ErrorMax = 576, kIpv6ErrorMax = 1280;
  const std::uint8_t version = change.has.version, other = change.gets.version;
  if (!fit(change.has, change.gets) || headers.ip_version != version || headers.fragment ||
      headers.protocol != (version == 4 ? kIcmp : kIcmpv6)) {
    return Changed::kUnknown;
  }
  if (!has_good_ip_checksum(frame, headers)) return Changed::kMalformed;
  const auto outer = read_ip_fields(frame, headers);
  const auto quote = quote_of(frame, headers, change);
  if (!outer || !quote) return Changed::kMalformed;
  const std::size_t end = std::size_t{outer->payload_at} + outer->payload_bytes;
  if (end > frame.size() || quote->fields.payload_at > end) return Changed::kMalformed;
  const std::span<std::byte> message = frame.subspan(outer->payload_at, outer->payload_bytes);
  if (!is_right(message, frame.subspan(headers.network_offset), version)) {
    return Changed::kMalformed;
  }
  const Message says{u8(message, 0), u8(message, 1), u32(message, 4)};
  const auto becomes = counterpart(
      says, version,
      static_cast<std::uint16_t>(packet_walk::kIpv4BytesMin + quote->fields.payload_bytes));
  if (!becomes) return Changed::kUnknown;

  const std::size_t ip_at = write_link(frame, headers.network_offset, other, front);
  IpFields fields = *outer;
  fields.has_fragment = false;
  fields.may_split = false;  // it is cut to what every link takes
  const std::size_t icmp_at = ip_at + ip_fields_bytes(other, fields);
  const std::size_t quote_at = icmp_at + kIcmpBytes;
  const std::size_t rest_at = quote_at + ip_fields_bytes(other, quote->fields);
  const std::span<std::byte> to = front.bytes;
  if (!write_ip_fields(to.subspan(quote_at), quote->fields, quote->gets, 0)) {
    return Changed::kUnknown;
  }
  // What the error may quote behind the IP header.
  std::size_t rest = end - quote->fields.payload_at;
  if (const std::size_t said = quote_bytes(says, version); said != 0) {
    const std::size_t header =
        std::size_t{quote->fields.payload_at} - outer->payload_at - kIcmpBytes;
    if (said < header) return Changed::kMalformed;
    rest = std::min(rest, said - header);
  }
  rest = std::min(rest, (other == 4 ? kIpv4ErrorMax : kIpv6ErrorMax) - (rest_at - ip_at));
  fields.payload_bytes = static_cast<std::uint16_t>(rest_at - icmp_at + rest);
  FlowTuple tuple = change.gets;
  tuple.source = reporter;
  tuple.protocol = other == 4 ? kIcmp : kIcmpv6;
  write_ip_fields(to.subspan(ip_at), fields, tuple, change.identification);

  const std::span<std::byte> quoted = frame.subspan(quote->fields.payload_at, rest);
  if (quote->fields.offset == 0) {
    Transport(quoted, quote->has, quote->gets, quote->fields.payload_bytes).change(true);
  }
  put_icmp(to.subspan(icmp_at, rest_at - icmp_at),
           {.type = becomes->type, .code = becomes->code, .rest = becomes->rest},
           pseudo_of(tuple, fields.payload_bytes), quoted);
  front.count = static_cast<std::uint16_t>(rest_at);
  front.replaces = quote->fields.payload_at;
  front.end = static_cast<std::uint16_t>(quote->fields.payload_at + rest);
  return Changed::kDone;
}

}  // namespace millrace
