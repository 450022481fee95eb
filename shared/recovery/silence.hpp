// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "shared/base/thread_times.hpp"

namespace millrace {

/// How long an actor has given no sign of life. Time in which it was ready to run and no processor
/// took it does not count: it is starved then, not hung, and a kill would not make the host less
/// busy. Pure: told the time and the thread's times, asks no clock.
class Silence {
 public:
  /// `beat`: its heartbeat as read at `now_ns`.
  void look(std::uint64_t beat, std::uint64_t now_ns) {
    if (beat == beat_) return;
    beat_ = beat;
    begin(now_ns);
  }
  /// From now on, whatever was before: the watcher did not run itself, or it is another life.
  void begin(std::uint64_t now_ns) {
    since_ns_ = now_ns;
    then_.reset();
  }
  void begin(std::uint64_t beat, std::uint64_t now_ns) {
    beat_ = beat;
    begin(now_ns);
  }

  /// All of it.
  std::uint64_t since(std::uint64_t now_ns) const { return now_ns - since_ns_; }
  /// How much of it counts, at most that since look() saw a new beat. `times` is called when half
  /// of the limit has passed and again behind the limit: only then it has to be known.
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
    // A wait that has not ended is in no sum yet.
    if (now->ready && now->ran_ns == then_->ran_ns) return passed_ns;
    const std::uint64_t waited_ns = now->waited_ns - then_->waited_ns;
    return waited_ns < passed_ns ? waited_ns : passed_ns;
  }

  std::uint64_t beat_ = 0, since_ns_ = 0;
  std::optional<ThreadTimes> then_;
  std::uint64_t then_at_ns_ = 0;
};

}  // namespace millrace
