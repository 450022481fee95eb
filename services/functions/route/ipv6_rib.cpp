// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/ipv6_rib.hpp"

#include <algorithm>
#include <tuple>

namespace millrace {

std::size_t Ipv6Rib::Hash::operator()(const Key& key) const noexcept {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;
  const std::uint64_t high = (key.prefix.high ^ key.length) * kFactor;
  return (high ^ high >> 32 ^ key.prefix.low) * kFactor;
}

bool Ipv6Rib::insert(const Ipv6Route& route, std::uint32_t tag, std::uint32_t& first_tag) {
  const auto [at, fresh] = routes_.try_emplace({route.prefix, route.length}, Value{route.hop, tag});
  if (!fresh) first_tag = at->second.tag;
  return fresh;
}

void Ipv6Rib::replace(const Ipv6Route& route) {
  routes_[{route.prefix, route.length}].hop = route.hop;
}

std::vector<Ipv6Route> Ipv6Rib::in_order() const {
  std::vector<Ipv6Route> routes;
  routes.reserve(routes_.size());
  for (const auto& [key, value] : routes_) routes.push_back({key.prefix, key.length, value.hop});
  std::ranges::sort(routes, {}, [](const Ipv6Route& route) {
    return std::tuple(route.prefix.high, route.prefix.low, route.length);
  });
  return routes;
}

}  // namespace millrace
