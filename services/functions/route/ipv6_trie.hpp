// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "services/functions/route/ipv6_address.hpp"
#include "services/functions/route/own_filter.hpp"

/// Longest prefix match for IPv6: a trie; its first level takes 24 bits and each further one 8, as
/// that of DPDK's rte_fib6, with nodes of a cache line. An entry is a next hop, or, with
/// kIpv6NodeFlag, a node of 256 entries, of which the next byte of the address chooses one. Most of
/// them equal the one before, so a node holds an entry for each run of equal ones, found by a
/// bitmap and a population count (Degermark et al.: Small Forwarding Tables for Fast Routing
/// Lookups, 1997; Asai, Ohara: Poptrie, 2015). Six runs fit in the line, more are in `runs`.
///
/// 160,147 prefixes of the Internet: 38,096 nodes, 2.4 MB, and 0.8 MB of runs, where plain blocks
/// of 256 entries would take 39 MB. The first level takes 64 MB of addresses, but memory only where
/// prefixes are; its entry 0 is the default route.

namespace millrace {

inline constexpr std::uint32_t kIpv6NodeFlag = 1u << 31;
inline constexpr std::uint32_t kIpv6Table24Entries = 1u << 24;
inline constexpr std::uint32_t kIpv6NodeEntries = 6;          ///< runs that a node has room for
inline constexpr std::uint32_t kIpv6NodeCountMax = 1u << 24;  ///< 1 GB
inline constexpr std::uint32_t kIpv6RunCountMax = 1u << 27;   ///< 512 MB
inline constexpr std::uint32_t kHopDefaultIpv6 = 4;  ///< of ::/0; drop no_route without one

constexpr std::uint32_t count_ones(std::uint64_t bits) noexcept {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(__popcll(bits));
#else
  return static_cast<std::uint32_t>(std::popcount(bits));
#endif
}

/// How a look-up reads a word of a table, unless it is told.
struct PlainLoad {
  template <typename Word>
  constexpr Word operator()(const Word& word) const noexcept {
    return word;
  }
};

struct alignas(64) Ipv6Node {
  std::uint64_t starts[4];                  ///< bit b: a run starts at byte b; that of 0 is set
  std::uint8_t before[4];                   ///< runs that start in the words before
  std::uint32_t more;                       ///< 0, or place of the first run's entry in `runs`
  std::uint32_t entries[kIpv6NodeEntries];  ///< of the runs, unless `more`

  template <typename Load = PlainLoad>
  constexpr std::uint32_t entry(std::uint32_t byte, const std::uint32_t* runs,
                                const Load& load = {}) const noexcept {
    const std::uint64_t up_to_byte = ~std::uint64_t{0} >> (63 - byte % 64);
    const std::uint32_t run = load(before[byte / 64]) +
                              count_ones(load(starts[byte / 64]) & up_to_byte) - std::uint32_t{1};
    const std::uint32_t first = load(more);
    return first == 0 ? load(entries[run]) : load(runs[first + run]);
  }
};
static_assert(sizeof(Ipv6Node) == 64);
static_assert(alignof(Ipv6Node) == 64);
static_assert(offsetof(Ipv6Node, starts) == 0 && offsetof(Ipv6Node, before) == 32);
static_assert(offsetof(Ipv6Node, more) == 36 && offsetof(Ipv6Node, entries) == 40);

/// A cheap view of the IPv6 part of a route image; borrowed.
struct Ipv6Routes {
  const std::uint32_t* table24 = nullptr;  ///< null: the table has no IPv6 route
  const Ipv6Node* nodes = nullptr;
  const std::uint32_t* runs = nullptr;
  const Ipv6Address* own = nullptr;
  const OwnFilter* own_filter = nullptr;  ///< of `own`; never null where they are present
  std::uint32_t own_count = 0;

  constexpr bool present() const noexcept { return table24 != nullptr; }

  /// Next hop of `address`. `load` reads a word.
  template <typename Load = PlainLoad>
  constexpr std::uint32_t look_up(Ipv6Address address, const Load& load = {}) const noexcept {
    std::uint32_t entry = load(table24[address.high >> 40]);
    for (std::uint32_t at = 3; (entry & kIpv6NodeFlag) != 0; ++at) {
      entry = nodes[entry & ~kIpv6NodeFlag].entry(address.byte(at), runs, load);
    }
    return hop_of(entry);
  }

  /// Of an entry that is no node.
  static constexpr std::uint32_t hop_of(std::uint32_t entry) noexcept {
    return entry == 0 ? kHopDefaultIpv6 : entry;
  }
  constexpr bool is_own(Ipv6Address address) const noexcept {
    if (!own_filter->may_have(OwnFilter::hash(address))) return false;
    for (std::uint32_t i = 0; i < own_count; ++i) {
      if (own[i].high == address.high && own[i].low == address.low) return true;
    }
    return false;
  }
};
static_assert(sizeof(Ipv6Routes) == 48);

}  // namespace millrace
