// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "orchestration/supervisor/fleet.hpp"
#include "shared/config/plan_diff.hpp"

namespace millrace {

/// Gives a port of a running topology further receive queues: plan.bin says so, then their
/// ingresses are started one after the other. The last of them shares the port's flows anew, and
/// they poll when what the others had received has left (io-worker/ingress/ingress_turn.cpp). When
/// one does not open its queue all of it is taken back. One thread; nothing blocks.
class PortGrowth {
 public:
  using Clock = std::chrono::steady_clock;
  struct Means {
    std::string run_dir;
    std::function<bool(std::uint32_t actor)> is_ready;      ///< it has opened its queue
    std::function<void(std::uint32_t actor)> is_not_ready;  ///< forget what it said before
  };

  /// `plan` is borrowed, and changed: the ports' setting `queues`.
  PortGrowth(Plan& plan, Fleet& fleet, Means means);

  /// Only when idle; checked by diff_plans(). Throws Error when plan.bin cannot be written: then
  /// nothing has changed.
  void begin(std::vector<PlanDiff::Queues> steps);
  /// True when all have opened their queues. Throws Error with the log of who did not: all is as it
  /// was then, but for those that are still ending.
  bool tend(Clock::time_point now);
  bool idle() const { return steps_.empty(); }
  const std::vector<PlanDiff::Queues>& steps() const { return steps_; }
  void forget() { steps_.clear(); }

 private:
  void write_queues(bool after);
  void start_next();
  void take_back();
  std::vector<Post*> posts_to_come();

  Plan& plan_;
  Fleet& fleet_;
  Means means_;
  std::vector<PlanDiff::Queues> steps_;
  std::size_t started_ = 0;  ///< of posts_to_come()
  Clock::time_point until_{};
};

}  // namespace millrace
