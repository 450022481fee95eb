// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/unique_fd.hpp"

namespace millrace {

/// How a process ended.
struct ExitStatus {
  bool known = true;  ///< false: it was not our child, only its end was seen
  int code = 0;       ///< when signal is 0
  int signal = 0;
  bool clean() const { return known && code == 0 && signal == 0; }
  /// "exited with 1", "killed by signal 9 (Killed)", "ended".
  std::string text() const;
};

/// What to run. `arguments` without the program's own name.
struct Command {
  std::string program;  ///< path
  std::vector<std::string> arguments;
  int segment = -1;  ///< file that it finds at kSegmentFd, borrowed; -1: none
};

/// A process of the topology: one that we started, or one that a supervisor before us did. Exactly
/// that process, never another one with its pid: known by a pidfd. Move-only; the destructor leaves
/// the process alone, since workers outlive a dead supervisor.
class Child {
 public:
  /// Starts `command` with standard output and error appended to `log_path` (or output to `output`,
  /// if given), no signal blocked, no descriptor of ours beside 0, 1, 2 and the segment, the
  /// caller's folder and environment. Throws Error that names the program.
  static Child start(const Command& command, const std::string& log_path, int output = -1);
  /// Takes over a running process; nothing when exactly it has gone.
  static std::optional<Child> adopt(pid_t pid, std::uint64_t start_time);

  pid_t pid() const { return pid_; }
  std::uint64_t start_time() const { return start_time_; }
  /// Readable once the process has ended.
  int descriptor() const { return process_.get(); }
  /// How it ended, once it has; reaps it. Does not block.
  std::optional<ExitStatus> ended();
  /// The same, after waiting up to `timeout_ms`.
  std::optional<ExitStatus> wait(int timeout_ms);
  /// Sends a signal; nothing happens when it has ended.
  void signal(int number) const;

 private:
  Child(pid_t pid, std::uint64_t start_time, UniqueFd process, bool ours)
      : pid_(pid), start_time_(start_time), process_(std::move(process)), ours_(ours) {}

  pid_t pid_;
  std::uint64_t start_time_;
  UniqueFd process_;
  bool ours_;
  std::optional<ExitStatus> end_;
};

/// What a program that ends by itself printed, and how it ended.
struct Captured {
  std::string output;  ///< standard output, at most 1 MiB
  ExitStatus end;
};
/// Runs `command` to its end; standard error goes to `log_path`. Throws Error when it cannot start.
Captured run_and_capture(const Command& command, const std::string& log_path);

}  // namespace millrace
