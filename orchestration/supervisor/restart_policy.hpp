// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace millrace {

struct RestartLimits {
  std::chrono::milliseconds first_delay{50};  ///< doubles with each restart that did not help
  std::chrono::milliseconds delay_max{5000};
  std::chrono::milliseconds healthy_after{1000};  ///< a life this long starts again at first_delay
  /// Restarts in `window`, or in a row of lives shorter than healthy_after; then the post is given
  /// up. A process that ends at once is given up after 71 s.
  std::uint32_t count_max = 20;
  std::chrono::milliseconds window{60000};
};

/// When a worker that ended may be started again. Pure: told the time, asks no clock.
class RestartPolicy {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RestartPolicy(RestartLimits limits) : limits_(limits), delay_(limits.first_delay) {}
  /// A process was started; the first one is no restart.
  void started(Time now);
  /// It runs since some time before: an earlier supervisor started it.
  void found(Time now);
  /// It ended. From now on ready_at() and given_up() speak of the next start.
  void ended(Time now);
  Time ready_at() const { return ready_at_; }
  /// Of the present life, or the last one.
  Time started_at() const { return started_at_; }
  /// For good, until allow() is called: it would be the restart above the limit.
  bool given_up() const { return given_up_; }
  /// The user wants it again (scale): counts from the start.
  void allow();
  /// An earlier supervisor started it that often again: counts go on, limits begin anew.
  void resume(std::uint32_t restarts);
  std::uint32_t restarts() const { return restarts_; }
  /// The last life was long enough: its successor may start at once.
  bool was_healthy() const { return was_healthy_; }

 private:
  RestartLimits limits_;
  std::chrono::milliseconds delay_;
  std::vector<Time> recent_;  // at most count_max, oldest first
  Time started_at_{};
  Time ready_at_{};
  std::uint32_t restarts_ = 0;
  bool ever_started_ = false;
  bool given_up_ = false;
  bool was_healthy_ = true;
};

}  // namespace millrace
