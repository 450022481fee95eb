// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orchestration/supervisor/history.hpp"
#include "orchestration/supervisor/tables.hpp"
#include "shared/config/plan.hpp"
#include "shared/control/run_state.hpp"

/// What a new build of a table has less than the one in use: in a filter all that is missing is let
/// through, and a file that a full disk or an editor cut short reads like one of which nothing is
/// wrong.

namespace millrace {

/// The facts of tables of `plan`, with the files that people write where a rollback has put what
/// was kept of them.
std::vector<TableFacts> facts_as_written(std::vector<TableFacts> tables, const Plan& plan,
                                         const History& history);

/// For a start, which has nothing to compare with: "table of NAME has no entries", or "... of
/// FILE"; empty: it has some of each file.
std::string what_is_empty(const TableReport& report, const Plan& plan);

/// Throws Error, with the reasons, when more lines of a table are refused than `before`.
void refuse_more_refused(const std::vector<TableReport>& reports,
                         const std::vector<TableFacts>& before);

/// Throws Error, with both counts, when a table of `in_use` has under half of the entries that it
/// had `before`, or one of its files has: beside a large one a small one that became empty does not
/// show in the sum. A file that the table is no longer built from is none. Of a table that follows
/// the kernel's routes the files alone count, as the kernel's come and go.
void refuse_shrunk(const std::vector<TableReport>& reports, const Plan& in_use,
                   const std::vector<TableFacts>& before);

}  // namespace millrace
