// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/base/due.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(Due, IsSoAtOnceAndThenOnceAPause) {
  Due due(10);
  EXPECT_TRUE(due.at(5));
  EXPECT_FALSE(due.at(14));
  EXPECT_TRUE(due.at(15));
  EXPECT_TRUE(due.at(100));
  EXPECT_FALSE(due.at(109));
}

}  // namespace
}  // namespace millrace
