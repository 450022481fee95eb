// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <x86intrin.h>

#include <cstdint>

namespace millrace {

/// Time stamp counter: the time of the data path (constant_tsc is required, nonstop).
inline std::uint64_t tsc_now() noexcept { return __rdtsc(); }

/// Ticks to nanoseconds without a division: (ticks * scale) >> 32.
class TscScale {
 public:
  TscScale() = default;
  explicit TscScale(std::uint64_t tsc_hz)
      : hz_(tsc_hz), scale_((std::uint64_t{1'000'000'000} << 32) / tsc_hz) {}
  std::uint64_t to_ns(std::uint64_t ticks) const noexcept {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(ticks) * scale_) >> 32);
  }
  /// From one reading to another; 0 when that is earlier, as readings of two cores may be.
  std::uint64_t ns_between(std::uint64_t from, std::uint64_t to) const noexcept {
    return to > from ? to_ns(to - from) : 0;
  }
  std::uint64_t to_ticks(std::uint64_t ns) const noexcept {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(ns) * hz_ / 1'000'000'000);
  }

 private:
  std::uint64_t hz_ = 0;
  std::uint64_t scale_ = 0;
};

/// Measures the counter's rate against the monotonic clock for about 20 ms. Hub only; the others
/// read the status file.
std::uint64_t measure_tsc_hz();
std::uint64_t system_clock_ns() noexcept;
std::uint64_t monotonic_ns() noexcept;

}  // namespace millrace
