// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/base/flow_hash.hpp"
#include "shared/config/plan.hpp"

/// Chooses the lane of its path into which an ingress puts a packet (LanesBy). All packets of a
/// flow, both ways, have one lane, as only its worker knows the flow. Where lanes are not by the
/// flow hash, ticks of a loop go to the lanes in turn, so that each learns the time, also without
/// traffic. Without order a lane is only a number of batches: it takes all packets until its batch
/// leaves.

namespace millrace {

/// One thread.
class LaneChoice {
 public:
  /// `port`: the port that receives the packets, by its number in the plan.
  LaneChoice(const PlanPath& path, std::uint32_t port);

  /// 0..lane_count - 1 of the path. `frame`: of any length and content.
  std::uint32_t of(std::span<const std::byte> frame) const noexcept {
    if (lane_count_ == 1) return 0;
    if (in_turn()) return turn_;
    return by_ == LanesBy::kFlow ? scaled(flow_hash_of(frame)) : by_ends(frame);
  }

  /// True when one lane after the other takes all packets.
  bool in_turn() const noexcept { return in_turn_; }
  void next_turn() noexcept { turn_ = turn_ + 1 == lane_count_ ? 0 : turn_ + 1; }

 private:
  struct Ends;
  /// A later fragment: the first one has given the lane of its packet.
  struct Fragmented {
    std::uint64_t packet = 0;  ///< hash of what its fragments have in common
    std::uint32_t lane = 0;
  };
  static constexpr std::size_t kFragmentedMax = 256;

  std::uint32_t scaled(std::uint32_t hash) const noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{hash} * lane_count_) >> 32);
  }
  std::uint32_t by_ends(std::span<const std::byte> frame) const noexcept;
  std::uint32_t from_outside(const Ends& ends) const noexcept;
  std::uint32_t of_fragment(const Ends& ends) const noexcept;
  bool in_pool(std::uint32_t address) const noexcept;

  std::uint32_t lane_count_;
  std::uint32_t turn_ = 0;
  LanesBy by_;
  bool in_turn_;
  bool inside_;  ///< the port is one of PlanTranslation::inside
  std::uint32_t block_;
  std::vector<PlanTranslation::Range> pool_;
  std::vector<PlanFixedAddress> fixed_;
  /// The newest fragmented packets, by their hash: later fragments to the pool have no port. The
  /// next process begins without them.
  mutable std::vector<Fragmented> fragmented_;
};

}  // namespace millrace
