// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "shared/config/plan.hpp"

namespace millrace {

/// Before a command writes `path` beside a running topology: throws Error when that is a file which
/// it reads or writes itself (its YAML, rules and tables, captures of its ports), or lies in its
/// run directory.
void refuse_file_in_use(const Plan& plan, const std::string& run_dir, const std::string& path);

}  // namespace millrace
