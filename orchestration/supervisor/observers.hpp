// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "orchestration/supervisor/changes.hpp"
#include "orchestration/supervisor/fleet.hpp"
#include "orchestration/supervisor/log_keeper.hpp"
#include "orchestration/supervisor/state_file.hpp"

namespace millrace {

/// Tells observers what a supervisor knows of its topology (RunState), and people what has changed
/// without a command to it. One thread.
class Observers {
 public:
  using Clock = std::chrono::steady_clock;
  using Note = std::function<void(Event)>;

  /// `run_words`: how commands name this run. `plan`, `fleet` and `state` are borrowed.
  Observers(const Plan& plan, const Fleet& fleet, StateFile& state, std::string run_dir,
            std::string run_words, Note note);

  /// Counters go on where the supervisor before this one told observers that they were: `state` is
  /// its state.
  void resume();
  /// `since`: control messages that could not be read since this supervisor began.
  void tend_refused(std::uint64_t since);
  /// `differs`: the topology file says something else than what runs.
  void tend(const Changes& changes, bool differs);

 private:
  void note_drained();
  ConfigFacts config_now(const Changes& changes, bool differs) const;

  const Plan& plan_;
  const Fleet& fleet_;
  StateFile& state_;
  std::string run_dir_;
  std::string run_words_;
  Note note_;
  LogKeeper logs_;
  std::uint64_t refused_ = 0;         ///< control messages that could not be read, as noted last
  std::uint64_t refused_before_ = 0;  ///< by the supervisors before this one
  Clock::time_point refused_next_{};
  std::optional<bool> drained_;  ///< as noted last
};

}  // namespace millrace
