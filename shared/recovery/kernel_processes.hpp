// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>

#include "shared/base/unique_fd.hpp"
#include "shared/recovery/process_control.hpp"

namespace millrace {

/// ProcessControl by pidfd: signals and exits of exactly the process that was meant.
class KernelProcesses : public ProcessControl {
 public:
  bool exited(std::int32_t pid, std::uint64_t start_time) override;
  bool ending(std::int32_t pid, std::uint64_t start_time) override;
  bool stopped(std::int32_t pid, std::uint64_t start_time) override;
  void kill(std::int32_t pid, std::uint64_t start_time) override;
  std::optional<ThreadTimes> times(std::int32_t pid) override;
  std::uint64_t now_ns() override;
  /// Blocks until one of the watched processes has ended or `timeout_ms` has passed.
  void wait_for_exit(int timeout_ms);

 private:
  const UniqueFd& watched(std::int32_t pid, std::uint64_t start_time);
  std::map<std::pair<std::int32_t, std::uint64_t>, UniqueFd> processes_;
};

}  // namespace millrace
