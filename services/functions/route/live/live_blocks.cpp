// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/route/live/live_blocks.hpp"

#include <algorithm>
#include <array>

namespace millrace {

LiveBlocks::LiveBlocks(std::span<std::uint32_t> entries, LiveJournal& journal)
    : entries_(entries),
      journal_(journal),
      pool_(static_cast<std::uint32_t>(entries.size() / kBlockEntries)),
      kept_(pool_.count()) {}

void LiveBlocks::keep(std::uint32_t entry) {
  if ((entry & kBlockFlag) == 0) return;
  const std::uint32_t block = entry & ~kBlockFlag;
  if (block < kept_.size()) kept_[block] = true;
}

/// A block that is not in use may have been a moment ago, by an earlier writer of the table.
void LiveBlocks::start() {
  for (std::uint32_t block = pool_.count(); block-- > 0;) {
    if (!kept_[block]) pool_.retire(block);
  }
  kept_ = {};
}

std::uint32_t LiveBlocks::update(std::uint32_t now, std::span<const Ipv6Route> routes,
                                 std::uint32_t inherited, const Ipv6Route& /*changed*/) {
  const bool has_block = (now & kBlockFlag) != 0;
  if (routes.empty()) {
    if (has_block) pool_.retire(now & ~kBlockFlag);
    return inherited;
  }
  std::array<std::uint32_t, kBlockEntries> wanted;
  wanted.fill(inherited);
  for (const Ipv6Route& route : routes) {
    std::fill_n(wanted.begin() + route.prefix.byte(3), std::size_t{1} << (32 - route.length),
                route.hop);
  }
  const std::uint32_t block = has_block ? now & ~kBlockFlag : pool_.take();
  if (block == LivePool::kNone) throw LiveTableFull("no block is left for prefixes beyond /24");
  const auto entries = entries_.subspan(std::size_t{block} * kBlockEntries, kBlockEntries);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i] != wanted[i]) journal_.store(entries[i], wanted[i]);
  }
  return kBlockFlag | block;
}

}  // namespace millrace
