// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/base/clock.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <random>

namespace millrace {
namespace {

TEST(Clock, TicksAndNanosecondsAreExactWithinOneInABillion) {
  std::mt19937_64 random(3);
  for (const std::uint64_t hz :
       {1'000'000'000ull, 2'095'078'000ull, 3'693'060'000ull, 24'000'000ull}) {
    const TscScale scale(hz);
    for (int i = 0; i < 10'000; ++i) {
      const std::uint64_t ticks = random() >> (random() % 40 + 8);
      const long double exact = static_cast<long double>(ticks) * 1e9L / hz;
      const long double found = scale.to_ns(ticks);
      EXPECT_LE(std::abs(found - exact), 1 + exact * 2e-8L) << hz << " Hz, " << ticks;
    }
  }
}

TEST(Clock, TicksOfADurationLastThatDuration) {
  const TscScale scale(2'095'078'000);
  for (const std::uint64_t ns : {0ull, 1ull, 500'000ull, 10'000'000ull, 86'400'000'000'000ull}) {
    const std::uint64_t back = scale.to_ns(scale.to_ticks(ns));
    EXPECT_LE(back, ns);
    EXPECT_GE(back + 2 + ns / 50'000'000, ns);
  }
}

TEST(Clock, AReadingOfAnotherCoreThatIsBehindIsNoTime) {
  const TscScale scale(2'000'000'000);
  EXPECT_EQ(scale.ns_between(1'000, 3'000), 1'000u);
  EXPECT_EQ(scale.ns_between(3'000, 3'000), 0u);
  EXPECT_EQ(scale.ns_between(3'001, 3'000), 0u);
}

TEST(Clock, TheMeasuredRateFitsTheMonotonicClock) {
  const std::uint64_t hz = measure_tsc_hz();
  const TscScale scale(hz);
  const std::uint64_t ns_before = monotonic_ns();
  const std::uint64_t before = tsc_now();
  while (monotonic_ns() - ns_before < 20'000'000) {
  }
  const auto by_tsc = static_cast<double>(scale.to_ns(tsc_now() - before));
  const auto by_clock = static_cast<double>(monotonic_ns() - ns_before);
  // Threads of a loaded machine are put aside between two readings: generous.
  EXPECT_NEAR(by_tsc / by_clock, 1.0, 0.2);
}

TEST(Clock, SystemTimeIsTheTimeOfDay) {
  const auto seconds = static_cast<std::uint64_t>(std::time(nullptr));
  EXPECT_NEAR(static_cast<double>(system_clock_ns() / 1'000'000'000), static_cast<double>(seconds),
              5);
  const std::uint64_t before = monotonic_ns();
  EXPECT_GE(monotonic_ns(), before);
}

}  // namespace
}  // namespace millrace
