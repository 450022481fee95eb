// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/boot.hpp"

#include <gtest/gtest.h>

#include "shared/base/clock.hpp"

namespace millrace {
namespace {

TEST(Boot, ItsClockIsNeverBehindTheMonotonicOne) {
  const std::uint64_t monotonic = monotonic_ns();
  const std::uint64_t first = boot_clock_ns();
  EXPECT_GE(first, monotonic);
  EXPECT_GE(boot_clock_ns(), first);
}

TEST(Boot, HasOneName) {
  EXPECT_FALSE(boot_id().empty());
  EXPECT_EQ(boot_id(), boot_id());
}

}  // namespace
}  // namespace millrace
