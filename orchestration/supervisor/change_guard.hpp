// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "orchestration/supervisor/history.hpp"
#include "orchestration/supervisor/state_file.hpp"
#include "orchestration/supervisor/way_back.hpp"
#include "shared/control/endpoint.hpp"

namespace millrace {

/// Takes changes back: one that was not confirmed in time, and one of which half was made. Either
/// way the topology goes back to the generation before it, by a change like any other, until that
/// has worked. The state of the run says so too, for a supervisor that takes over. One thread.
class ChangeGuard {
 public:
  using Clock = std::chrono::steady_clock;

  /// `history` and `state` are borrowed. `run_words`: how commands name the run. `tell_failed` gets
  /// what a user has to know.
  ChangeGuard(const History& history, StateFile& state, std::string run_words,
              std::function<void(const std::string&)> tell_failed);

  /// Throws Error when the change may not be made now; a rollback is refused for fewer reasons.
  void refuse(const ChangeRequest& wanted) const;
  /// Before a change that is to be confirmed touches anything: should the supervisor die over it,
  /// it is not left half made. Throws Error when there is no way back to `generation`.
  void promise(const ChangeRequest& wanted, std::uint64_t generation);
  /// The change is made, and was entered into the history; `before`: the generation that it has
  /// replaced.
  void made(const ChangeRequest& wanted, std::uint64_t before);
  /// The change has not been made, and nothing of it stays.
  void dropped();
  /// The user keeps the change just made. Throws Error when no change waits for that, or when it
  /// cannot be noted: then the change still waits.
  void confirm();

  /// The present generation is to come back. `why`: "as it was not confirmed".
  void take_back(std::uint64_t generation, const std::string& why);
  /// Whether to take back the failed change that has left something. Not a rollback while a way
  /// back or a deadline stands: that repeats it.
  bool is_for(const ChangeRequest& failed) const {
    return !failed.rollback || !(way_back_ || deadline_);
  }
  /// Looks whether the time to confirm is over; not while something changes.
  void tend(bool is_changing);
  /// The request of the next try to go back, when it is due. The caller runs it before all others,
  /// and says by failed() that it failed, or by forget_way_back() that another plan is in use.
  /// `plan_path`: where the plan of that generation goes.
  std::optional<ChangeRequest> next_try(const std::string& plan_path);
  /// Whether the request is one of next_try().
  bool is_try(const Received& request) const;
  /// The try has failed.
  void failed(const std::string& error);
  /// Another plan is in use: whatever there was to go back from has gone.
  void forget_way_back() { way_back_.reset(); }

  bool is_going_back() const;
  bool waits_for_confirm() const { return deadline_.has_value(); }
  /// Seconds left to confirm, rounded up; 0: nothing waits for that.
  std::uint32_t confirm_seconds() const;
  /// For people; empty: nothing goes back.
  std::string way_back_text() const { return way_back_ ? way_back_->text(run_words_) : ""; }

  /// After the death of a supervisor that may have died over a change: what it has noted goes on.
  /// True when that change was to be confirmed and no user has heard that it was made: it goes
  /// back at once.
  bool resume(std::uint64_t generation);

 private:
  const History& history_;
  StateFile& state_;
  const std::string run_words_;
  std::function<void(const std::string&)> tell_failed_;
  std::optional<ConfirmDeadline> deadline_;  ///< of the last change
  std::optional<WayBack> way_back_;
};

}  // namespace millrace
