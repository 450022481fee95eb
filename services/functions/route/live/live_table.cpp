// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/route/live/live_table.hpp"

#include <algorithm>
#include <tuple>

#include "shared/base/check.hpp"

namespace millrace {
namespace {

constexpr Ipv6Route kAll{};  // what covers every address

auto order(const Ipv6Route& route) {
  return std::tuple(route.prefix.high, route.prefix.low, route.length);
}

}  // namespace

LiveTable::LiveTable(std::span<std::uint32_t> table24, LiveLeaves& leaves, LiveJournal& journal)
    : table24_(table24), leaves_(leaves), journal_(journal), depth_(kRoots), has_long_(kRoots) {
  MILLRACE_CHECK(table24.size() == kRoots);
  for (const std::uint32_t entry : table24_) leaves_.keep(entry);
  leaves_.start();
}

std::uint32_t LiveTable::inherited(std::uint32_t root) const {
  const std::uint32_t depth = depth_[root];
  return depth == 0 ? 0 : short_[depth].at(root >> (kRootBits - depth));
}

/// Length of the longest prefix over the entry that is shorter than `length`.
std::uint32_t LiveTable::length_around(std::uint32_t root, std::uint32_t length) const {
  for (std::uint32_t shorter = length; --shorter != 0;) {
    if (short_[shorter].contains(root >> (kRootBits - shorter))) return shorter;
  }
  return 0;
}

void LiveTable::load(const Ipv6Route& route) {
  MILLRACE_CHECK(route.length != 0);
  ++size_;
  const std::uint32_t root = root_of(route.prefix);
  if (route.length > kRootBits) {
    has_long_[root] = true;
    long_[root].push_back(route);
    return;
  }
  prefixes(route.length)[root >> (kRootBits - route.length)] = route.hop;
  std::uint8_t* const depth = &depth_[root];
  for (std::uint32_t i = 0; i < 1u << (kRootBits - route.length); ++i) {
    depth[i] = std::max(depth[i], route.length);
  }
}

void LiveTable::write_all() {
  for (auto& [root, routes] : long_) std::ranges::sort(routes, {}, order);
  for (std::uint32_t root = 0; root < kRoots; ++root) touch(root, inherited(root), kAll);
}

void LiveTable::touch(std::uint32_t root, std::uint32_t inherited, const Ipv6Route& changed) {
  std::uint32_t& entry = table24_[root];
  std::uint32_t wanted = inherited;
  if (has_long_[root]) {
    wanted = leaves_.update(entry, long_.at(root), inherited, changed);
  } else if (entry >> 31 != 0) {
    wanted = leaves_.update(entry, {}, inherited, changed);
  }
  if (entry != wanted) journal_.store(entry, wanted);
}

/// Gives the entries that `route` covers, and that no prefix longer than `under` does, the next hop
/// of a prefix of `depth` bits.
void LiveTable::put_short(const Ipv6Route& route, std::uint32_t under, std::uint8_t depth,
                          std::uint32_t hop) {
  const std::uint32_t first = root_of(route.prefix);
  for (std::uint32_t root = first; root < first + (1u << (kRootBits - route.length)); ++root) {
    if (depth_[root] > under) continue;
    depth_[root] = depth;
    touch(root, hop, route);
  }
}

bool LiveTable::set(const Ipv6Route& route) {
  MILLRACE_CHECK(route.length != 0);
  if (route.length > kRootBits) return set_long(route);
  const std::uint32_t key = root_of(route.prefix) >> (kRootBits - route.length);
  const auto [at, fresh] = prefixes(route.length).try_emplace(key, route.hop);
  if (!fresh && at->second == route.hop) return false;
  at->second = route.hop;
  size_ += fresh ? 1 : 0;
  put_short(route, route.length, route.length, route.hop);
  return true;
}

bool LiveTable::remove(const Ipv6Address& prefix, std::uint8_t length) {
  MILLRACE_CHECK(length != 0);
  if (length > kRootBits) return remove_long(prefix, length);
  const std::uint32_t root = root_of(prefix);
  if (prefixes(length).erase(root >> (kRootBits - length)) == 0) return false;
  --size_;
  const std::uint32_t around = length_around(root, length);
  const std::uint32_t hop = around == 0 ? 0 : short_[around].at(root >> (kRootBits - around));
  put_short({prefix, length, 0}, length, static_cast<std::uint8_t>(around), hop);
  return true;
}

bool LiveTable::set_long(const Ipv6Route& route) {
  const std::uint32_t root = root_of(route.prefix);
  std::vector<Ipv6Route>& routes = long_[root];
  const auto at = std::ranges::lower_bound(routes, order(route), {}, order);
  const bool fresh = at == routes.end() || order(*at) != order(route);
  if (!fresh && at->hop == route.hop) return false;
  if (fresh) {
    routes.insert(at, route);
    has_long_[root] = true;
    ++size_;
  } else {
    at->hop = route.hop;
  }
  touch(root, inherited(root), route);
  return true;
}

bool LiveTable::remove_long(const Ipv6Address& prefix, std::uint8_t length) {
  const std::uint32_t root = root_of(prefix);
  const auto found = long_.find(root);
  if (found == long_.end()) return false;
  std::vector<Ipv6Route>& routes = found->second;
  const Ipv6Route route{prefix, length, 0};
  const auto at = std::ranges::lower_bound(routes, order(route), {}, order);
  if (at == routes.end() || order(*at) != order(route)) return false;
  routes.erase(at);
  --size_;
  if (routes.empty()) {
    long_.erase(found);
    has_long_[root] = false;
  }
  touch(root, inherited(root), route);
  return true;
}

}  // namespace millrace
