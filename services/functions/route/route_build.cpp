// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_build.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
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
/// Room of a live image for what comes, at least: 21 MB with IPv6.
constexpr std::uint32_t kLiveHops = 4096;
constexpr std::uint32_t kLiveMembers = 8192;
constexpr std::uint32_t kLiveBlocks = 8192;
constexpr std::uint32_t kLiveNodes = 65'536;
constexpr std::uint32_t kLiveChunks = 8192;
/// Changes that a device may be behind before its copy is made anew, 8 MB; a /8 is 65,536.
constexpr std::uint32_t kLiveRecords = 1u << 20;

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

std::uint32_t count_of(std::size_t number) { return static_cast<std::uint32_t>(number); }

/// Counts of the image.
RouteHeader header_of(const RouteSet& set, std::size_t block_count, const Ipv6Trie& trie) {
  RouteHeader header{};
  header.own_count = count_of(set.own.size());
  header.port_count = count_of(set.ports.size());
  header.hop_count = count_of(set.hops.size());
  header.block_count = count_of(block_count);
  header.member_count = count_of(set.members.size());
  header.fixed_count = count_of(set.fixed.size());
  if (!set.has_ipv6) return header;
  header.ipv6_own_count = count_of(set.ipv6_own.size());
  header.ipv6_node_count = count_of(trie.nodes.size());
  header.ipv6_run_count = header.ipv6_first_chunk = count_of(trie.runs.size());
  return header;
}

/// With room for what comes.
RouteHeader live_header(RouteHeader header, bool on_device) {
  const auto more = [](std::uint32_t count, std::uint32_t least, std::uint32_t limit) {
    return std::min(count + std::max(least, count / 2), limit);
  };
  header.hop_count = more(header.hop_count, kLiveHops, kHopFirst + kHopCountMax);
  header.member_count = more(header.member_count, kLiveMembers, kMemberCountMax);
  header.block_count = more(header.block_count, kLiveBlocks, kBlockCountMax);
  header.journal_count = on_device ? kLiveRecords : 0;
  if (header.ipv6_run_count == 0) return header;
  header.ipv6_node_count = more(header.ipv6_node_count, kLiveNodes, kIpv6NodeCountMax);
  header.ipv6_first_chunk = (header.ipv6_run_count + kBlockEntries - 1) & ~(kBlockEntries - 1);
  header.ipv6_run_count =
      std::min(header.ipv6_first_chunk + kLiveChunks * kBlockEntries, kIpv6RunCountMax);
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
  copy_to(base, kOwnFiltersAt, std::vector{own_filter_of(set.own), own_filter_of(set.ipv6_own)});
  copy_to(base, layout.own_at, set.own);
  for (std::size_t port = 0; port < set.ports.size(); ++port) {
    std::ranges::copy(set.ports[port],
                      reinterpret_cast<char*>(base + layout.ports_at + port * kPortNameBytes));
  }
  copy_to(base, layout.hops_at, set.hops);
  copy_to(base, layout.members_at, set.members);
  copy_to(base, layout.fixed_at, set.fixed);
}

/// The default routes stand in hops of their own, or, of a live image, are the live words' to say.
void write_defaults(const RouteSet& set, const RouteHeader& layout, bool live, std::byte* base) {
  if (live) {
    const RouteLive words{.default_hop = set.default_hop,
                          .ipv6_default_hop = set.ipv6_default_hop,
                          .hops_used = count_of(set.hops.size()),
                          .wants_rebuild = 0,
                          .route_count = set.routes.size() + set.ipv6_routes.size(),
                          .change_count = 0,
                          .dump_count = 1,
                          .lost_count = 0,
                          .spare = {},
                          .journal_end = 0,
                          .writer_count = 0,
                          .spare_too = {}};
    std::memcpy(base + kRouteLiveAt, &words, sizeof words);
    return;
  }
  auto* const hops = reinterpret_cast<RouteHop*>(base + layout.hops_at);
  hops[kHopDefault] = set.hops[set.default_hop];
  hops[kHopDefaultIpv6] = set.hops[set.ipv6_default_hop];
}

enum class Kind : std::uint8_t { kStill, kLive, kLiveOnDevice };

/// The image in memory, complete but for its header.
std::unique_ptr<ImageWriter> write_image(const std::string& path, const RouteSet& set,
                                         std::span<const std::uint32_t> blocks,
                                         const Ipv6Trie& trie, Kind kind) {
  std::uint64_t bytes = 0;
  const bool live = kind != Kind::kStill;
  const RouteHeader counts = header_of(set, blocks.size(), trie);
  const RouteHeader layout =
      lay_out_route_image(live ? live_header(counts, kind == Kind::kLiveOnDevice) : counts, bytes);
  auto image = std::make_unique<ImageWriter>(path, kRouteImage, bytes);
  std::byte* base = image->bytes().data();
  write_tables(set, layout, base);
  write_defaults(set, layout, live, base);
  paint(set.routes, blocks, reinterpret_cast<std::uint32_t*>(base + layout.table24_at),
        reinterpret_cast<std::uint32_t*>(base + layout.blocks_at));
  if (set.has_ipv6) write_ipv6(set, layout, trie, base);
  return image;
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
  report.counter_count = count_of(set.hops.size());
  if (settings.follows_kernel) {
    report.counter_count = std::max(report.counter_count, kFollowedCounters);
  }
  const std::string& path = context.function.image;
  const Kind live = context.on_device ? Kind::kLiveOnDevice : Kind::kLive;
  if (settings.follows_kernel &&
      write_image(path, set, blocks, trie, live)->publish_live(report.counter_count)) {
    return report;
  }
  write_image(path, set, blocks, trie, Kind::kStill)->publish(report.counter_count);
  return report;
}

}  // namespace millrace
