// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#ifdef MILLRACE_METRICS_SWITCH_FOR_BENCH
#include <atomic>
#include <csignal>
#endif

/// Whether what only observers read is written at all. It always is, but for the programs of
/// tests/bench/metrics_cost.py, which are a build of their own: each SIGUSR2 turns all of it off or
/// on again while packets go on, so that the same process is compared with itself.

namespace millrace {

#ifdef MILLRACE_METRICS_SWITCH_FOR_BENCH

inline std::atomic<bool> metrics_switch{true};
inline const int metrics_switch_handler = [] {
  struct sigaction action {};
  action.sa_handler = [](int) { metrics_switch.store(!metrics_switch.load()); };
  action.sa_flags = SA_RESTART;
  return sigaction(SIGUSR2, &action, nullptr);
}();

inline bool metrics_kept() noexcept { return metrics_switch.load(std::memory_order_relaxed); }

/// A counter to write to, borrowed. Forgets what it is told while the switch is off.
class CounterRef {
 public:
  CounterRef(std::uint64_t& at) noexcept : at_(at) {}  // NOLINT(google-explicit-*)
  CounterRef& operator++() noexcept { return *this += 1; }
  CounterRef& operator+=(std::uint64_t more) noexcept { return *this = at_ + more; }
  CounterRef& operator=(std::uint64_t value) noexcept {
    if (metrics_kept()) at_ = value;
    return *this;
  }
  operator std::uint64_t() const noexcept { return at_; }  // NOLINT(google-explicit-*)

 private:
  std::uint64_t& at_;
};

#else

constexpr bool metrics_kept() noexcept { return true; }

/// A counter to write to, borrowed.
using CounterRef = std::uint64_t&;

#endif

}  // namespace millrace
