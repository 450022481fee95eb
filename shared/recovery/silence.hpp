// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "shared/base/thread_times.hpp"

namespace millrace {

/// Measures how long an actor's heartbeat has stood still. Time in which the thread was ready to
/// run and no processor ran it does not count: it is starved then, not hung, and a kill would not
/// make the host less busy. Pure: told the time and the thread's times, asks no clock.
class Silence {
 public:
  /// `beat`: its heartbeat as read at `now_ns`.
  void look(std::uint64_t beat, std::uint64_t now_ns) {
    if (beat == beat_) return;
    beat_ = beat;
    begin(now_ns);
  }
  /// Begins to count from now on: the watcher itself did not run, or the process is a new one.
  void begin(std::uint64_t now_ns) {
    since_ns_ = now_ns;
    then_.reset();
  }
  void begin(std::uint64_t beat, std::uint64_t now_ns) {
    beat_ = beat;
    begin(now_ns);
  }

  /// The whole time.
  std::uint64_t since(std::uint64_t now_ns) const { return now_ns - since_ns_; }
  /// The part that counts. `times` is called when half of the limit has passed, and again after the
  /// limit: the thread's times are needed only then.
  template <typename Times>
  std::uint64_t counted_ns(std::uint64_t now_ns, std::uint64_t limit_ns, Times times) {
    const std::uint64_t silent_ns = now_ns - since_ns_;
    if (silent_ns <= limit_ns / 2) return silent_ns;
    if (!then_) {
      then_ = times();
      then_at_ns_ = now_ns;
      return silent_ns;
    }
    if (silent_ns <= limit_ns) return silent_ns;
    return silent_ns - starved_ns(times(), now_ns - then_at_ns_);
  }

 private:
  std::uint64_t starved_ns(const std::optional<ThreadTimes>& now, std::uint64_t passed_ns) const {
    if (!now) return 0;
    // The kernel's sum has no wait that has not ended yet.
    if (now->ready && now->ran_ns == then_->ran_ns) return passed_ns;
    const std::uint64_t waited_ns = now->waited_ns - then_->waited_ns;
    return waited_ns < passed_ns ? waited_ns : passed_ns;
  }

  std::uint64_t beat_ = 0, since_ns_ = 0;
  std::optional<ThreadTimes> then_;
  std::uint64_t then_at_ns_ = 0;
};

}  // namespace millrace
