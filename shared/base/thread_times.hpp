// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace millrace {

/// What the main thread of a process has had of the processors since it began, in nanoseconds
/// (/proc/PID/task/PID/schedstat, proc(5)).
struct ThreadTimes {
  std::uint64_t ran_ns = 0;
  /// Ready to run, without a processor. A wait is added when it has ended.
  std::uint64_t waited_ns = 0;
  bool ready = false;  ///< it runs, or waits for a processor; false: it sleeps or is stopped
};

/// Nothing: it has gone, or the kernel does not tell. Takes some microseconds. `proc`: where /proc
/// is found.
std::optional<ThreadTimes> thread_times(std::int32_t pid,
                                        const std::filesystem::path& proc = "/proc");

}  // namespace millrace
