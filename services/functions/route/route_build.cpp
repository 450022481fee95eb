// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_build.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "services/functions/route/ipv6_build.hpp"
#include "services/functions/route/route_image.hpp"
#include "services/functions/route/route_load.hpp"
#include "services/functions/route/route_settings.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

/// Next hops of a table that follows the kernel come later, when counters have their places.
constexpr std::uint32_t kFollowedCounters = 1024;

/// First 24 bits that some longer prefix lies in, ascending: each gets a block.
std::vector<std::uint32_t> blocks_of(std::span<const RibRoute> routes) {
  std::vector<std::uint32_t> blocks;
  for (const RibRoute& route : routes) {
    if (route.length > 24) blocks.push_back(route.prefix >> 8);
  }
  std::ranges::sort(blocks);
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  return blocks;
}

/// Shorter prefixes come first, so that longer ones overwrite them.
void paint(std::span<const RibRoute> routes, std::span<const std::uint32_t> blocks,
           std::uint32_t* table24, std::uint32_t* block_entries) {
  std::size_t at = 0;
  for (; at < routes.size() && routes[at].length <= 24; ++at) {
    const RibRoute& route = routes[at];
    std::fill_n(table24 + (route.prefix >> 8), std::size_t{1} << (24 - route.length), route.hop);
  }
  for (std::uint32_t block = 0; block < blocks.size(); ++block) {
    std::uint32_t& entry = table24[blocks[block]];
    std::fill_n(block_entries + std::size_t{block} * kBlockEntries, kBlockEntries, entry);
    entry = kBlockFlag | block;
  }
  for (; at < routes.size(); ++at) {
    const RibRoute& route = routes[at];
    const std::size_t block = table24[route.prefix >> 8] & ~kBlockFlag;
    std::fill_n(block_entries + block * kBlockEntries + (route.prefix & 255),
                std::size_t{1} << (32 - route.length), route.hop);
  }
}

/// Counts and filters of the image.
RouteHeader header_of(const RouteSet& set, std::size_t block_count, const Ipv6Trie& trie) {
  const auto count = [](std::size_t number) { return static_cast<std::uint32_t>(number); };
  RouteHeader header{};
  header.own_count = count(set.own.size());
  header.port_count = count(set.ports.size());
  header.hop_count = count(set.hops.size());
  header.block_count = count(block_count);
  header.member_count = count(set.members.size());
  for (const std::uint32_t address : set.own) header.own_filter |= own_filter_bit(address);
  if (!set.has_ipv6) return header;
  header.ipv6_own_count = count(set.ipv6_own.size());
  header.ipv6_node_count = count(trie.nodes.size());
  header.ipv6_run_count = count(trie.runs.size());
  for (const Ipv6Address& address : set.ipv6_own) {
    header.ipv6_own_filter |= own_filter_bit(address);
  }
  return header;
}

template <typename T>
void copy_to(std::byte* base, std::uint64_t at, const std::vector<T>& values) {
  std::ranges::copy(values, reinterpret_cast<T*>(base + at));
}

void write_ipv6(const RouteSet& set, const RouteHeader& layout, const Ipv6Trie& trie,
                std::byte* base) {
  copy_to(base, layout.ipv6_nodes_at, trie.nodes);
  copy_to(base, layout.ipv6_runs_at, trie.runs);
  copy_to(base, layout.ipv6_own_at, set.ipv6_own);
  paint_ipv6_table24(set.ipv6_routes, trie,
                     reinterpret_cast<std::uint32_t*>(base + layout.ipv6_table24_at));
}

void write_tables(const RouteSet& set, const RouteHeader& layout, std::byte* base) {
  std::memcpy(base + sizeof(ImageHeader), &layout, sizeof layout);
  copy_to(base, layout.own_at, set.own);
  for (std::size_t port = 0; port < set.ports.size(); ++port) {
    std::ranges::copy(set.ports[port],
                      reinterpret_cast<char*>(base + layout.ports_at + port * kPortNameBytes));
  }
  copy_to(base, layout.hops_at, set.hops);
  copy_to(base, layout.members_at, set.members);
}

}  // namespace

BuildReport build_route_image(const FunctionContext& context) {
  BuildReport report;
  const RouteSettings settings = route_settings(context.function);
  const RouteSet set = load_routes(context, settings, report);
  const std::vector<std::uint32_t> blocks = blocks_of(set.routes);
  if (blocks.size() > kBlockCountMax) {
    throw Error("prefixes longer than /24 in " + std::to_string(blocks.size()) +
                " different /24 networks; at most " + std::to_string(kBlockCountMax));
  }
  const Ipv6Trie trie = build_ipv6_trie(set.ipv6_routes);
  std::uint64_t bytes = 0;
  const RouteHeader layout = lay_out_route_image(header_of(set, blocks.size(), trie), bytes);
  ImageWriter image(context.function.image, kRouteImage, bytes);
  std::byte* base = image.bytes().data();
  write_tables(set, layout, base);
  paint(set.routes, blocks, reinterpret_cast<std::uint32_t*>(base + layout.table24_at),
        reinterpret_cast<std::uint32_t*>(base + layout.blocks_at));
  if (set.has_ipv6) write_ipv6(set, layout, trie, base);
  report.counter_count = static_cast<std::uint32_t>(set.hops.size());
  if (settings.follows_kernel) {
    report.counter_count = std::max(report.counter_count, kFollowedCounters);
  }
  image.publish(report.counter_count);
  return report;
}

}  // namespace millrace
