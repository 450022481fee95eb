// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orchestration/supervisor/child.hpp"
#include "orchestration/supervisor/oom_watch.hpp"
#include "orchestration/supervisor/state_file.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// What a builder process said of one function's table.
struct TableReport {
  std::string function;
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  std::uint32_t counter_count = 0;
  std::vector<std::string> refusals;    ///< "file:line: reason"
  std::vector<TableFileFacts> files{};  ///< that it was built from
  bool is_new = true;                   ///< no copy of the table in use; the builder does not know
};

/// Reads the one line of JSON that millrace-builder prints. Throws Error when it is none.
TableReport parse_table_report(const std::string& function, const std::string& json);

/// Enters a build of each function's table into the state of the run, also when that cannot be
/// written: the tables are in use whatever the file says.
void note_tables(StateFile& state, const std::vector<TableReport>& reports);

/// Name of the log of the function's builder.
std::string builder_log(const PlanFunction& function);

/// Throws Error with the builder's own words unless it ended well. `memory`: made before it began.
void check_builder(const ExitStatus& end, const PlanFunction& function, const std::string& run_dir,
                   OomWatch& memory);

/// Runs the builder of function `number` of `plan`, which is saved as `plan_file` in `run_dir`, and
/// enters into it how many counters the table wants. Throws Error with the builder's own words when
/// it fails.
TableReport build_table(Plan& plan, std::uint32_t number, const std::string& plan_file,
                        const std::string& folder, const std::string& run_dir);

/// Runs a builder process for each function of `plan` that has an image, one after the other, by
/// build_table(); the plan must be saved in `run_dir` already.
std::vector<TableReport> build_tables(Plan& plan, const std::string& folder,
                                      const std::string& run_dir);

}  // namespace millrace
