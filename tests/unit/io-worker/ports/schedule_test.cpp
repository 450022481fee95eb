// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/schedule.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

constexpr std::uint64_t kHz = 2'000'000'000;  // 2 ticks a nanosecond
constexpr std::uint64_t kStart = 1'000'000;

TEST(Schedule, WithoutARateHasAsManyAsAreWanted) {
  Schedule schedule(0, 0, 0);
  EXPECT_EQ(schedule.ready(1, 256), 256u);
  EXPECT_EQ(schedule.next().due_tsc, 0u);
  EXPECT_EQ(schedule.next().ordinal, 1u);
  EXPECT_FALSE(schedule.exhausted());
  EXPECT_EQ(schedule.next_ready_ns(5), 0u);
}

TEST(Schedule, EndsAfterItsCountAlsoAfterARestart) {
  Schedule schedule(0, 10, 0);
  schedule.resume(7);
  EXPECT_EQ(schedule.ready(1, 256), 3u);
  for (std::uint64_t i = 7; i < 10; ++i) EXPECT_EQ(schedule.next().ordinal, i);
  EXPECT_EQ(schedule.ready(1, 256), 0u);
  EXPECT_TRUE(schedule.exhausted());
  schedule.resume(20);
  EXPECT_EQ(schedule.ready(1, 256), 0u);
  EXPECT_TRUE(schedule.exhausted());
}

TEST(Schedule, HandsOutPacketsAtEvenDistances) {
  Schedule schedule(1, 0, kHz);  // 2000 ticks apart
  EXPECT_EQ(schedule.ready(kStart, 256), 1u);
  EXPECT_EQ(schedule.next().due_tsc, kStart);
  EXPECT_EQ(schedule.ready(kStart + 1999, 256), 0u);
  EXPECT_EQ(schedule.next_ready_ns(kStart + 1000), 500u);
  EXPECT_EQ(schedule.ready(kStart + 2000, 256), 1u);
  EXPECT_EQ(schedule.ready(kStart + 7000, 256), 3u);
  EXPECT_EQ(schedule.ready(kStart + 7000, 2), 2u);
  // Late: the time is when they were due.
  EXPECT_EQ(schedule.next().due_tsc, kStart + 2000);
  EXPECT_EQ(schedule.next().due_tsc, kStart + 4000);
  EXPECT_EQ(schedule.next_ready_ns(kStart + 7000), 0u);
}

TEST(Schedule, OffersNeitherMoreNorLessThanTheRateOverALongTime) {
  Schedule schedule(14.88, 0, kHz);
  std::uint64_t handed = 0;
  std::uint64_t now = kStart;
  for (; now < kStart + kHz; now += 40'000) {
    const std::uint32_t ready = schedule.ready(now, 1'000'000);
    for (std::uint32_t i = 0; i < ready; ++i) EXPECT_LE(schedule.next().due_tsc, now + 1);
    handed += ready;
  }
  EXPECT_NEAR(static_cast<double>(handed), 14.88e6, 400);
  EXPECT_EQ(schedule.missed(), 0u);
}

TEST(Schedule, KeepsSomeDuePacketsAndCountsTheRestAsMissed) {
  Schedule schedule(1, 0, kHz);
  ASSERT_EQ(schedule.ready(kStart, 1), 1u);
  const std::uint64_t due = 10'000;
  const std::uint64_t now = kStart + (due - 1) * 2000;
  EXPECT_EQ(schedule.ready(now, 1'000'000), kDueMax);
  EXPECT_EQ(schedule.missed(), due - kDueMax);
  // Numbers have no gap: what was missed never got one.
  const Schedule::Next next = schedule.next();
  EXPECT_EQ(next.ordinal, 0u);
  EXPECT_EQ(next.due_tsc, kStart + (due - kDueMax) * 2000);
  EXPECT_EQ(schedule.ready(now, 1'000'000), kDueMax - 1);
  EXPECT_EQ(schedule.missed(), due - kDueMax);
}

TEST(Schedule, NothingIsDueOfTheTimeOfARest) {
  Schedule schedule(1, 0, 1'000'000'000);  // a packet each 1,000 ticks
  ASSERT_EQ(schedule.ready(5'000, 100), 1U);
  schedule.next();
  schedule.rest();
  schedule.rest();
  EXPECT_EQ(schedule.next_ready_ns(900'000'000), 0U);
  EXPECT_EQ(schedule.ready(900'000'000, 100), 1U);
  const Schedule::Next next = schedule.next();
  EXPECT_EQ(next.ordinal, 1U);
  EXPECT_EQ(next.due_tsc, 900'000'000U);
  EXPECT_EQ(schedule.ready(900'002'500, 100), 2U);
  EXPECT_EQ(schedule.missed(), 0U);
}

}  // namespace
}  // namespace millrace
