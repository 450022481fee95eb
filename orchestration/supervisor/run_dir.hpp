// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/unique_fd.hpp"

/// The run directory of a topology: plan, control sockets, logs. What lives in it decides whether
/// the topology runs.
///
///     <run dir>/plan.bin        the plan (shared/control/plan_file.hpp)
///     <run dir>/supervisor.lock locked while a supervisor lives; holds its pid
///     <run dir>/hub.ready       the hub has made segment and status file
///     <run dir>/control.*       sockets (shared/control/endpoint.hpp)
///     <run dir>/logs/<actor>.log

namespace millrace {

/// Where topology `name` runs unless told otherwise: /run/millrace/<name> for root, else
/// $XDG_RUNTIME_DIR/millrace/<name>. Throws Error when that variable is missing.
std::string default_run_dir(const std::string& name);

/// `given` made absolute, or the default when it is empty. A process knows its topology by this
/// very text.
std::string run_dir_of(const std::string& name, const std::string& given);

/// A process of ours that runs with `--run-dir <run_dir>`, whoever started it.
struct FoundProcess {
  pid_t pid = 0;
  std::uint64_t start_time = 0;
  std::string program;  ///< "millrace-hub"
  std::string run_dir;
  int actor = -1;  ///< -1: it has none (telemetry)
};
/// All of them, found in /proc by their command lines; ended ones that nobody has waited for are
/// not.
std::vector<FoundProcess> find_processes(const std::string& run_dir);

/// A process of a topology of the same name in another run directory, if there is one: names of
/// shared memory would collide.
std::optional<FoundProcess> find_namesake(const std::string& run_dir, const std::string& topology);

/// Makes the directory and logs/ below it, mode 0700. Throws Error with the path.
void make_run_dir(const std::string& run_dir);

/// Removes what an ended topology leaves: shared memory, table images, sockets, plan; logs stay
/// when `keep_logs`. Nobody may run.
void clean_run_dir(const std::string& run_dir, const std::string& topology, bool keep_logs);

/// Held while its owner lives: at most one supervisor a run directory. The kernel lets go of it
/// whatever way the owner ends.
class SupervisorLock {
 public:
  /// Throws Error that names the pid of the supervisor which holds it.
  explicit SupervisorLock(const std::string& run_dir);
  /// Pid of the supervisor that lives, 0 when none does.
  static pid_t holder(const std::string& run_dir);

 private:
  UniqueFd file_;
};

}  // namespace millrace
