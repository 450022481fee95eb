// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/host_clock.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

// Ticks are nanoseconds here: what the counter really does is of no account to a wall that is made.
constexpr std::uint64_t kHz = 1'000'000'000;
constexpr std::uint64_t kHour = 3'600'000'000'000;

/// A wall that goes by the counter, and is off by what a test says.
struct Wall {
  std::uint64_t ahead = 1'700'000'000'000'000'000;
  std::uint64_t now() const { return tsc_now() + ahead; }
};

double error_ns(const HostClock& clock, const Wall& wall, std::uint64_t tsc) {
  return static_cast<double>(static_cast<std::int64_t>(clock.to_ns(tsc) - wall.ahead - tsc));
}

/// Looks when it is time to.
void look_again(HostClock& clock) {
  const std::uint64_t begin = tsc_now();
  while (tsc_now() - begin < 60'000'000) {
  }
  clock.look();
}

TEST(HostClock, SaysWhatTheWallSaidThenAlsoOfTimesBeforeIt) {
  Wall wall;
  const std::uint64_t before = tsc_now() - kHour;
  const HostClock clock(TscScale(kHz), [&] { return wall.now(); });
  constexpr double kNear = 10e6;
  EXPECT_NEAR(error_ns(clock, wall, before), 0, kNear);
  const std::uint64_t later = tsc_now() + kHour;
  EXPECT_NEAR(error_ns(clock, wall, later), 0, kNear);
}

TEST(HostClock, FollowsAWallThatIsPutRight) {
  Wall wall;
  HostClock clock(TscScale(kHz), [&] { return wall.now(); });
  for (const std::uint64_t step :
       {kHour, std::uint64_t{0} - 2 * kHour, std::uint64_t{30'000'000'000}}) {
    const std::uint64_t tsc = tsc_now();
    const std::uint64_t before = clock.to_ns(tsc);
    wall.ahead += step;
    EXPECT_EQ(clock.to_ns(tsc), before) << "nobody has looked";
    look_again(clock);
    EXPECT_NEAR(error_ns(clock, wall, tsc), 0, 10e6);
  }
}

TEST(HostClock, LeavesSmallDifferencesAlone) {
  Wall wall;
  HostClock clock(TscScale(kHz), [&] { return wall.now(); });
  const std::uint64_t tsc = tsc_now();
  const std::uint64_t before = clock.to_ns(tsc);
  wall.ahead += 1'000'000;
  look_again(clock);
  EXPECT_EQ(clock.to_ns(tsc), before);
}

}  // namespace
}  // namespace millrace
