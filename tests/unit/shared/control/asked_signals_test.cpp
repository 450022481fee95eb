// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/control/asked_signals.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(AskedSignals, SayWhatHasComeOnce) {
  sigset_t before{};
  ASSERT_EQ(sigprocmask(SIG_BLOCK, nullptr, &before), 0);
  const AskedSignals signals({SIGUSR1, SIGUSR2});
  EXPECT_EQ(signals.next(), 0);
  ASSERT_EQ(raise(SIGUSR2), 0);
  EXPECT_EQ(signals.next(), SIGUSR2);
  EXPECT_EQ(signals.next(), 0);
  ASSERT_EQ(sigprocmask(SIG_SETMASK, &before, nullptr), 0);
}

}  // namespace
}  // namespace millrace
