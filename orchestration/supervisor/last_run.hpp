// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "orchestration/supervisor/bypass.hpp"
#include "orchestration/supervisor/run_dir.hpp"

namespace millrace {

/// What a planned restart takes along of the run that it ends, in a folder beside its directory:
///
///     <run dir>.PID.before/plan.bin.plan    its plan: `up` starts it again
///                          history/         see history.hpp
///                          supervisor.state its `control:`, which no plan has
///                          control.bypass   its `bypass:`, likewise
///
/// The folder goes with this object; of a restart that was killed, with the next start of any
/// topology, like all without a holder of the lock.
class LastRun {
 public:
  /// Keeps it. Throws Error when that cannot be done.
  explicit LastRun(const std::string& run_dir);

  const std::string& folder() const { return folder_.path; }
  std::string plan_path() const { return folder_.path + "/plan.bin.plan"; }

 private:
  /// Goes with its owner, also with one that could not keep all.
  struct Folder {
    explicit Folder(std::string name) : path(std::move(name)) {}
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder();
    const std::string path;
  };
  Folder folder_;
  std::optional<SupervisorLock> lock_;
};

/// What it was started with, of the folder of a LastRun; off.
std::optional<Bypass> bypass_of_last_run(const std::string& folder);

}  // namespace millrace
