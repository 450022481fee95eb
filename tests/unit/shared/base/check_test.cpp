// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/base/check.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(Check, APromiseThatHoldsCostsNothingAndIsAskedOnce) {
  int asked = 0;
  MILLRACE_CHECK(++asked == 1);
  EXPECT_EQ(asked, 1);
}

TEST(CheckDeathTest, ABrokenPromiseEndsTheProcessAndNamesItself) {
  const int packets = 3;
  EXPECT_EXIT(MILLRACE_CHECK(packets == 4), ::testing::KilledBySignal(SIGABRT),
              "check_test\\.cpp:[0-9]+: CHECK\\(packets == 4\\) failed");
}

TEST(CheckDeathTest, ItStandsWhereAStatementStands) {
  const bool odd = true;
  if (odd)
    MILLRACE_CHECK(odd);
  else
    MILLRACE_CHECK(!odd);
  EXPECT_DEATH(if (odd) MILLRACE_CHECK(!odd); else MILLRACE_CHECK(odd), "CHECK");
}

}  // namespace
}  // namespace millrace
