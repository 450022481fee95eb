// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/base/patience.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

using std::chrono_literals::operator""ms;

constexpr Patience::Clock::time_point kBegin{};

TEST(Patience, IsOverWhenItsLimitHasPassedInShortLooks) {
  Patience patience(1000ms, kBegin);
  for (auto at = 0ms; at < 1000ms; at += 100ms) EXPECT_EQ(patience.left(kBegin + at), 1000ms - at);
  EXPECT_EQ(patience.left(kBegin + 1000ms), 0ms);
  EXPECT_EQ(patience.left(kBegin + 5000ms), 0ms);
}

TEST(Patience, CountsOfATimeWithoutALookNoMoreThanAGap) {
  Patience patience(1200ms, kBegin);
  EXPECT_EQ(patience.left(kBegin + 20'000ms), 700ms);
  EXPECT_EQ(patience.left(kBegin + 20'200ms), 500ms);
  EXPECT_EQ(patience.left(kBegin + 50'000ms), 0ms);
}

TEST(Patience, EndsAfterSomeLooksThatAreAllLate) {
  Patience patience(1200ms, kBegin);
  int looks = 0;
  while (patience.left(kBegin + ++looks * 10'000ms) > 0ms) ASSERT_LT(looks, 10);
  EXPECT_EQ(looks, 3);
}

TEST(Patience, RoundsUp) {
  Patience patience(10ms, kBegin);
  EXPECT_EQ(patience.left(kBegin + std::chrono::microseconds(9'999)), 1ms);
}

TEST(Patience, AsksTheClock) {
  Patience none(0ms), some(std::chrono::hours(1));
  EXPECT_TRUE(none.is_over());
  EXPECT_FALSE(some.is_over());
}

}  // namespace
}  // namespace millrace
