// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_compute.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "services/functions/route/route_text.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kEthernetBytes = 14;
constexpr std::uint32_t kIpv4Bytes = 20;
constexpr std::size_t kChunk = 64;  ///< packets between the prefetch of an entry and its use

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

bool may_be_own(std::uint32_t address, const RouteTable& table) noexcept {
  return (table.own_filter & own_filter_bit(address)) != 0;
}
bool is_own(std::uint32_t address, const RouteTable& table) noexcept {
  return may_be_own(address, table) && std::ranges::find(table.own, address) != table.own.end();
}

/// Ones' complement sum of `bytes` (even) bytes in memory order (RFC 1071); 0xffff: a header that
/// holds its own checksum is good.
std::uint32_t sum_of(const std::byte* at, std::uint32_t bytes) noexcept {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < bytes; i += 2) sum += load<std::uint16_t>(at + i);
  sum = (sum & 0xffff) + (sum >> 16);
  return (sum & 0xffff) + (sum >> 16);
}

/// Whether that sum is 0xffff for the 20 bytes of a header without options: as one large number
/// they are a multiple of 0xffff, because 2^16, and so 2^64, leaves 1. Never all zero: the version
/// is there.
bool sums_up(std::uint64_t first, std::uint64_t second, std::uint32_t third) noexcept {
  constexpr std::uint64_t kInverse = 0xfffefffe'fffeffff;  // of 0xffff, modulo 2^64
  static_assert(kInverse * 0xffff == 1);
  std::uint64_t sum = first + second;
  sum += sum < second ? 1 : 0;
  sum += third;
  sum += sum < third ? 1 : 0;
  return sum * kInverse <= ~std::uint64_t{0} / 0xffff;
}

/// Whether addresses that begin with this byte need a closer look: never_routed(), or 255.
constexpr std::array<std::uint8_t, 256> kOddFirstByte = [] {
  std::array<std::uint8_t, 256> odd{};
  for (std::uint32_t first = 0; first < 256; ++first) {
    odd[first] = never_routed(first << 24) || first == 255 ? 1 : 0;
  }
  return odd;
}();

constexpr std::uint32_t drop(Reason why) noexcept {
  return kRouteDrop | static_cast<std::uint32_t>(why);
}

/// What most packets are: plain IPv4 without options in which nothing is wrong. Then `word` and
/// `address` are set. Each test is one of route_check(); the branch is taken once for all.
bool ordinary(const std::byte* frame, std::uint32_t length, const RouteTable& table,
              std::uint32_t& word, std::uint32_t& address) noexcept {
  if (length < kEthernetBytes + kIpv4Bytes) return false;
  const std::byte* ip = frame + kEthernetBytes;
  const auto first = load<std::uint64_t>(ip);
  const auto second = load<std::uint64_t>(ip + 8);
  const auto third = load<std::uint32_t>(ip + 16);
  const std::uint32_t total = __builtin_bswap16(static_cast<std::uint16_t>(first >> 16));
  address = __builtin_bswap32(third);
  word = (second & 0xff) <= 1 ? kRouteTtlExpired : 0;
  const bool is_plain = (load<std::uint32_t>(frame + 12) & 0xffffff) == 0x450008;
  const bool is_whole = total - kIpv4Bytes <= length - kEthernetBytes - kIpv4Bytes;
  const bool sum_is_good = sums_up(first, second, third);
  const bool to_a_group = group_address(frame);
  const bool from_us = may_be_own(load_be32(ip + 12), table);
  const bool has_odd_address =
      (kOddFirstByte[third & 0xff] | kOddFirstByte[second >> 32 & 0xff]) != 0;
  return is_plain & is_whole & !has_odd_address & sum_is_good & !to_a_group & !from_us;
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

void route_compute(const RouteTable& table, const Batch& batch,
                   std::span<const std::uint16_t> packets,
                   std::span<std::uint32_t> results) noexcept {
  std::array<std::uint32_t, kChunk> address;
  while (!packets.empty()) {
    const std::span<const std::uint16_t> chunk = packets.first(std::min(packets.size(), kChunk));
    packets = packets.subspan(chunk.size());
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const std::uint16_t packet = chunk[i];
      const std::span<const std::byte> frame = batch.bytes(packet);
      std::uint32_t word = 0;
      if (!ordinary(frame.data(), batch.length[packet], table, word, address[i])) {
        word = route_check(frame, batch.wire_length[packet], table);
        // A dropped packet is looked up too, as 0.0.0.0, instead of a branch for all.
        address[i] = (word & kRouteDrop) != 0 ? 0 : load_be32(&frame[kEthernetBytes + 16]);
      }
      results[packet] = word;
      __builtin_prefetch(&table.table24[address[i] >> 8]);
    }
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      std::uint32_t& word = results[chunk[i]];
      const std::uint32_t hop = table.look_up(address[i]);
      word |= (word & kRouteDrop) != 0 ? 0 : hop;
    }
  }
}

}  // namespace millrace
