// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/lane_pool.hpp"

#include "shared/base/fnv.hpp"
#include "shared/base/random_secret.hpp"

namespace millrace {
namespace {

/// At the end of a lane's state.
struct Layout {
  std::uint32_t lanes, lane;  ///< lanes 0: nothing is laid out so far
  std::uint64_t settings;     ///< fingerprint of what the layout depends on
  std::uint64_t padding[6];
};
static_assert(sizeof(Layout) == kCacheLine);

Layout& layout_of(const LaneState& state) noexcept {
  return *reinterpret_cast<Layout*>(state.bytes.data() + state.bytes.size() - sizeof(Layout));
}

std::uint64_t fingerprint_of(const NatSettings& settings) {
  std::uint64_t hash = fnv1a({settings.first_port, settings.last_port, settings.block, settings.max,
                              settings.filtering == NatFiltering::kAddress});
  for (const std::uint32_t address : settings.pool) hash = fnv1a({hash, address});
  return hash;
}

}  // namespace

LanePool::LanePool(const NatSettings& settings)
    : settings_(settings), fingerprint_(fingerprint_of(settings)), secret_(random_secret()) {}

LaneNeeds LanePool::needs_of(const NatSettings& settings, const LaneRequest& request) {
  // A packet begins one flow at most; as many end by time, by room, and by its TCP.
  constexpr std::uint32_t kOfPacket = PortPool::kLinesOfMap + 3 * PortPool::kLinesOfUnmap;
  return {.state_bytes = PortPool::bytes_for(settings.shape(request.lanes)) + sizeof(Layout),
          .undo_lines = request.batch_capacity * kOfPacket + 1};
}

std::optional<PortPool> LanePool::pool_of(const LaneState& state,
                                          const BatchFacts& facts) const noexcept {
  if (state.bytes.size() < sizeof(Layout)) return std::nullopt;
  Layout& layout = layout_of(state);
  if (layout.lanes == 0) {
    state.change(state.bytes.size() - sizeof(Layout), sizeof(Layout));
    layout = {facts.lane_count, facts.lane, fingerprint_, {}};
  }
  if (layout.lanes != facts.lane_count) return std::nullopt;
  return laid_out(state);
}

std::optional<PortPool> LanePool::laid_out(const LaneState& state) const noexcept {
  if (state.bytes.size() < sizeof(Layout)) return std::nullopt;
  const Layout& layout = layout_of(state);
  if (layout.lanes == 0 || layout.settings != fingerprint_) return std::nullopt;
  return PortPool(state, settings_.shape(layout.lanes), layout.lane, secret_);
}

}  // namespace millrace
