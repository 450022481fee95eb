// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "orchestration/planner/plan_diff.hpp"
#include "orchestration/supervisor/fleet.hpp"
#include "orchestration/supervisor/share_words.hpp"
#include "shared/base/patience.hpp"

namespace millrace {

/// Gives ports of a running topology more receive queues, or fewer. First the ingresses of queues
/// that come are started, one after the other; when one does not open its queue all of it is taken
/// back. Then shares of the ports' flows go from queue to queue (io-worker/ingress/
/// ingress_shares.hpp), which takes as long as their packets are under way, or their ingresses away
/// to start anew. Ingresses that read nothing any more are ended. plan.bin says the larger number
/// meanwhile. One thread; nothing blocks.
class QueueScaling {
 public:
  using Clock = std::chrono::steady_clock;
  struct Means {
    std::string run_dir;
    std::string run_words;                                  ///< how commands name the run
    std::function<bool(std::uint32_t actor)> is_ready;      ///< it has opened its queue
    std::function<void(std::uint32_t actor)> forget_ready;  ///< so that it has to say it again
    std::function<ShareWords()> shares;                     ///< of the running topology
  };

  /// `plan` is borrowed, and changed: the ports' setting `queues`.
  QueueScaling(Plan& plan, Fleet& fleet, Means means);

  /// Throws Error when an ingress of one of the ports was given up: its shares cannot move.
  void check(const std::vector<PlanDiff::Queues>& steps);
  /// Only when idle; of diff_plans(). Throws Error as check(), or when plan.bin cannot be written:
  /// then nothing has changed.
  void begin(std::vector<PlanDiff::Queues> steps);
  /// After a supervisor that may have died in the middle: shares go where the plan wants them.
  void resume();
  /// True when all is as it was asked for. Throws Error with the log of the one that did not open
  /// its queue: all is as it was then, but for those that are still ending. Or of what cannot be
  /// written: idle then, too.
  bool tend(Clock::time_point now);
  bool idle() const { return steps_.empty(); }
  void forget() {
    steps_.clear();
    shares_.reset();
  }

 private:
  enum class Phase { kStart, kMove, kEnd };
  using Number = std::uint32_t (*)(const PlanDiff::Queues&);  ///< of queues, by a step

  std::vector<Post*> posts_of(std::uint32_t port, std::uint32_t first, std::uint32_t end);
  std::vector<Post*> posts_between(Number first, Number last);
  void write_queues(Number which);
  void start_next();
  void start(Post& post);
  void end(Post& post);
  void take_back();
  bool advance(Clock::time_point now);
  bool all_started(Clock::time_point now);
  bool all_moved() const;
  void move();
  void end_leavers();

  Plan& plan_;
  Fleet& fleet_;
  Means means_;
  std::vector<PlanDiff::Queues> steps_;
  Phase phase_ = Phase::kStart;
  std::optional<ShareWords> shares_;  ///< while they move
  std::size_t started_ = 0;           ///< of those that come
  bool leaves_first_ = false;         ///< the last of these: its life before has not ended yet
  Patience patience_{std::chrono::milliseconds(0)};
};

}  // namespace millrace
