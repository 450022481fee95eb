// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "orchestration/supervisor/fleet.hpp"
#include "orchestration/supervisor/upgrade_plan.hpp"

namespace millrace {

/// Gives the processes of a running topology, one after the other, to another build of equal
/// layout. A successor starts beside the one that plays the actor and waits for its end
/// (ActorProcess), so a build that does not start replaces nothing. The next step begins when the
/// new process is alive, beats and has stayed for half a second. The first that does not ends the
/// upgrade: the fleet starts that actor from the folder it had, those before it stay of the new
/// build.
///
/// One thread; nothing blocks but questions to the leader, for some milliseconds.
class Upgrade {
 public:
  using Clock = std::chrono::steady_clock;
  struct Means {
    std::string run_dir;
    /// Asks the leader to let a worker drain. Throws Error.
    std::function<void(std::uint32_t actor)> ask_drain;
    /// The ports of an ingress or egress are open; told once, and forgotten by the second.
    std::function<bool(std::uint32_t actor)> is_ready;
    std::function<void(std::uint32_t actor)> forget_ready;
    std::chrono::milliseconds start_limit{30'000}, drain_limit{15'000}, end_limit{5'000};
    std::chrono::milliseconds proof{500};  ///< a new process stays so long
  };
  struct Outcome {
    std::string error;               ///< empty: all are of the new build
    std::vector<std::string> lines;  ///< what was done, for people
  };

  /// Both are borrowed, `fleet` is changed.
  Upgrade(const Plan& plan, Fleet& fleet, Means means);

  /// Begins; only when idle(). `folder`: of the new executables, absolute. Throws Error: then
  /// nothing has changed.
  void begin(const std::string& folder);
  /// Goes on. The outcome, once.
  std::optional<Outcome> tend(Clock::time_point now);
  bool idle() const { return !running_; }

 private:
  enum class Phase { kBegin, kWaits, kLeaves, kProves };

  Post& post() { return fleet_.posts()[steps_[at_].post]; }
  bool step(Clock::time_point now);
  void begin_step(Clock::time_point now);
  void begin_replacement(Clock::time_point now);
  void begin_end(Clock::time_point now);
  bool wait_for_successor(Clock::time_point now);
  void let_go(Clock::time_point now);
  bool wait_for_end(Clock::time_point now);
  bool prove(Clock::time_point now);
  bool is_up() const;
  void enter(Phase phase, Clock::time_point now);
  void finish_step();
  std::string failure(const std::string& what) const;
  void send_away(Post& helper);
  Outcome fail(const std::string& why);
  const Post& post() const { return fleet_.posts()[steps_[at_].post]; }

  const Plan& plan_;
  Fleet& fleet_;
  Means means_;
  bool running_ = false;
  std::string folder_;
  std::vector<UpgradeStep> steps_;
  std::vector<std::string> lines_;
  std::size_t at_ = 0;
  Phase phase_ = Phase::kBegin;
  Clock::time_point since_{};            ///< of the phase
  Clock::time_point left_at_{};          ///< the old process was told to end
  std::optional<Clock::time_point> up_;  ///< the new one is there since
  Clock::time_point ask_again_{};
  pid_t old_pid_ = 0, new_pid_ = 0;
  std::string old_folder_;  ///< Post::folder before this step
};

}  // namespace millrace
