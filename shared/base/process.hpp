// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shared/base/unique_fd.hpp"

namespace millrace {

/// Start time of a process in clock ticks since boot (/proc/PID/stat, field 22), 0 when there is
/// none. With the pid it names one process for good; a pid alone is used again.
std::uint64_t process_start_time(std::int32_t pid);

/// That process has begun to end: the kernel takes it apart, and no thread of it runs its own code
/// any more, but for those that other cores still carry into the kernel. Ahead of process_ended()
/// by as long as that takes, 0.1 s and more for one that has a GPU. False when it has gone already.
bool process_is_ending(std::int32_t pid, std::uint64_t start_time);

/// A signal has stopped that process: it runs no code until another one lets it go on.
bool process_is_stopped(std::int32_t pid, std::uint64_t start_time);

/// pidfd of exactly that process, or an empty one: it has gone, or nothing can be opened here now.
UniqueFd open_process(std::int32_t pid, std::uint64_t start_time);

/// True when the process behind the pidfd has ended (the descriptor is readable). Does not block.
bool process_ended(const UniqueFd& process);
/// The same of what open_process() gave: without a descriptor when it is certain that there is no
/// such process. Taking a living one for dead would give a second owner to what it has.
bool process_ended(const UniqueFd& process, std::int32_t pid, std::uint64_t start_time);

/// Lets this process and those that it starts have as many files open as they may (RLIMIT_NOFILE,
/// soft to hard): the soft limit is 1,024 on most hosts, for the sake of select(2), which no
/// process here uses. What cannot be raised stays as it is.
void allow_many_files() noexcept;

}  // namespace millrace
