// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/config/plan.hpp"

namespace millrace {

/// A planned restart: what runs ends, and what is to be starts in its run directory, with its
/// history. Should that not start, what ran before does again, with its `control:` and `bypass:`.
struct PlannedRestart {
  std::string file;                  ///< the topology; empty: `plan`
  std::optional<Plan> plan;          ///< an earlier one, which has neither `control:` nor `bypass:`
  std::string run_dir;               ///< of what runs
  std::string what;                  ///< for the history
  std::vector<std::string> changes;  ///< said when it is done
  bool json = false;
};

/// Throws Error that says why it is refused: `needed` is not empty and it was not asked for, or
/// systemd runs the topology.
void check_restart(const std::vector<std::string>& needed, bool asked, const std::string& run_dir);

/// Throws Error when this host lacks a device that `next` needs and `running` does not, with what
/// mends it: before anything ends.
void check_host(const Plan& running, const Plan& next);

/// Does it in a process of its own session, which goes on when this one's terminal goes, and waits
/// for it. Prints what was done, and the outage. Throws CLI::RuntimeError when it failed, said.
void restart_in_background(const PlannedRestart& restart);

}  // namespace millrace
