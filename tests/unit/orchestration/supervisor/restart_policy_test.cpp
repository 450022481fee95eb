// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/restart_policy.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

using std::chrono::milliseconds;

class RestartPolicyTest : public testing::Test {
 protected:
  /// Starts as soon as allowed, ends after `life`; returns the delay before the next start.
  milliseconds live(milliseconds life) {
    policy_.started(now_);
    now_ += life;
    policy_.ended(now_);
    const auto delay = std::chrono::duration_cast<milliseconds>(policy_.ready_at() - now_);
    now_ = policy_.ready_at();
    return delay;
  }

  RestartPolicy policy_{RestartLimits{}};
  RestartPolicy::Time now_{std::chrono::hours(1)};
};

TEST_F(RestartPolicyTest, WaitsTwiceAsLongEachTimeUpToFiveSeconds) {
  for (const int expected : {50, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000}) {
    EXPECT_EQ(live(milliseconds(1)), milliseconds(expected));
  }
}

TEST_F(RestartPolicyTest, WaitsTheSameEachTimeWhereTheFirstDelayIsTheLongest) {
  policy_ = RestartPolicy({.first_delay = milliseconds(20), .delay_max = milliseconds(20)});
  for (int life = 0; life < 5; ++life) EXPECT_EQ(live(milliseconds(1)), milliseconds(20));
}

TEST_F(RestartPolicyTest, StartsAgainAtTheShortestDelayAfterAHealthyLife) {
  live(milliseconds(1));
  EXPECT_EQ(live(milliseconds(1)), milliseconds(100));
  EXPECT_EQ(live(milliseconds(1000)), milliseconds(50));
}

TEST_F(RestartPolicyTest, DoesNotCountTheFirstStart) {
  live(milliseconds(5));
  EXPECT_EQ(policy_.restarts(), 0U);
  live(milliseconds(5));
  EXPECT_EQ(policy_.restarts(), 1U);
}

TEST_F(RestartPolicyTest, GivesUpAtTheTwentyFirstRestartInAMinute) {
  for (int life = 0; life <= 20; ++life) {
    EXPECT_FALSE(policy_.given_up()) << "after " << life << " lives";
    live(milliseconds(1000));
  }
  EXPECT_TRUE(policy_.given_up());
  EXPECT_EQ(policy_.restarts(), 20U);
}

TEST_F(RestartPolicyTest, GivesUpWhoEndsAtOnceHoweverSlowlyItIsStarted) {
  const auto begin = now_;
  for (int life = 0; life <= 20; ++life) {
    EXPECT_FALSE(policy_.given_up()) << "after " << life << " lives";
    live(milliseconds(life % 2 == 0 ? 1 : 999));
  }
  EXPECT_TRUE(policy_.given_up());
  EXPECT_GT(now_ - begin, std::chrono::minutes(1));
}

TEST_F(RestartPolicyTest, ShortLivesAreForgottenAfterAHealthyOne) {
  for (int life = 0; life < 20; ++life) live(milliseconds(1));
  live(std::chrono::minutes(2));
  live(milliseconds(1));
  EXPECT_FALSE(policy_.given_up());
}

TEST_F(RestartPolicyTest, GoesOnForeverWithARestartEveryFourSeconds) {
  for (int life = 0; life < 200; ++life) {
    live(milliseconds(4000));
    ASSERT_FALSE(policy_.given_up()) << "after " << life << " lives";
  }
}

TEST_F(RestartPolicyTest, GoesOnCountingWhereAnEarlierSupervisorWas) {
  policy_.resume(3);
  policy_.found(now_);
  EXPECT_EQ(policy_.restarts(), 3U);
  policy_.ended(now_ += milliseconds(5000));
  policy_.started(now_);
  EXPECT_EQ(policy_.restarts(), 4U);
  EXPECT_FALSE(policy_.given_up());
}

TEST_F(RestartPolicyTest, BeginsAnewWhenTheUserWantsIt) {
  for (int life = 0; life <= 20; ++life) live(milliseconds(1000));
  ASSERT_TRUE(policy_.given_up());
  policy_.allow();
  EXPECT_FALSE(policy_.given_up());
  EXPECT_LE(policy_.ready_at(), now_);
  EXPECT_EQ(live(milliseconds(1)), milliseconds(50));
}

}  // namespace
}  // namespace millrace
