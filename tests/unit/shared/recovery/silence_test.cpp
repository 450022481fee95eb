// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/recovery/silence.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

constexpr std::uint64_t kLimit = 1000;

class SilenceTest : public testing::Test {
 protected:
  std::uint64_t counted(std::uint64_t now) {
    return silence_.counted_ns(now, kLimit, [&] {
      ++asked_;
      return times_;
    });
  }
  Silence silence_;
  std::optional<ThreadTimes> times_ = ThreadTimes{.ran_ns = 5, .waited_ns = 100};
  int asked_ = 0;
};

TEST_F(SilenceTest, CountsFromTheLastNewBeat) {
  silence_.look(7, 10'000);
  silence_.look(7, 10'300);
  EXPECT_EQ(counted(10'400), 400u);
  silence_.look(8, 10'450);
  EXPECT_EQ(counted(10'500), 50u);
  EXPECT_EQ(asked_, 0) << "whoever beats costs nothing";
}

TEST_F(SilenceTest, OfOneThatSleepsCountsWhole) {
  silence_.look(7, 10'000);
  EXPECT_EQ(counted(10'600), 600u);
  EXPECT_EQ(counted(11'001), 1001u);
  EXPECT_EQ(asked_, 2);
}

TEST_F(SilenceTest, LeavesOutWaitsForAProcessor) {
  silence_.look(7, 10'000);
  counted(10'600);
  times_ = ThreadTimes{.ran_ns = 50, .waited_ns = 400, .ready = true};
  EXPECT_EQ(counted(11'100), 800u);
  times_->waited_ns = 100'000;
  EXPECT_EQ(counted(11'100), 600u) << "not more than the time that has passed";
}

TEST_F(SilenceTest, LeavesOutAWaitThatHasNotEnded) {
  silence_.look(7, 10'000);
  counted(10'600);
  times_->ready = true;
  EXPECT_EQ(counted(13'000), 600u);
  times_->ran_ns = 6;  // a processor took it, and it gave no sign of life
  EXPECT_EQ(counted(13'000), 3000u);
}

TEST_F(SilenceTest, CountsWholeWhereTheKernelDoesNotTell) {
  times_.reset();
  silence_.look(7, 10'000);
  EXPECT_EQ(counted(10'600), 600u);
  EXPECT_EQ(counted(13'000), 3000u);
}

TEST_F(SilenceTest, BeginsAnewWhenTheWatcherDidNotRun) {
  silence_.look(7, 10'000);
  counted(10'600);
  silence_.begin(20'000);
  silence_.look(7, 20'100);
  EXPECT_EQ(counted(20'100), 100u);
}

}  // namespace
}  // namespace millrace
