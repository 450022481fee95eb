// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_check.hpp"

#include <algorithm>
#include <cstring>

#include "services/functions/route/route_text.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kEthernetBytes = 14;
constexpr std::uint32_t kIpv4Bytes = 20;

template <typename T>
T load(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::uint32_t load_be16(const std::byte* at) noexcept {
  return __builtin_bswap16(load<std::uint16_t>(at));
}
std::uint32_t load_be32(const std::byte* at) noexcept {
  return __builtin_bswap32(load<std::uint32_t>(at));
}

bool group_address(const std::byte* mac) noexcept { return (mac[0] & std::byte{1}) != std::byte{}; }

bool is_own(std::uint32_t address, const RouteTable& table) noexcept {
  return (table.own_filter & own_filter_bit(address)) != 0 &&
         std::ranges::find(table.own, address) != table.own.end();
}

/// Ones' complement sum of `bytes` (even) bytes in memory order (RFC 1071); 0xffff: a header that
/// holds its own checksum is good.
std::uint32_t sum_of(const std::byte* at, std::uint32_t bytes) noexcept {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < bytes; i += 2) sum += load<std::uint16_t>(at + i);
  sum = (sum & 0xffff) + (sum >> 16);
  return (sum & 0xffff) + (sum >> 16);
}

constexpr std::uint32_t drop(Reason why) noexcept {
  return kRouteDrop | static_cast<std::uint32_t>(why);
}

}  // namespace

std::uint32_t route_check(std::span<const std::byte> frame, std::uint32_t wire_length,
                          const RouteTable& table) noexcept {
  const std::uint32_t ends_early =
      drop(wire_length > frame.size() ? Reason::kTruncated : Reason::kMalformed);
  if (frame.size() < kEthernetBytes) return ends_early;
  switch (load_be16(&frame[12])) {
    case 0x0800:
      break;
    case 0x0806:
    case 0x8035:
    case 0x8100:
    case 0x88a8:
    case 0x9100:
      return drop(Reason::kNotForwarded);
    default:
      return drop(Reason::kNotIpv4);
  }
  const std::span<const std::byte> packet = frame.subspan(kEthernetBytes);
  if (packet.size() < kIpv4Bytes) return ends_early;
  const auto version_and_length = static_cast<std::uint32_t>(packet[0]);
  const std::uint32_t header = (version_and_length & 15) * 4;
  if (version_and_length >> 4 != 4 || header < kIpv4Bytes) return drop(Reason::kMalformed);
  if (packet.size() < header) return ends_early;
  if (sum_of(packet.data(), header) != 0xffff) return drop(Reason::kBadChecksum);
  const std::uint32_t total = load_be16(&packet[2]);
  if (total > packet.size()) return drop(Reason::kTruncated);
  if (total < header) return drop(Reason::kMalformed);
  const std::uint32_t source = load_be32(&packet[12]);
  if (group_address(frame.data()) || never_routed(source) || never_routed(load_be32(&packet[16])) ||
      is_own(source, table)) {
    return drop(Reason::kNotUnicast);
  }
  return packet[8] <= std::byte{1} ? kRouteTtlExpired : 0;
}

}  // namespace millrace
