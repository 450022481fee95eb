// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

/// Logs of a topology that runs for months stay small. Each is one file that its process appends
/// to for as long as it lives, and one older file:
///
///     <run dir>/logs/front.0.log      what is said now
///     <run dir>/logs/front.0.log.1    what was said before that
///
/// Processes have their file open and know nothing of this: when it has grown it is copied, and
/// made empty in place. What is said in the microseconds between the end of the copy and that is
/// lost. A reader of both holds a shared lock (flock) on the first meanwhile, and sees every
/// line once.

namespace millrace {

/// A log is moved when it has more than this: some ten thousand lines.
inline constexpr std::uint64_t kLogBytesMax = std::uint64_t{1} << 20;
/// The most that is kept of one which grew faster than it was looked at; its last bytes.
inline constexpr std::uint64_t kOlderLogBytesMax = 2 * kLogBytesMax;

/// "<log>.1"
std::string older_log_path(const std::string& log);

/// Moves what `log` says to its older file when it has more than `bytes_max`. False when it has
/// not, is not there, or a process reads it just now (then the next look does it). Does not block
/// for longer than copying takes. Throws Error when it cannot be written.
bool move_when_large(const std::string& log, std::uint64_t bytes_max);

/// Looks at all logs of a run directory every second. One thread.
class LogKeeper {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kInterval{1};

  /// An error is told once on stderr: no traffic depends on it.
  void tend(const std::string& run_dir, Clock::time_point now);

 private:
  Clock::time_point next_{};
  bool failed_ = false;
};

}  // namespace millrace
