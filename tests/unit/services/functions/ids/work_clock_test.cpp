// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/work_clock.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(WorkClock, GoesUntilItIsStopped) {
  const std::uint64_t begin = work_clock::now_ns();
  EXPECT_NE(begin, 0u);
  EXPECT_GE(work_clock::now_ns(), begin);
  work_clock::stop();
  EXPECT_EQ(work_clock::now_ns(), work_clock::now_ns());
  work_clock::is_stopped = false;  // for the other tests of this process
  EXPECT_GE(work_clock::now_ns(), begin);
}

}  // namespace
}  // namespace millrace
