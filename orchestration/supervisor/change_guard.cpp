// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/change_guard.hpp"

#include <utility>

#include "shared/base/boot.hpp"
#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

/// Until when a change that puts itself in the place of `generation` has to be confirmed.
ConfirmDeadline deadline_of(const ChangeRequest& wanted, std::uint64_t generation) {
  return {boot_clock_ns() + wanted.confirm_seconds * kSecondNs, generation, boot_id()};
}

/// The file says so when this returns. Throws Error.
void set_deadline(StateFile& state, const std::optional<ConfirmDeadline>& deadline) {
  state.change([&](RunState& next) { next.deadline = deadline; });
}

/// None waits any more; a file that cannot say so is tried again later.
void clear_deadline(StateFile& state) {
  state.keep([](RunState& now) { now.deadline.reset(); });
}

}  // namespace

ChangeGuard::ChangeGuard(const History& history, StateFile& state, std::string run_words,
                         std::function<void(const std::string&)> tell_failed)
    : history_(history),
      state_(state),
      run_words_(std::move(run_words)),
      tell_failed_(std::move(tell_failed)) {}

void ChangeGuard::refuse(const ChangeRequest& wanted) const {
  if (wanted.rollback) return;
  if (deadline_) {
    throw Error("the last change waits to be confirmed: millrace confirm " + run_words_ +
                ", or millrace rollback " + run_words_);
  }
  if (is_going_back()) throw Error("nothing else changes meanwhile: " + way_back_text());
}

void ChangeGuard::promise(const ChangeRequest& wanted, std::uint64_t generation) {
  if (wanted.confirm_seconds == 0 || deadline_) return;
  try {
    static_cast<void>(history_.plan_of(generation));
  } catch (const Error& error) {
    throw Error("--confirm: what runs could not be taken back to: " + std::string(error.what()));
  }
  set_deadline(state_, deadline_of(wanted, generation));
}

void ChangeGuard::made(const ChangeRequest& wanted, std::uint64_t before) {
  deadline_.reset();
  if (wanted.confirm_seconds == 0) return clear_deadline(state_);
  deadline_ = deadline_of(wanted, before);
  // The file has the promise: a successor goes back in any case, if earlier.
  state_.keep([&](RunState& now) { now.deadline = deadline_; });
}

void ChangeGuard::dropped() {
  if (!deadline_ && !way_back_) clear_deadline(state_);
}

void ChangeGuard::confirm() {
  if (!deadline_) throw Error(way_back_ ? way_back_text() : "no change waits to be confirmed");
  set_deadline(state_, std::nullopt);
  deadline_.reset();
}

/// Tried from now on until it is done, also by a supervisor that takes over.
void ChangeGuard::take_back(std::uint64_t generation, const std::string& why) {
  way_back_.emplace(generation, why);
  try {
    set_deadline(state_, ConfirmDeadline{0, generation, boot_id()});
  } catch (const Error& error) {
    tell_failed_(std::string("a successor would not go on with it: ") + error.what());
  }
}

/// The last change was not confirmed: its user may have lost the way to us by it.
void ChangeGuard::tend(bool is_changing) {
  if (!deadline_ || is_changing || boot_clock_ns() < deadline_->time_ns) return;
  const std::uint64_t generation = deadline_->generation;
  deadline_.reset();  // but not in the state: a successor goes on where this one dies
  take_back(generation, "as it was not confirmed");
}

std::optional<ChangeRequest> ChangeGuard::next_try(const std::string& plan_path) {
  if (!way_back_ || !way_back_->due(Clock::now())) return std::nullopt;
  way_back_->begin();
  try {
    save_plan(history_.plan_of(way_back_->generation()), plan_path);
  } catch (const std::exception& error) {
    failed(error.what());
    return std::nullopt;
  }
  ChangeRequest back{
      .plan = plan_path, .accept_refused = true, .rollback = true, .accept_shrunk = true};
  back.what = way_back_->what();
  return back;
}

bool ChangeGuard::is_try(const Received& request) const {
  const auto* wanted = std::get_if<ChangeRequest>(&request.message.body);
  return way_back_ && wanted != nullptr && wanted->rollback && request.message.id == 0;
}

void ChangeGuard::failed(const std::string& error) {
  MILLRACE_CHECK(way_back_.has_value());
  way_back_->failed(error, Clock::now());
  tell_failed_(way_back_text());
}

bool ChangeGuard::is_going_back() const { return way_back_ && !way_back_->given_up(); }

std::uint32_t ChangeGuard::confirm_seconds() const {
  if (!deadline_) return 0;
  const std::uint64_t now = boot_clock_ns();
  const std::uint64_t left = deadline_->time_ns > now ? deadline_->time_ns - now : 0;
  return static_cast<std::uint32_t>(left / kSecondNs + 1);
}

bool ChangeGuard::resume(std::uint64_t generation) {
  deadline_ = state_.now().deadline;
  if (!deadline_) return false;
  const bool is_unheard = deadline_->generation == generation;
  if (is_unheard || deadline_->boot != boot_id()) deadline_->time_ns = 0;
  return is_unheard;
}

}  // namespace millrace
