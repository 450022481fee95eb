// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/ipv6_compute.hpp"

#include <bit>
#include <cstring>

#include "services/functions/route/route_check.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kBytesRead = 14 + 40;  ///< of a frame

/// Network order in memory.
template <typename Number>
Number load(const std::byte* at) noexcept {
  Number number = 0;
  std::memcpy(&number, at, sizeof number);
  if constexpr (sizeof number == 2) return __builtin_bswap16(number);
  if constexpr (sizeof number == 8) return __builtin_bswap64(number);
}

Ipv6Address load_address(const std::byte* at) noexcept {
  return {load<std::uint64_t>(at), load<std::uint64_t>(at + 8)};
}

/// Where the first byte is 0x00, 0xfe or 0xff, never_routed() has to be asked.
bool odd_first_byte(Ipv6Address address) noexcept {
  return static_cast<std::uint8_t>((address.high >> 56) + 2) <= 2;
}

/// Nothing in the header asks for a closer look. The frame has kBytesRead.
bool is_ordinary(const std::byte* frame, std::uint32_t length, Ipv6Address source,
                 Ipv6Address destination, const Ipv6Routes& routes) noexcept {
  const std::uint32_t payload = load<std::uint16_t>(frame + 18);
  const bool to_group = (std::to_integer<std::uint32_t>(frame[0]) & 1) != 0;
  const bool version_6 = std::to_integer<std::uint32_t>(frame[14]) >> 4 == 6;
  const bool maybe_own = routes.own_filter->may_have(OwnFilter::hash(source));
  // Without a payload the next header matters.
  return version_6 & (payload != 0) & (payload <= length - kBytesRead) & !to_group & !maybe_own &
         !odd_first_byte(source) & !odd_first_byte(destination);
}

/// Packets on their way down the trie, by their place in `packets`.
struct Descent {
  std::uint32_t count = 0;  ///< of those that have not reached a next hop
  std::uint8_t place[kFramesMax];
  Ipv6Address address[kFramesMax];
  std::uint32_t entry[kFramesMax];
  std::uint32_t word[kFramesMax];
};

/// Checks the packets, writes the words of those to drop, and prefetches the entries of the others.
std::uint64_t check(const RouteTable& table, const Batch& batch,
                    std::span<const std::uint16_t> packets, std::uint64_t which,
                    const Frames& frames, Descent& descent,
                    std::span<std::uint32_t> results) noexcept {
  std::uint64_t routed = 0;
  for (std::uint64_t left = which; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    const std::uint16_t packet = packets[i];
    const std::byte* frame = frames[i];
    const std::uint32_t length = batch.length[packet];
    std::uint32_t word = 0;
    if (length >= kBytesRead) {
      const Ipv6Address source = load_address(frame + 22);
      descent.address[i] = load_address(frame + 38);
      if (is_ordinary(frame, length, source, descent.address[i], table.ipv6)) [[likely]] {
        word = kRouteIpv6;
        if (std::to_integer<std::uint32_t>(frame[21]) <= 1) word |= kRouteTtlExpired;
      }
    }
    if (word == 0) word = route_check(batch.bytes(packet), batch.wire_length(packet), table);
    if ((word & kRouteDrop) != 0) {
      results[packet] = word;
      continue;
    }
    descent.word[i] = word;
    descent.place[descent.count++] = static_cast<std::uint8_t>(i);
    routed |= std::uint64_t{1} << i;
    __builtin_prefetch(table.ipv6.table24 + (descent.address[i].high >> 40));
  }
  return routed;
}

/// One level: sets the entry of each packet on its way by `entry_of(place)`, and keeps those with a
/// node as entry. No branch: where the longest prefix ends follows no pattern.
template <typename EntryOf>
void descend(const Ipv6Routes& routes, Descent& descent, EntryOf entry_of) noexcept {
  std::uint32_t kept = 0;
  for (std::uint32_t at = 0; at < descent.count; ++at) {
    const std::uint8_t i = descent.place[at];
    const std::uint32_t entry = entry_of(i);
    descent.entry[i] = entry;
    descent.place[kept] = i;
    const std::uint32_t is_node = entry >> 31;
    kept += is_node;
    __builtin_prefetch(routes.nodes + (entry & ~kIpv6NodeFlag & -is_node));
  }
  descent.count = kept;
}

}  // namespace

void compute_ipv6(const RouteTable& table, const Batch& batch,
                  std::span<const std::uint16_t> packets, std::uint64_t which, const Frames& frames,
                  std::span<std::uint32_t> results) noexcept {
  static_assert(kIpv6NodeFlag == 1u << 31);
  const Ipv6Routes& routes = table.ipv6;
  Descent descent;
  const std::uint64_t routed = check(table, batch, packets, which, frames, descent, results);
  descend(routes, descent,
          [&](std::uint8_t i) noexcept { return routes.table24[descent.address[i].high >> 40]; });
  for (std::uint32_t byte = 3; descent.count != 0; ++byte) {
    descend(routes, descent, [&](std::uint8_t i) noexcept {
      const Ipv6Node& node = routes.nodes[descent.entry[i] & ~kIpv6NodeFlag];
      return node.entry(descent.address[i].byte(byte), routes.runs);
    });
  }
  for (std::uint64_t left = routed; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    results[packets[i]] = descent.word[i] | Ipv6Routes::hop_of(descent.entry[i]);
  }
}

}  // namespace millrace
