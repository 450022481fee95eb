// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// Names of the files of a run directory that programs of more than one folder know. What all lies
/// there: orchestration/supervisor/run_dir.hpp.

namespace millrace {

/// The plan (plan_file.hpp).
inline std::string plan_path(const std::string& run_dir) { return run_dir + "/plan.bin"; }

/// Says that the hub has made segment and status file.
inline std::string hub_ready_path(const std::string& run_dir) { return run_dir + "/hub.ready"; }

}  // namespace millrace
