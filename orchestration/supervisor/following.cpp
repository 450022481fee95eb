// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "orchestration/supervisor/supervisor.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"

// Tables that follow the kernel's routes. They go over to new ones between the changes that are
// asked for, by the same steps, and leave history and generation as they are.

namespace millrace {

void Supervisor::tend_following() {
  if (phase_ == "stopping" || !is_idle() || !change_queue_.empty()) return;
  const auto now = Clock::now();
  try {
    TableSwitch::Wish wish{.accept_refused = true, .accept_shrunk = true, .only_if_differs = true};
    const std::vector<std::string> names = routes_.due(now);
    for (std::uint32_t i = 0; i < plan_.functions.size(); ++i) {
      if (std::ranges::find(names, plan_.functions[i].name) == names.end()) continue;
      wish.functions.push_back({i, plan_.functions[i]});
    }
    if (wish.empty()) return;
    tables_->begin(std::move(wish));
    following_ = true;
  } catch (const Error& error) {
    end_following({.error = error.what(), .reports = {}});
  }
}

void Supervisor::end_following(const TableSwitch::Outcome& outcome) {
  const bool failed = !outcome.error.empty();
  routes_.done(Clock::now(), failed);
  following_ = false;
  if (!failed) note_tables(options_.run_dir, facts_of(outcome.reports));
  if (outcome.error == following_error_) return;
  following_error_ = outcome.error;
  note({.severity = failed ? Severity::kWarning : Severity::kInfo,
        .kind = failed ? "routes_not_followed" : "routes_followed",
        .text = failed ? "the kernel's routes cannot be followed: " + outcome.error
                       : "the kernel's routes are followed again",
        .time_ns = system_clock_ns()});
}

}  // namespace millrace
