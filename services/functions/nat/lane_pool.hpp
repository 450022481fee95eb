// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "services/functions/function.hpp"
#include "services/functions/nat/nat_settings.hpp"
#include "services/functions/nat/port_pool.hpp"

namespace millrace {

/// The PortPool of a lane, for a function that keeps nothing else in its state of the lane. Behind
/// it the state says by which settings it is laid out: after a reload that changes these there is
/// no pool, until a restart.
class LanePool {
 public:
  /// Borrows `settings`. Draws a secret for hashes; throws where there is no source of random
  /// numbers.
  explicit LanePool(const NatSettings& settings);

  static LaneNeeds needs_of(const NatSettings& settings, const LaneRequest& request);

  /// Of the lane that `facts` name. Lays the state out where nothing has so far. Nothing: there is
  /// no state, or it is laid out by other settings. Takes one line of the undo log.
  std::optional<PortPool> pool_of(const LaneState& state, const BatchFacts& facts) const noexcept;
  /// Likewise of a lane that pool_of() has been called for; nothing also before that.
  std::optional<PortPool> laid_out(const LaneState& state) const noexcept;

 private:
  const NatSettings& settings_;
  std::uint64_t fingerprint_;
  std::array<std::uint64_t, 2> secret_;
};

}  // namespace millrace
