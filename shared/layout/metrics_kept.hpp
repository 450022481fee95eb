// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "shared/base/clock.hpp"

/// Whether what only observers read is written at all. It always is, but for the programs that
/// tests/bench/metrics_cost.py compares with: they are a build of their own, and nobody else's.

namespace millrace {

#ifdef MILLRACE_WITHOUT_METRICS_FOR_BENCH
inline constexpr bool kMetricsKept = false;
#else
inline constexpr bool kMetricsKept = true;
#endif

/// Forgets what it is told, as a counter of the programs without metrics does.
struct ForgottenCounter {
  constexpr ForgottenCounter(std::uint64_t&) noexcept {}  // NOLINT(google-explicit-*)
  constexpr ForgottenCounter& operator++() noexcept { return *this; }
  constexpr ForgottenCounter& operator+=(std::uint64_t) noexcept { return *this; }
  constexpr ForgottenCounter& operator=(std::uint64_t) noexcept { return *this; }
  constexpr operator std::uint64_t() const noexcept { return 0; }  // NOLINT(google-explicit-*)
};

/// A counter to write to, borrowed.
using CounterRef = std::conditional_t<kMetricsKept, std::uint64_t&, ForgottenCounter>;

/// Now, for a note and for nothing else: 0 where none is kept.
inline std::uint64_t tsc_for_note() noexcept {
  if constexpr (!kMetricsKept) return 0;
  return tsc_now();
}

}  // namespace millrace
