// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_build.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "services/functions/route/route_image.hpp"
#include "services/functions/route/route_load.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

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

void write_tables(const RouteSet& set, const RouteHeader& layout, std::byte* base) {
  RouteHeader header = layout;
  for (const std::uint32_t address : set.own) header.own_filter |= own_filter_bit(address);
  std::memcpy(base + sizeof(ImageHeader), &header, sizeof header);
  std::ranges::copy(set.own, reinterpret_cast<std::uint32_t*>(base + layout.own_at));
  for (std::size_t port = 0; port < set.ports.size(); ++port) {
    std::ranges::copy(set.ports[port],
                      reinterpret_cast<char*>(base + layout.ports_at + port * kPortNameBytes));
  }
  std::ranges::copy(set.hops, reinterpret_cast<RouteHop*>(base + layout.hops_at));
}

}  // namespace

BuildReport build_route_image(const FunctionContext& context) {
  BuildReport report;
  const RouteSet set = load_routes(context, report);
  const std::vector<std::uint32_t> blocks = blocks_of(set.routes);
  if (blocks.size() > kBlockCountMax) {
    throw Error("prefixes longer than /24 in " + std::to_string(blocks.size()) +
                " different /24 networks; at most " + std::to_string(kBlockCountMax));
  }
  std::uint64_t bytes = 0;
  const RouteHeader layout = lay_out_route_image(static_cast<std::uint32_t>(set.own.size()),
                                                 static_cast<std::uint32_t>(set.ports.size()),
                                                 static_cast<std::uint32_t>(set.hops.size()),
                                                 static_cast<std::uint32_t>(blocks.size()), bytes);
  ImageWriter image(context.function.image, kRouteImage, bytes);
  std::byte* base = image.bytes().data();
  write_tables(set, layout, base);
  paint(set.routes, blocks, reinterpret_cast<std::uint32_t*>(base + layout.table24_at),
        reinterpret_cast<std::uint32_t*>(base + layout.blocks_at));
  report.counter_count = static_cast<std::uint32_t>(set.hops.size());
  image.publish(report.counter_count);
  return report;
}

}  // namespace millrace
