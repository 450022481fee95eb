// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "shared/config/plan.hpp"

namespace millrace {

/// Decides how many workers a group should have by how busy they are: one more when all together
/// are above `up` percent for kUpLooks looks in a row, one less when the others would stay below
/// `down` for kDownLooks. In between, and while a change is under way, nothing. Pure: told the time
/// that workers spent, reads no clock. A look is a second or so.
class Autoscaler {
 public:
  static constexpr int kUpLooks = 3;
  static constexpr int kDownLooks = 15;

  /// What a worker that is alive has spent so far, in any unit.
  struct Spent {
    std::uint32_t worker = 0;  ///< actor
    std::uint64_t busy = 0, idle = 0;
  };

  explicit Autoscaler(PlanAutoscale limits) : limits_(limits) {}
  /// A look at all workers that are alive. Returns how many there should be.
  std::uint32_t look(const std::vector<Spent>& workers);
  /// Begins anew: the number of workers has changed.
  void forget();
  const PlanAutoscale& limits() const { return limits_; }

 private:
  PlanAutoscale limits_;
  std::map<std::uint32_t, Spent> before_;
  int above_ = 0, below_ = 0;  ///< looks in a row
};

}  // namespace millrace
