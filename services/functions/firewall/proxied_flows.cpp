// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/firewall/proxied_flows.hpp"

#include <algorithm>
#include <span>

#include "shared/base/siphash.hpp"

namespace millrace {

struct ProxiedFlows::Foot {
  std::uint64_t secret[2];  ///< all zero: nothing is laid out so far
  std::uint32_t buckets;
  std::uint32_t padding[11];
};

struct ProxiedFlows::Bucket {
  std::array<ProxiedFlow, 4> flows;
};

namespace {

/// Half of their places are free.
constexpr std::uint32_t buckets_for(std::uint32_t flows) noexcept { return flows / 2 + 1; }

}  // namespace

std::uint64_t ProxiedFlows::bytes_for(std::uint32_t flows) noexcept {
  static_assert(sizeof(Foot) == kCacheLine && sizeof(Bucket) == 4 * kCacheLine);
  return std::uint64_t{buckets_for(flows)} * sizeof(Bucket) + sizeof(Foot);
}

std::optional<ProxiedFlows> ProxiedFlows::of_lane(const LaneState& state, std::uint32_t flows,
                                                  const Secret& secret) noexcept {
  if (auto there = laid_out(state)) return there;
  if (state.bytes.size() < bytes_for(flows)) return std::nullopt;
  ProxiedFlows made(state);
  Foot& foot = state.change(made.foot());
  foot.secret[0] = secret[0];
  foot.secret[1] = secret[1];
  foot.buckets = buckets_for(flows);
  return made;
}

std::optional<ProxiedFlows> ProxiedFlows::laid_out(const LaneState& state) noexcept {
  if (state.bytes.size() < sizeof(Foot)) return std::nullopt;
  const ProxiedFlows flows(state);
  const Foot& foot = flows.foot();
  if ((foot.secret[0] | foot.secret[1]) == 0) return std::nullopt;
  return flows;
}

ProxiedFlows::Foot& ProxiedFlows::foot() const noexcept {
  return *reinterpret_cast<Foot*>(state_.bytes.last(sizeof(Foot)).data());
}

/// Another than that of the places, which shows in how long a look-up takes.
ProxiedFlows::Secret ProxiedFlows::cookie_secret() const noexcept {
  Secret secret{};
  const Secret places{foot().secret[0], foot().secret[1]};
  for (std::uint64_t i = 0; i < secret.size(); ++i) {
    secret[i] = siphash13(std::as_bytes(std::span(&i, 1)), places);
  }
  return secret;
}

std::array<ProxiedFlows::Bucket*, 2> ProxiedFlows::buckets_of(
    const FlowTuple& tuple) const noexcept {
  const Foot& foot = this->foot();
  const std::uint64_t hash =
      siphash13(std::as_bytes(std::span(&tuple, 1)), {foot.secret[0], foot.secret[1]});
  auto* const end = reinterpret_cast<Bucket*>(&this->foot());
  Bucket* const first = end - foot.buckets;
  return {first + ((hash & UINT32_MAX) * foot.buckets >> 32),
          first + ((hash >> 32) * foot.buckets >> 32)};
}

const ProxiedFlow* ProxiedFlows::find(const FlowTuple& tuple) const noexcept {
  for (const Bucket* const bucket : buckets_of(tuple)) {
    for (const ProxiedFlow& flow : bucket->flows) {
      if (flow.tuple == tuple) return &flow;
    }
  }
  return nullptr;
}

ProxiedFlow& ProxiedFlows::change(const ProxiedFlow& flow) const noexcept {
  const std::size_t at = state_.offset_of(&flow);
  return *reinterpret_cast<ProxiedFlow*>(state_.change(at, sizeof flow).data());
}

bool ProxiedFlows::put(const ProxiedFlow& flow) const noexcept {
  if (const ProxiedFlow* const there = find(flow.tuple)) {
    change(*there) = flow;
    return true;
  }
  const ProxiedFlow* free = nullptr;
  std::ptrdiff_t most_free = 0;
  for (const Bucket* const bucket : buckets_of(flow.tuple)) {
    const auto is_free = [](const ProxiedFlow& one) { return one.tuple.version == 0; };
    const std::ptrdiff_t here = std::ranges::count_if(bucket->flows, is_free);
    if (here <= most_free) continue;
    most_free = here;
    free = std::ranges::find_if(bucket->flows, is_free);
  }
  if (free == nullptr) return false;
  change(*free) = flow;
  return true;
}

void ProxiedFlows::remove(const FlowTuple& tuple) const noexcept {
  if (const ProxiedFlow* const flow = find(tuple)) change(*flow) = {};
}

}  // namespace millrace
