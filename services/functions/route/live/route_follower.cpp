// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/route/live/route_follower.hpp"

#include <linux/netlink.h>

#include "services/functions/route/live/store_live.hpp"

namespace millrace {
namespace {

KernelRib::Place place_of(const KernelRoute& route) {
  if ((route.flags & NLM_F_REPLACE) != 0) return KernelRib::Place::kReplace;
  if ((route.flags & NLM_F_APPEND) != 0) return KernelRib::Place::kBehind;
  return (route.flags & NLM_F_EXCL) != 0 ? KernelRib::Place::kOnly : KernelRib::Place::kBefore;
}

}  // namespace

RouteFollower::RouteFollower(const std::string& image, std::span<const PlanPort> ports,
                             bool answers)
    : image_(image), hops_(ports, answers, image_.hops(), image_.members()) {
  for (const FixedRoute& route : image_.table().fixed) {
    const PrefixKey key{route.prefix, route.length, route.is_ipv6 != 0};
    if (route.layer == RouteLayer::kConnected) {
      below_.try_emplace(key, route.hop);
    } else if (route.layer == RouteLayer::kOwn) {
      above_[key] = route.hop;
    } else {
      above_.try_emplace(key, route.hop);
    }
  }
}

void RouteFollower::make_parts() {
  ipv4_.leaves = std::make_unique<LiveBlocks>(image_.blocks(), image_.journal());
  ipv4_.table = std::make_unique<LiveTable>(image_.table24(), *ipv4_.leaves, image_.journal());
  if (!image_.has_ipv6()) return;
  ipv6_.leaves = std::make_unique<LiveNodes>(image_.ipv6_nodes(), image_.ipv6_runs(),
                                             image_.ipv6_first_chunk(), image_.journal());
  ipv6_.table = std::make_unique<LiveTable>(image_.ipv6_table24(), *ipv6_.leaves, image_.journal());
}

PrefixKey RouteFollower::key_of(const RouteLine& line) {
  if (line.is_ipv6) return {line.ipv6_prefix & ipv6_mask(line.length), line.length, true};
  const std::uint32_t prefix = line.prefix & ipv4_mask(line.length);
  return {{std::uint64_t{prefix} << 32, 0}, line.length, false};
}

/// By the layers of a prefix.
std::optional<std::uint32_t> RouteFollower::hop_of(const PrefixKey& key) const {
  if (const auto at = above_.find(key); at != above_.end()) return at->second;
  if (const auto hop = rib_.best(key)) return hop;
  if (const auto at = below_.find(key); at != below_.end()) return at->second;
  return std::nullopt;
}

/// Its number, with which the image knows it. Nothing when there is no room for it.
std::optional<std::uint32_t> RouteFollower::find_hop(const RouteLine& line) {
  std::uint32_t hop = kHopNowhere;
  if (hops_.find(line, hop).empty() && image_.add_hops(hops_)) return hop;
  why_full_ = "no next hop is left";
  return std::nullopt;
}

template <typename Change>
void RouteFollower::unless_full(Change change) {
  if (is_full()) return;
  try {
    change();
  } catch (const LiveTableFull& full) {
    why_full_ = full.what();
  }
}

void RouteFollower::begin_dump() {
  rib_.clear();
  make_parts();
}

void RouteFollower::add(const KernelRoute& route) {
  if (is_full() || route.gone || route.elsewhere || !route.refused.empty()) return;
  if (const auto hop = find_hop(route.line)) {
    rib_.add(key_of(route.line), {route.metric, *hop}, KernelRib::Place::kBehind);
  }
}

void RouteFollower::end_dump() {
  unless_full([&] {
    const auto load = [&](const PrefixKey& key) {
      LiveTable* const table = (key.is_ipv6 ? ipv6_ : ipv4_).table.get();
      if (table == nullptr) throw LiveTableFull("the table has no part for IPv6");
      if (key.length != 0) table->load({key.prefix, key.length, *hop_of(key)});
    };
    for (const auto& [key, hop] : above_) load(key);
    rib_.for_each([&](const PrefixKey& key) {
      if (!above_.contains(key)) load(key);
    });
    for (const auto& [key, hop] : below_) {
      if (!above_.contains(key) && !rib_.best(key)) load(key);
    }
    ipv4_.table->write_all();
    if (ipv6_.table) ipv6_.table->write_all();
    for (const bool is_ipv6 : {false, true}) set_default(is_ipv6, hop_of({{}, 0, is_ipv6}));
  });
  ++live().dump_count;
  count_routes();
}

void RouteFollower::count_routes() {
  live().route_count = ipv4_.table->size() + (ipv6_.table ? ipv6_.table->size() : 0);
}

void RouteFollower::set_default(bool is_ipv6, std::optional<std::uint32_t> hop) {
  if (is_ipv6) {
    store_live(live().ipv6_default_hop, hop.value_or(kHopDefaultIpv6));
  } else {
    store_live(live().default_hop, hop.value_or(kHopDefault));
  }
}

/// The image says of the prefix what the layers do.
void RouteFollower::change(const PrefixKey& key) {
  const auto hop = hop_of(key);
  LiveTable* const table = (key.is_ipv6 ? ipv6_ : ipv4_).table.get();
  if (table == nullptr) throw LiveTableFull("the table has no part for IPv6");
  if (key.length == 0) {
    set_default(key.is_ipv6, hop);
  } else if (hop) {
    table->set({key.prefix, key.length, *hop});
  } else {
    table->remove(key.prefix, key.length);
  }
}

/// What was not found is the host's own, or the dump came after it has gone.
bool RouteFollower::remove(const KernelRoute& route, const PrefixKey& key) {
  std::uint32_t hop = kHopNowhere;
  if (hops_.find(route.line, hop).empty() && rib_.remove(key, {route.metric, hop})) return true;
  // One of the next hops of a route of IPv6 is told alone.
  return !rib_.has_metric(key, route.metric);
}

bool RouteFollower::apply(const KernelRoute& route) {
  if (is_full()) return true;
  const PrefixKey key = key_of(route.line);
  const bool unusable = route.elsewhere || !route.refused.empty();
  if (unusable && (route.gone || place_of(route) != KernelRib::Place::kReplace)) return true;
  bool known = true;
  if (route.gone) {
    known = remove(route, key);
  } else if (unusable) {
    rib_.remove_first(key, route.metric);
  } else if (const auto hop = find_hop(route.line)) {
    // IPv6 tells a further next hop of a route with those that it had, as if it were a route.
    const bool joins = key.is_ipv6 && place_of(route) != KernelRib::Place::kReplace &&
                       rib_.has_metric(key, route.metric);
    known = !rib_.add(key, {route.metric, *hop},
                      joins ? KernelRib::Place::kReplace : place_of(route)) ||
            !joins;
  }
  unless_full([&] { change(key); });
  ++live().change_count;
  count_routes();
  return known;
}

void RouteFollower::tend(ReaderGrace& grace) {
  if (ipv4_.leaves) ipv4_.leaves->tend(grace);
  if (ipv6_.leaves) ipv6_.leaves->tend(grace);
}

bool RouteFollower::has_room() const {
  const auto ready = [](const Part& part) {
    return !part.leaves || part.leaves->has_room() || !part.leaves->waits();
  };
  return ready(ipv4_) && ready(ipv6_);
}

}  // namespace millrace
