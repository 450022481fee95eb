// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/base/clock.hpp"

#include <chrono>
#include <thread>

namespace millrace {
namespace {
template <typename Clock>
std::uint64_t now_of() noexcept {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
          .count());
}
}  // namespace

std::uint64_t system_clock_ns() noexcept { return now_of<std::chrono::system_clock>(); }
std::uint64_t monotonic_ns() noexcept { return now_of<std::chrono::steady_clock>(); }

std::uint64_t measure_tsc_hz() {
  const std::uint64_t ns_before = monotonic_ns();
  const std::uint64_t tsc_before = tsc_now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::uint64_t ns = monotonic_ns() - ns_before;
  const std::uint64_t ticks = tsc_now() - tsc_before;
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(ticks) * 1'000'000'000 / ns);
}

}  // namespace millrace
