// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "shared/control/run_state.hpp"

namespace millrace {

/// The state of a run (RunState) as its supervisor has it, and its file, which no other process
/// writes. The file is written when something has changed. One thread.
class StateFile {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kTryAgain{1};

  explicit StateFile(std::string run_dir) : run_dir_(std::move(run_dir)) {}

  /// Goes on with what the supervisor before this one has written. Throws Error as
  /// load_run_state().
  void resume() { state_ = written_ = load_run_state(run_dir_); }
  /// Returns why that cannot be done, in the place of throwing; then the state is RunState{}.
  std::string try_resume();
  const RunState& now() const { return state_; }

  /// Calls `edit(RunState&)`. The file says so when this returns. Throws Error when it cannot be
  /// written: then the state is as before.
  template <typename Edit>
  void change(Edit&& edit) {
    RunState next = state_;
    edit(next);
    write(next);
    state_ = std::move(next);
  }
  /// The same for what neither traffic nor a command depends on: the state changes in any case. A
  /// file that cannot be written is told once on stderr until it was written, and is tried again by
  /// the next call that is kTryAgain later, with or without a change, or by change().
  template <typename Edit>
  void keep(Edit&& edit, Clock::time_point now = Clock::now()) {
    edit(state_);
    try_write(now);
  }

 private:
  void write(const RunState& state);
  void try_write(Clock::time_point now);

  std::string run_dir_;
  RunState state_;
  RunState written_;     ///< what the file says
  bool failed_ = false;  ///< the last write failed
  Clock::time_point try_again_;
};

}  // namespace millrace
