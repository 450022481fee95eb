// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shared/base/unique_fd.hpp"

namespace millrace {

/// Start time of a process in clock ticks since boot (/proc/PID/stat, field 22), 0 when there is
/// none. With the pid it names one process for good; a pid alone is used again.
std::uint64_t process_start_time(std::int32_t pid);

/// pidfd of exactly that process, or an empty one when it has gone.
UniqueFd open_process(std::int32_t pid, std::uint64_t start_time);

/// True when the process behind the pidfd has ended (the descriptor is readable). Does not block.
bool process_ended(const UniqueFd& process);

}  // namespace millrace
