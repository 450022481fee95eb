// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/recovery/leader_watch.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

class LeaderWatchTest : public testing::Test {
 protected:
  /// Asks every 50 ms, of a hub that stands still at `beat`; true when it was found to hang.
  bool hangs_within(std::uint64_t beat, std::uint64_t ms) {
    for (const std::uint64_t end = now_ + ms * kMs; now_ < end; now_ += 50 * kMs) {
      if (watch_.hangs(beat, now_)) return true;
    }
    return false;
  }

  LeaderWatch watch_{1000 * kMs, 5};
  std::uint64_t now_ = 3'600'000 * kMs;
};

TEST_F(LeaderWatchTest, OneThatStandsStillHangsAfterFiveLimits) {
  EXPECT_FALSE(hangs_within(7, 5000));
  EXPECT_TRUE(hangs_within(7, 200));
}

TEST_F(LeaderWatchTest, OneThatBeatsNowAndThenDoesNot) {
  for (std::uint64_t beat = 1; beat < 10; ++beat) EXPECT_FALSE(hangs_within(beat, 4900)) << beat;
}

TEST_F(LeaderWatchTest, TimeInWhichWeDidNotRunIsNotItsOwn) {
  EXPECT_FALSE(hangs_within(7, 4900));
  now_ += 60'000 * kMs;
  EXPECT_FALSE(hangs_within(7, 4900));
  EXPECT_TRUE(hangs_within(7, 300));
}

}  // namespace
}  // namespace millrace
