// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/function.hpp"
#include "services/functions/ids/packets/aged_table.hpp"

namespace millrace {

/// Connections that a rule has dropped and that have ended, as a side alone can bring about. What
/// goes on with the same ends, and does not begin with a SYN, is one of them still. Beyond kEntries
/// of a lane the oldest one is forgotten, and each one kSeconds behind its end.
///
/// A cheap view of a lane's state; one thread. Memory: as AgedTable.
class RefusedFlows {
 public:
  static constexpr std::uint32_t kEntries = 512, kSeconds = 600;
  /// Lines of the state that add() changes at most.
  static constexpr std::uint32_t kLinesOfAdd =
      AgedTable::kLinesOfBegin + AgedTable::kLinesOfEnd + AgedTable::kLinesOfSee;

  static std::uint64_t bytes() noexcept { return AgedTable::bytes_for(kEntries); }
  /// `at`, `secret`: as AgedTable's.
  RefusedFlows(const LaneState& state, std::uint64_t at,
               const std::array<std::uint64_t, 2>& secret) noexcept
      : table_(state, at, kEntries, secret) {}

  /// `tuple`: of either direction, here and below.
  void add(const FlowTuple& tuple, std::uint32_t now_s) noexcept;
  bool has(const FlowTuple& tuple, std::uint32_t now_s) const noexcept;

 private:
  AgedTable table_;
};

}  // namespace millrace
