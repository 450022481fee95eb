// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "orchestration/supervisor/fleet.hpp"
#include "shared/base/patience.hpp"

namespace millrace {

/// Gives groups of a running topology another number of workers: new ones are started, others leave
/// when they have nothing in hand (in groups with state: and no lane, as the leader moves those
/// first). One thread; only the question to the leader blocks, for some milliseconds.
class Scaling {
 public:
  using Clock = std::chrono::steady_clock;
  struct Step {
    std::uint32_t group = 0;
    std::uint32_t before = 0, after = 0;
  };
  /// Asks the leader to let a worker drain. Throws Error.
  using AskDrain = std::function<void(std::uint32_t actor)>;

  /// `run_words`: how commands name the run.
  Scaling(const Plan& plan, Fleet& fleet, AskDrain ask_drain, std::string run_words);

  /// What is asked for, checked. Throws Error that names what there is and what is allowed.
  std::vector<Step> check(const std::vector<GroupCount>& wanted) const;
  /// Begins; only when idle. Throws Error: some may be on their way then, back() takes them back.
  void begin(std::vector<Step> steps);
  /// True when all are where they should be. Throws Error when that takes too long, or a worker has
  /// failed at its start three times.
  bool tend(Clock::time_point now);
  bool idle() const { return steps_.empty(); }
  void forget() { steps_.clear(); }

  /// Workers that the group should have now.
  std::uint32_t wanted_count(std::uint32_t group) const;

 private:
  void try_again(std::uint32_t group);
  void refuse_failed() const;
  void up(std::uint32_t group, std::uint32_t count);
  void down(std::uint32_t group, std::uint32_t count);
  bool settled(std::uint32_t group) const;

  const Plan& plan_;
  Fleet& fleet_;
  AskDrain ask_drain_;
  std::string run_words_;
  std::vector<Step> steps_;
  Patience patience_{std::chrono::milliseconds(0)};
  Clock::time_point ask_again_{};
};

}  // namespace millrace
