// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace millrace {

/// Tells a process that the kernel ended for want of memory from one that was killed: both end
/// by SIGKILL, and only the kernel's counts of such ends differ. Looks at that of this process'
/// control group, in which its children are, and at that of the host. One thread.
class OomWatch {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  /// What has been counted until now is of no interest. `root`: where /proc and /sys are found.
  explicit OomWatch(const std::string& root = "");

  /// To be called now and then, once a second at least: what was counted longer ago than some
  /// seconds explains nothing any more. Costs nothing when it was called just now.
  void look(Time now);
  /// Why a process has just ended by SIGKILL, for people: "out of memory: ..."; nothing: not for
  /// want of memory. Each count of the kernel explains one end.
  std::optional<std::string> explain(Time now);

 private:
  struct Count {
    std::string path;  ///< of the file; empty: there is none
    std::uint64_t seen = 0;
    std::uint64_t unexplained = 0;
    Time risen{};
  };
  static void read(Count& count, Time now);
  std::string limit() const;

  Count group_, host_;
  std::string group_name_, limit_path_;
  Time looked_{};
};

}  // namespace millrace
