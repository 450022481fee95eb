// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <map>
#include <string>

#include "shared/config/plan.hpp"

namespace millrace {

/// Whether the files that a running plan was made from say something else by now. Looks every few
/// seconds at their times and sizes, and reads what has another one. One thread.
class ConfigWatch {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kInterval{2};

  /// True while a file differs from Plan::sources.
  bool differs(const Plan& plan, Clock::time_point now);

 private:
  struct Seen {
    timespec changed{};
    off_t bytes = -1;
    ino_t inode = 0;
    std::string hash;
  };
  const std::string& hash_now(const std::string& path);

  std::map<std::string, Seen> seen_;
  Clock::time_point next_{};
  std::uint32_t generation_ = 0;
  bool differs_ = false;
};

}  // namespace millrace
