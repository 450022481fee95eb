// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/random_secret.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(RandomSecret, IsAnotherOneEachTime) {
  const auto one = random_secret(), other = random_secret();
  EXPECT_NE(one, other);
  EXPECT_NE(one[0], one[1]);
}

}  // namespace
}  // namespace millrace
