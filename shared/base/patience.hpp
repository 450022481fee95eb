// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace millrace {

/// A limit of time for what another process has to do. Time in which the waiting thread did not run
/// itself does not count, as the other process may have stood still as well: of the time between
/// two looks at most kGap counts. The thread has to look more often than that.
class Patience {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kGap{500};
  static constexpr std::chrono::milliseconds kLook{200};  ///< a wait between two looks, at most

  explicit Patience(std::chrono::milliseconds limit, Clock::time_point now = Clock::now())
      : looked_(now), end_(now + limit) {}

  /// What is left of it, rounded up; 0: it is over.
  std::chrono::milliseconds left(Clock::time_point now = Clock::now()) {
    if (now - looked_ > kGap) end_ += now - looked_ - kGap;
    looked_ = now;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - now);
    return left.count() > 0 ? left : std::chrono::milliseconds(0);
  }
  bool is_over() { return left().count() == 0; }

 private:
  Clock::time_point looked_, end_;
};

}  // namespace millrace
