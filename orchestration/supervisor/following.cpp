// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/following.hpp"

#include <algorithm>
#include <utility>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/config/plan_settings.hpp"

namespace millrace {

void RouteFollowing::begin_due() {
  MILLRACE_CHECK(!under_way_ && tables_.idle());
  const auto now = Clock::now();
  try {
    TableSwitch::Wish wish{.only_if_differs = true};
    const std::vector<std::string> names = routes_.due(now);
    bool from_files = false;
    for (std::uint32_t i = 0; i < plan_.functions.size(); ++i) {
      const PlanFunction& function = plan_.functions[i];
      if (std::ranges::find(names, function.name) == names.end()) continue;
      from_files |= !setting_of(function.settings, "table").empty();
      wish.functions.push_back({i, function});
    }
    wish.accept_refused = !from_files;  // of the kernel's all are right; a file is half written
    if (wish.empty()) return;
    tables_.begin(std::move(wish));
    under_way_ = true;
  } catch (const Error& error) {
    end({.error = error.what(), .reports = {}});
  }
}

void RouteFollowing::tend(Clock::time_point now) {
  MILLRACE_CHECK(under_way_);
  if (const auto outcome = tables_.tend(now)) end(*outcome);
}

void RouteFollowing::end(const TableSwitch::Outcome& outcome) {
  const bool failed = !outcome.error.empty();
  routes_.done(Clock::now(), failed);
  under_way_ = false;
  if (!failed) note_tables(state_, outcome.reports);
  if (outcome.error == error_) return;
  error_ = outcome.error;
  tell_({.severity = failed ? Severity::kWarning : Severity::kInfo,
         .kind = failed ? "routes_not_followed" : "routes_followed",
         .text = failed ? "the kernel's routes cannot be followed: " + outcome.error
                        : "the kernel's routes are followed again"});
}

}  // namespace millrace
