// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/supervisor.hpp"
#include "shared/base/boot.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"

// Changes that are taken back: those that were not confirmed, and those of which half was made.

namespace millrace {

/// A request for a way back is refused at once when there is none.
void Supervisor::check_way_back() const {
  try {
    static_cast<void>(history_->plan_of(plan_.generation));
  } catch (const Error& error) {
    throw Error("--confirm: what runs could not be taken back to: " + std::string(error.what()));
  }
}

void Supervisor::confirm(const Received& received) {
  if (!deadline_) {
    server_->reply(received, ErrorReply{way_back_ ? way_back_->text(run_words())
                                                  : "no change waits to be confirmed"});
    return;
  }
  deadline_.reset();
  history_->set_deadline(std::nullopt);
  note({.kind = "confirmed",
        .text = "generation " + std::to_string(plan_.generation) + " stays",
        .number = plan_.generation,
        .time_ns = system_clock_ns()});
  server_->reply(received, OkReply{});
}

/// The last change was not confirmed: its user may have lost the way to us by it.
void Supervisor::tend_deadline() {
  if (!deadline_ || is_changing() || boot_clock_ns() < deadline_->time_ns) return;
  const std::uint64_t generation = deadline_->generation;
  deadline_.reset();  // but not in the history: a successor goes on where this one dies
  take_back(generation, "as it was not confirmed");
}

/// Tried from now on until it is done, also by a supervisor that takes over.
void Supervisor::take_back(std::uint64_t generation, const std::string& why) {
  way_back_.emplace(generation, why);
  try {
    history_->set_deadline(History::Deadline{0, generation});
  } catch (const Error& error) {
    note_failed(std::string("a successor would not go on with it: ") + error.what());
  }
}

/// In front of all that waits: it was asked for when there was something else.
void Supervisor::tend_way_back() {
  if (!way_back_ || !is_idle() || !way_back_->due(Clock::now())) return;
  way_back_->begin();
  try {
    const std::string path = options_.run_dir + "/plan.bin.back";
    save_plan(history_->plan_of(way_back_->generation()), path);
    ChangeRequest back{
        .plan = path, .accept_refused = true, .rollback = true, .accept_shrunk = true};
    back.what = way_back_->what();
    change_queue_.push_front({.peer = "", .message = {.id = 0, .body = std::move(back)}});
  } catch (const std::exception& error) {
    way_back_failed(error.what());
  }
}

void Supervisor::way_back_failed(const std::string& error) {
  way_back_->failed(error, Clock::now());
  note_failed(way_back_->text(run_words()));
}

void Supervisor::note_failed(const std::string& text) {
  note({.severity = Severity::kError,
        .kind = "change_failed",
        .text = text,
        .time_ns = system_clock_ns()});
}

/// Tables are in use, or workers have been asked for, and the rest of the change failed: the plan
/// says what is now, so that the way back is seen.
void Supervisor::take_back_half(const std::vector<std::string>& sources) {
  note_change(sources);
  take_back(plan_.generation, "as only half of a change was made");
}

}  // namespace millrace
