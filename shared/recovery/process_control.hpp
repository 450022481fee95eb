// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "shared/base/thread_times.hpp"

namespace millrace {

/// What recovery needs of the operating system; tests simulate a process that cannot be killed.
class ProcessControl {
 public:
  virtual ~ProcessControl() = default;
  /// True once the exit of exactly that process is certain (its pidfd is readable, or pid and start
  /// time no longer fit). Never blocks.
  virtual bool exited(std::int32_t pid, std::uint64_t start_time) = 0;
  /// True once it has begun to end, though its exit may take long. Never blocks; costs some
  /// microseconds.
  virtual bool ending(std::int32_t pid, std::uint64_t start_time) = 0;
  /// A signal has stopped it (SIGSTOP, a debugger). Never blocks; costs some microseconds.
  virtual bool stopped(std::int32_t pid, std::uint64_t start_time) = 0;
  /// Sends SIGKILL. Its effect is seen by exited().
  virtual void kill(std::int32_t pid, std::uint64_t start_time) = 0;
  /// Of its main thread, which is the one that gives signs of life. Never blocks; costs some
  /// microseconds. Nothing: not known.
  virtual std::optional<ThreadTimes> times(std::int32_t pid) = 0;
  virtual std::uint64_t now_ns() = 0;  ///< monotonic
};

}  // namespace millrace
