// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "orchestration/supervisor/child.hpp"
#include "shared/config/plan.hpp"

/// Which program plays which part, and where its output goes.

namespace millrace {

/// Folder of this executable: the other programs lie beside it. Throws Error.
std::string executable_folder();

/// "millrace-classifier": what plays that actor.
std::string program_of(const Plan& plan, std::uint32_t actor);

/// "<folder>/millrace-<part> --run-dir <run_dir> --actor <actor>".
Command actor_command(const std::string& folder, const std::string& run_dir, const Plan& plan,
                      std::uint32_t actor);
/// "<folder>/millrace-<name> --run-dir <run_dir>": an observer.
Command observer_command(const std::string& folder, const std::string& name,
                         const std::string& run_dir);
/// `plan_path`: in the run directory, by which the builder knows what is the topology's.
Command builder_command(const std::string& folder, const std::string& plan_path,
                        std::uint32_t function);

/// "<run_dir>/logs/<name>.log".
std::string log_path(const std::string& run_dir, const std::string& name);
/// Adds a line to that log, as say() does. Nothing happens when it cannot be written.
void append_to_log(const std::string& run_dir, const std::string& name, std::uint64_t time_ns,
                   const std::string& text);
/// The last lines of that log without their times, at most 2,000 bytes, for an error message; empty
/// when there are none.
std::string log_tail(const std::string& run_dir, const std::string& name);

}  // namespace millrace
