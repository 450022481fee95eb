// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orchestration/supervisor/fleet.hpp"
#include "orchestration/supervisor/run_dir.hpp"
#include "shared/control/run_state.hpp"

/// A supervisor that takes over what another one started.

namespace millrace {

/// Throws Error when a supervisor of a build that had no supervisor.state yet has left its files in
/// `run_dir`: what it knew would be forgotten.
void refuse_older_build(const std::string& run_dir);

/// Of the topology in `run_dir`. Throws Error when there are none.
std::vector<FoundProcess> processes_to_take_over(const Plan& plan, const std::string& run_dir);

/// `fleet` has these processes from now on, and what the last supervisor wanted of each goes on.
void take_over_processes(const Plan& plan, Fleet& fleet, const std::vector<PostState>& states,
                         const std::vector<FoundProcess>& found);

/// Gives `fleet` the segment: of any process that has it; where this user may not look at their
/// descriptors, of hub or standby, which lend it. False: none hands it over.
bool take_over_segment(const Plan& plan, Fleet& fleet, const std::string& run_dir);

/// Processes that run and are not wanted.
void let_unwanted_drain(Fleet& fleet);

}  // namespace millrace
