// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/route/live/live_nodes.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace millrace {
namespace {

constexpr std::uint32_t kRootBits = 24;
constexpr std::uint32_t kNodeBits = 8;
constexpr std::size_t kNodeWords = sizeof(Ipv6Node) / sizeof(std::uint32_t);
constexpr std::size_t kNodesOfAChange = 16;  // one a level, and some

bool is_node(std::uint32_t entry) { return (entry & kIpv6NodeFlag) != 0; }

}  // namespace

LiveNodes::LiveNodes(std::span<Ipv6Node> nodes, std::span<std::uint32_t> runs,
                     std::uint32_t first_chunk, LiveJournal& journal)
    : nodes_(nodes),
      runs_(runs),
      first_chunk_(first_chunk),
      journal_(journal),
      node_pool_(static_cast<std::uint32_t>(nodes.size())),
      chunk_pool_(static_cast<std::uint32_t>((runs.size() - first_chunk) / kBlockEntries)),
      kept_nodes_(node_pool_.count()),
      kept_chunks_(chunk_pool_.count()) {}

void LiveNodes::keep(std::uint32_t entry) {
  if (!is_node(entry)) return;
  const std::uint32_t number = entry & ~kIpv6NodeFlag;
  if (number >= kept_nodes_.size() || kept_nodes_[number]) return;
  kept_nodes_[number] = true;
  const Ipv6Node& node = nodes_[number];
  if (in_chunk(node)) kept_chunks_[chunk_of(node)] = true;
  for (const std::uint32_t below : entries_of(entry)) keep(below);
}

/// A piece that is not in use may have been a moment ago, by an earlier writer of the table.
void LiveNodes::start() {
  for (std::uint32_t number = node_pool_.count(); number-- > 0;) {
    if (!kept_nodes_[number]) node_pool_.retire(number);
  }
  for (std::uint32_t number = chunk_pool_.count(); number-- > 0;) {
    if (!kept_chunks_[number]) chunk_pool_.retire(number);
  }
  kept_nodes_ = {};
  kept_chunks_ = {};
}

void LiveNodes::tend(ReaderGrace& grace) {
  const bool frees_nodes = node_pool_.tend(grace);
  const bool frees_chunks = chunk_pool_.tend(grace);
  if (frees_nodes || frees_chunks) journal_.grace();
}

bool LiveNodes::has_room() const {
  return node_pool_.free_count() >= kNodesOfAChange && chunk_pool_.free_count() >= kNodesOfAChange;
}

bool LiveNodes::waits() const {
  return node_pool_.waiting_count() != 0 || chunk_pool_.waiting_count() != 0;
}

LiveNodes::Entries LiveNodes::entries_of(std::uint32_t entry) const {
  Entries entries;
  entries.fill(entry);
  if (!is_node(entry)) return entries;
  const Ipv6Node& node = nodes_[entry & ~kIpv6NodeFlag];
  for (std::uint32_t byte = 0; byte < entries.size(); ++byte) {
    entries[byte] = node.entry(byte, runs_.data());
  }
  return entries;
}

/// The bytes at `depth` of the addresses that the changed prefix covers, or lies in.
LiveNodes::Bytes LiveNodes::covered(const Ipv6Route& changed, std::uint32_t depth) {
  if (changed.length <= depth) return {};
  const std::uint32_t byte = changed.prefix.byte(depth / 8);
  const std::uint32_t end = depth + kNodeBits;
  const std::uint32_t count = changed.length >= end ? 1 : 1u << (end - changed.length);
  return {byte, byte + count - 1};
}

std::uint32_t LiveNodes::update(std::uint32_t now, std::span<const Ipv6Route> routes,
                                std::uint32_t inherited, const Ipv6Route& changed) {
  if (!routes.empty()) return update_node(now, routes, kRootBits, inherited, changed);
  retire_all(now);
  return inherited;
}

/// What follows `depth` bits, which all `routes` share and go beyond. Depth is at most 120: so deep
/// it calls itself.
std::uint32_t LiveNodes::update_node(std::uint32_t now, std::span<const Ipv6Route> routes,
                                     std::uint32_t depth, std::uint32_t inherited,
                                     const Ipv6Route& changed) {
  const Bytes bytes = is_node(now) ? covered(changed, depth) : Bytes{};
  const Entries before = entries_of(now);
  Level level{.entries = before, .bytes = bytes};
  if (is_node(now) && changed.length > depth) {
    inherited = inherited_around(routes, depth, inherited, changed);
  }
  routes = routes_of(routes, depth, bytes);
  level.paint(0, bytes.first, bytes.last, inherited);
  // In order a prefix comes before all that lie in it, which overwrite it.
  const std::uint32_t end = depth + kNodeBits;
  for (const Ipv6Route& route : routes) {
    if (route.length > end) continue;
    const std::uint32_t first = route.prefix.byte(depth / 8);
    level.paint(route.length, first, first + (1u << (end - route.length)) - 1, route.hop);
  }
  update_below(before, routes, depth, changed, level);
  const Entries& entries = level.entries;
  const std::uint32_t put_at = put(now, entries);
  for (std::uint32_t byte = bytes.first; byte <= bytes.last; ++byte) {
    if (is_node(now) && is_node(before[byte]) && !is_node(entries[byte])) retire_all(before[byte]);
  }
  return put_at;
}

void LiveNodes::Level::paint(std::uint8_t length, std::uint32_t first, std::uint32_t last,
                             std::uint32_t hop) {
  for (std::uint32_t byte = std::max(first, bytes.first); byte <= std::min(last, bytes.last);
       ++byte) {
    entries[byte] = hop;
    lengths[byte] = length;
  }
}

/// Those of `routes` that begin with one of the bytes. They are in order.
std::span<const Ipv6Route> LiveNodes::routes_of(std::span<const Ipv6Route> routes,
                                                std::uint32_t depth, Bytes bytes) {
  const auto byte_of = [&](const Ipv6Route& route) { return route.prefix.byte(depth / 8); };
  const auto first = std::ranges::lower_bound(routes, bytes.first, {}, byte_of);
  const auto end = std::ranges::upper_bound(routes, bytes.last, {}, byte_of);
  return {first, end};
}

/// What the addresses that `changed` covers have of the prefixes around it, which may begin with
/// another byte than it.
std::uint32_t LiveNodes::inherited_around(std::span<const Ipv6Route> routes, std::uint32_t depth,
                                          std::uint32_t inherited, const Ipv6Route& changed) {
  const auto order = [](const Ipv6Route& route) {
    return std::tuple(route.prefix.high, route.prefix.low, route.length);
  };
  const std::uint32_t end = std::min<std::uint32_t>(changed.length, depth + kNodeBits);
  for (std::uint32_t length = depth + 1; length < end; ++length) {
    const Ipv6Address prefix = changed.prefix & ipv6_mask(length);
    const std::tuple key(prefix.high, prefix.low, static_cast<std::uint8_t>(length));
    const auto at = std::ranges::lower_bound(routes, key, {}, order);
    if (at != routes.end() && order(*at) == key) inherited = at->hop;
  }
  return inherited;
}

/// The nodes of prefixes that go beyond this one. Where a longer prefix than `changed` lies over a
/// node, it inherits from that, so it stays as it is.
void LiveNodes::update_below(const Entries& before, std::span<const Ipv6Route> routes,
                             std::uint32_t depth, const Ipv6Route& changed, Level& level) {
  const std::uint32_t end = depth + kNodeBits;
  for (auto at = routes.begin(); at != routes.end();) {
    const std::uint32_t byte = at->prefix.byte(depth / 8);
    const auto of_byte = std::find_if(at, routes.end(), [&](const Ipv6Route& route) {
      return route.prefix.byte(depth / 8) != byte;
    });
    const auto beyond =
        std::find_if(at, of_byte, [&](const Ipv6Route& route) { return route.length > end; });
    const std::span<const Ipv6Route> group(beyond, of_byte);
    at = of_byte;
    if (group.empty()) continue;
    std::uint32_t& entry = level.entries[byte];
    if (changed.length != 0 && level.lengths[byte] > changed.length && is_node(before[byte])) {
      entry = before[byte];
    } else {
      entry = update_node(before[byte], group, end, entry, changed);
    }
  }
}

LiveNodes::Runs LiveNodes::runs_of(const Entries& entries) {
  Runs runs;
  for (std::uint32_t byte = 0; byte < entries.size(); ++byte) {
    if (byte % 64 == 0) runs.before[byte / 64] = static_cast<std::uint8_t>(runs.count);
    if (byte != 0 && entries[byte] == entries[byte - 1]) continue;
    runs.starts[byte / 64] |= std::uint64_t{1} << byte % 64;
    runs.entry[runs.count++] = entries[byte];
  }
  return runs;
}

/// Where the entries of its `count` runs stand.
std::span<std::uint32_t> LiveNodes::words_of(Ipv6Node& node, std::uint32_t count) {
  return node.more == 0 ? std::span(node.entries).first(count) : runs_.subspan(node.more, count);
}

/// A node with these entries: `now`, if it is one with runs that begin at the same bytes, or a new
/// one.
std::uint32_t LiveNodes::put(std::uint32_t now, const Entries& entries) {
  const Runs runs = runs_of(entries);
  if (is_node(now)) {
    Ipv6Node& node = nodes_[now & ~kIpv6NodeFlag];
    if (std::ranges::equal(node.starts, runs.starts)) {
      const auto words = words_of(node, runs.count);
      for (std::uint32_t run = 0; run < runs.count; ++run) {
        if (words[run] != runs.entry[run]) journal_.store(words[run], runs.entry[run]);
      }
      return now;
    }
  }
  const std::uint32_t number = node_pool_.take();
  if (number == LivePool::kNone) throw LiveTableFull("no node is left for prefixes of IPv6");
  std::uint32_t more = 0;
  if (runs.count > kIpv6NodeEntries) {
    const std::uint32_t chunk = chunk_pool_.take();
    if (chunk == LivePool::kNone) throw LiveTableFull("no run is left for prefixes of IPv6");
    more = first_chunk_ + chunk * kBlockEntries;
  }
  write_new(nodes_[number], runs, more);
  if (is_node(now)) retire(now & ~kIpv6NodeFlag);
  return kIpv6NodeFlag | number;
}

/// A node to which nothing leads yet.
void LiveNodes::write_new(Ipv6Node& node, const Runs& runs, std::uint32_t more) {
  const std::span entries = std::span(runs.entry).first(runs.count);
  Ipv6Node wanted{};
  std::ranges::copy(runs.starts, wanted.starts);
  std::ranges::copy(runs.before, wanted.before);
  wanted.more = more;
  if (more == 0) std::ranges::copy(entries, wanted.entries);
  const auto from = std::bit_cast<std::array<std::uint32_t, kNodeWords>>(wanted);
  auto* const to = reinterpret_cast<std::uint32_t*>(&node);
  for (std::size_t i = 0; i < from.size(); ++i) journal_.fill(to[i], from[i]);
  if (more == 0) return;
  for (std::size_t i = 0; i < entries.size(); ++i) journal_.fill(runs_[more + i], entries[i]);
}

/// Runs that do not lie in a chunk are lost until there is a new image.
void LiveNodes::retire(std::uint32_t number) {
  const Ipv6Node& node = nodes_[number];
  if (in_chunk(node)) chunk_pool_.retire(chunk_of(node));
  node_pool_.retire(number);
}

void LiveNodes::retire_all(std::uint32_t entry) {
  if (!is_node(entry)) return;
  const Entries entries = entries_of(entry);
  for (std::size_t byte = 0; byte < entries.size(); ++byte) {
    if (byte == 0 || entries[byte] != entries[byte - 1]) retire_all(entries[byte]);
  }
  retire(entry & ~kIpv6NodeFlag);
}

}  // namespace millrace
