// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "shared/base/clock.hpp"

/// The clock by which WorkShare measures work. `millrace try` stops it in its process: otherwise
/// the alerts of a capture would depend on what else the host does. A search then takes what its
/// pieces take at least.

namespace millrace::work_clock {

inline std::atomic<bool> is_stopped = false;

/// Nanoseconds.
inline std::uint64_t now_ns() noexcept {
  return is_stopped.load(std::memory_order_relaxed) ? 0 : monotonic_ns();
}

inline void stop() noexcept { is_stopped.store(true, std::memory_order_relaxed); }

}  // namespace millrace::work_clock
