// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/ipv6_build.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kRootBits = 24;
constexpr std::uint32_t kNodeBits = 8;

using Entries = std::array<std::uint32_t, 256>;  ///< of a node, one for each byte

std::uint32_t root_of(const Ipv6Route& route) {
  return static_cast<std::uint32_t>(route.prefix.high >> (64 - kRootBits));
}

/// Longest run of routes at the front for which `same` holds.
template <typename Same>
std::span<const Ipv6Route> leading(std::span<const Ipv6Route> routes, Same same) {
  const auto end = std::ranges::find_if_not(routes, same);
  return routes.first(static_cast<std::size_t>(end - routes.begin()));
}

class Builder {
 public:
  explicit Builder(Ipv6Trie& trie) : trie_(trie) {}

  /// The node of what follows `depth` bits, which all `routes` share and go beyond. `inherited`:
  /// next hop of the longest prefix up to there. Depth is at most 120: so deep it calls itself.
  std::uint32_t node_of(std::span<const Ipv6Route> routes, std::uint32_t depth,
                        std::uint32_t inherited) {
    if (trie_.nodes.size() == kIpv6NodeCountMax) {
      throw Error("IPv6 prefixes that need more than " + std::to_string(kIpv6NodeCountMax) +
                  " nodes of 256 entries");
    }
    const auto number = static_cast<std::uint32_t>(trie_.nodes.size());
    trie_.nodes.emplace_back();
    Entries entries;
    entries.fill(inherited);
    // In order a prefix comes before all that lie in it, which overwrite it.
    const std::uint32_t end = depth + kNodeBits;
    for (const Ipv6Route& route : routes) {
      if (route.length > end) continue;
      std::fill_n(entries.begin() + route.prefix.byte(depth / 8), 1u << (end - route.length),
                  route.hop);
    }
    while (!routes.empty()) {
      const std::uint32_t byte = routes.front().prefix.byte(depth / 8);
      auto group = leading(
          routes, [&](const Ipv6Route& route) { return route.prefix.byte(depth / 8) == byte; });
      routes = routes.subspan(group.size());
      const auto here = leading(group, [&](const Ipv6Route& route) { return route.length <= end; });
      group = group.subspan(here.size());
      if (!group.empty()) {
        entries[byte] = kIpv6NodeFlag | node_of(group, end, entries[byte]);
      }
    }
    pack(entries, trie_.nodes[number]);
    return number;
  }

 private:
  void pack(const Entries& entries, Ipv6Node& node) {
    std::vector<std::uint32_t> runs;
    for (std::uint32_t byte = 0; byte < entries.size(); ++byte) {
      if (byte % 64 == 0) node.before[byte / 64] = static_cast<std::uint8_t>(runs.size());
      if (byte != 0 && entries[byte] == entries[byte - 1]) continue;
      node.starts[byte / 64] |= std::uint64_t{1} << byte % 64;
      runs.push_back(entries[byte]);
    }
    if (runs.size() <= kIpv6NodeEntries) {
      std::ranges::copy(runs, node.entries);
      return;
    }
    if (trie_.runs.size() + runs.size() > kIpv6RunCountMax) {
      throw Error("IPv6 prefixes that need more than " + std::to_string(kIpv6RunCountMax) +
                  " entries in their nodes");
    }
    node.more = static_cast<std::uint32_t>(trie_.runs.size());
    trie_.runs.insert(trie_.runs.end(), runs.begin(), runs.end());
  }

  Ipv6Trie& trie_;
};

}  // namespace

Ipv6Trie build_ipv6_trie(std::span<const Ipv6Route> routes) {
  Ipv6Trie trie;
  Builder builder(trie);
  std::vector<Ipv6Route> around;  ///< prefixes up to /24 that hold each other, the last one longest
  while (!routes.empty()) {
    const Ipv6Route& first = routes.front();
    while (!around.empty() &&
           (first.prefix & ipv6_mask(around.back().length)) != around.back().prefix) {
      around.pop_back();
    }
    if (first.length <= kRootBits) {
      around.push_back(first);
      routes = routes.subspan(1);
      continue;
    }
    const std::uint32_t root = root_of(first);
    const auto group =
        leading(routes, [&](const Ipv6Route& route) { return root_of(route) == root; });
    routes = routes.subspan(group.size());
    trie.roots.emplace_back(
        root, builder.node_of(group, kRootBits, around.empty() ? 0 : around.back().hop));
  }
  return trie;
}

void paint_ipv6_table24(std::span<const Ipv6Route> routes, const Ipv6Trie& trie,
                        std::uint32_t* table24) {
  for (const Ipv6Route& route : routes) {
    if (route.length > kRootBits) continue;
    std::fill_n(table24 + root_of(route), std::size_t{1} << (kRootBits - route.length), route.hop);
  }
  for (const auto& [root, node] : trie.roots) table24[root] = kIpv6NodeFlag | node;
}

}  // namespace millrace
