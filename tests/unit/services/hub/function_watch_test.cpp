// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/hub/function_watch.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(FunctionWatch, TakesAFunctionOutAtTheLastDeathThatIsAllowed) {
  FunctionWatch watch(2, 3);
  EXPECT_FALSE(watch.died(1, 1 * kSecond));
  EXPECT_FALSE(watch.died(1, 2 * kSecond));
  EXPECT_FALSE(watch.died(0, 3 * kSecond)) << "another function's count is its own";
  EXPECT_TRUE(watch.died(1, 4 * kSecond));
}

TEST(FunctionWatch, OldDeathsDoNotCount) {
  FunctionWatch watch(1, 2);
  EXPECT_FALSE(watch.died(0, 1 * kSecond));
  EXPECT_FALSE(watch.died(0, 62 * kSecond));
  EXPECT_EQ(watch.recent(0), 1U);
  EXPECT_TRUE(watch.died(0, 63 * kSecond));
}

TEST(FunctionWatch, CountsAnewOnceItWasTakenOut) {
  FunctionWatch watch(1, 2);
  watch.died(0, 1);
  EXPECT_TRUE(watch.died(0, 2));
  EXPECT_FALSE(watch.died(0, 3));
  EXPECT_TRUE(watch.died(0, 4));
}

TEST(FunctionWatch, WithoutALimitNothingIsTakenOut) {
  FunctionWatch watch(1, 0);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_FALSE(watch.died(0, i));
  EXPECT_EQ(watch.recent(0), 0U);
}

}  // namespace
}  // namespace millrace
