// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/icmp.hpp"

#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/put_headers.hpp"

namespace millrace {
namespace {

namespace wire = ipv4_wire;

constexpr std::uint8_t kEchoReply = 0, kEchoRequest = 8;
constexpr std::uint8_t kErrorTypeOfService = 0xc0;  // precedence 6, internetwork control

constexpr bool is_group(std::uint32_t address) noexcept { return address >> 28 == 0xe; }
constexpr bool is_broadcast(std::uint32_t address) noexcept { return address == 0xffffffff; }

/// Also covers broadcast, which lies in 240/4.
constexpr bool is_no_host(std::uint32_t address) noexcept {
  return address >> 24 == 0 || address >> 24 == 127 || address >> 28 >= 0xe;
}

/// Known and no error: echo, router discovery, timestamp, information, address mask.
constexpr bool is_query(std::uint8_t type) noexcept {
  return type == kEchoReply || (type >= kEchoRequest && type <= 18 && type != 11 && type != 12);
}

/// The whole ICMP message of a datagram at the start of `packet` that is no fragment, and whose
/// checksums are right. Empty: there is none.
std::span<std::byte> whole_message(std::span<std::byte> packet) noexcept {
  const std::size_t header_bytes = wire::header_bytes(packet);
  if (header_bytes == 0) return {};
  const std::size_t total_bytes = wire::u16(packet, wire::kTotalLengthAt);
  if (total_bytes < header_bytes + wire::kIcmpBytes || total_bytes > packet.size()) return {};
  if ((wire::u16(packet, wire::kFragmentAt) & (wire::kMoreFragments | wire::kFragmentOffset)) != 0)
    return {};
  if (wire::u8(packet, wire::kProtocolAt) != wire::kIcmp) return {};
  const std::span<std::byte> message = packet.subspan(header_bytes, total_bytes - header_bytes);
  if (internet_checksum(packet.first(header_bytes)) != 0) return {};
  return internet_checksum(message) == 0 ? message : std::span<std::byte>{};
}

/// Sets the 16-bit word at `at`, an even offset, and the checksum over it.
void change_word(std::span<std::byte> bytes, std::size_t at, std::uint16_t value,
                 std::size_t checksum_at) noexcept {
  wire::put16(bytes, checksum_at,
              updated_checksum(wire::u16(bytes, checksum_at), wire::u16(bytes, at), value));
  wire::put16(bytes, at, value);
}

}  // namespace

bool may_answer_ipv4(std::span<const std::byte> packet) noexcept {
  const std::size_t header_bytes = wire::header_bytes(packet);
  if (header_bytes == 0) return false;
  if (is_no_host(wire::u32(packet, wire::kSourceAt))) return false;
  const std::uint32_t destination = wire::u32(packet, wire::kDestinationAt);
  if (is_group(destination) || is_broadcast(destination)) return false;
  if ((wire::u16(packet, wire::kFragmentAt) & wire::kFragmentOffset) != 0) return false;
  if (wire::u8(packet, wire::kProtocolAt) != wire::kIcmp) return true;
  return packet.size() > header_bytes && is_query(wire::u8(packet, header_bytes));
}

void write_icmp_error(std::span<std::byte> front, std::span<const std::byte> quote, MacAddress from,
                      MacAddress to, std::uint32_t source, std::uint32_t destination,
                      IcmpError error) noexcept {
  put_ethernet(front, from, to, wire::kTypeIpv4);
  const std::span<std::byte> packet = front.subspan(wire::kEthernetBytes);
  put_ipv4(packet,
           {.type_of_service = kErrorTypeOfService,
            .protocol = wire::kIcmp,
            .source = source,
            .destination = destination},
           wire::kIcmpBytes + quote.size());
  put_icmp(packet.subspan(wire::kHeaderBytesMin, wire::kIcmpBytes),
           {.type = error.type, .code = error.code, .rest = error.rest}, 0, quote);
}

bool echo_reply_in_place(std::span<std::byte> frame) noexcept {
  if (frame.size() < wire::kEthernetBytes ||
      wire::u16(frame, wire::kEtherTypeAt) != wire::kTypeIpv4) {
    return false;
  }
  const std::span<std::byte> packet = frame.subspan(wire::kEthernetBytes);
  const std::span<std::byte> message = whole_message(packet);
  if (message.empty() || wire::u8(message, 0) != kEchoRequest) return false;

  const MacAddress to = wire::mac(frame, 0), from = wire::mac(frame, 6);
  if (is_group(to) || is_group(from)) return false;
  const std::uint32_t source = wire::u32(packet, wire::kSourceAt);
  const std::uint32_t destination = wire::u32(packet, wire::kDestinationAt);
  if (is_no_host(source) || is_group(destination) || is_broadcast(destination)) return false;

  wire::put_mac(frame, 0, from);
  wire::put_mac(frame, 6, to);
  wire::put32(packet, wire::kSourceAt, destination);  // the sum stays
  wire::put32(packet, wire::kDestinationAt, source);
  change_word(packet, wire::kTtlAt, kHopsDefault << 8 | wire::kIcmp, wire::kChecksumAt);
  change_word(message, 0, kEchoReply << 8 | wire::u8(message, 1), wire::kIcmpChecksumAt);
  return true;
}

}  // namespace millrace
