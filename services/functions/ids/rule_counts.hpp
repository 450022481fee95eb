// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/function.hpp"
#include "services/functions/ids/rules/signature.hpp"

/// How often rules have matched for an address of late (`threshold`, `detection_filter`), in a
/// lane's state. A table of fixed size: of the counts that share a bucket, the one that began first
/// makes room.
///
/// Memory, zero at the start: a head of one line; buckets of two lines, eight counts each.

namespace millrace {

enum class Counted : std::uint8_t {
  kNotYet,  ///< it is as if the rule had not matched
  kCounts,
  kBeyond,  ///< the rule does what it does, but is not told of any more
};

/// A cheap view. One thread, which changes the lane's state at that moment.
class RuleCounts {
 public:
  /// Which rule, and which of its thresholds: stays the same when rules are loaded anew.
  struct Use {
    std::uint32_t gid, sid;
    std::uint32_t number;  ///< of the rule's thresholds
  };
  /// Lines of the state that count() changes at most; the first one of a lane one more.
  static constexpr std::uint32_t kLinesOfCount = 1;

  static std::uint64_t bytes_for(std::uint32_t counts) noexcept;
  /// `at`: where they begin in the state, on a cache line. `secret`: for a table that has none yet,
  /// and keeps it.
  RuleCounts(const LaneState& state, std::uint64_t at, std::uint32_t counts,
             const std::array<std::uint64_t, 2>& secret) noexcept;

  /// One more match of a rule at `now_s`. `tuple`: of the packet.
  Counted count(const Use& use, const Threshold& threshold, const FlowTuple& tuple,
                std::uint32_t now_s) noexcept;

  /// Bits of hosts have places as counts have: of those in a bucket the one that was set or began
  /// first makes room. set_bit() changes kLinesOfCount lines at most.
  bool bit(const HostBit& bit, const FlowTuple& tuple, std::uint32_t now_s) const noexcept;
  void set_bit(const HostBit& bit, bool value, const FlowTuple& tuple,
               std::uint32_t now_s) noexcept;

 private:
  struct Head;
  std::uint64_t tag_of(const Use& use, TrackBy by, const FlowTuple& tuple) const noexcept;
  std::uint64_t tag_of(const HostBit& bit, const FlowTuple& tuple) const noexcept;
  struct Count;
  Head& head() const noexcept;
  Count& place_of(std::uint64_t tag) const noexcept;

  LaneState state_;
  std::uint64_t at_;
  std::uint32_t counts_;
};

}  // namespace millrace
