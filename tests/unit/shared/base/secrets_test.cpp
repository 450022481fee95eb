// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/secrets.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(Secrets, AreReplacedWhereverTheyStand) {
  EXPECT_EQ(without_secrets("a key, key", {"key"}), "a (secret), (secret)");
  EXPECT_EQ(without_secrets("none", {"key"}), "none");
  EXPECT_EQ(without_secrets("text", {""}), "text");
}

TEST(Secrets, ThatArePartsOfOthersLeaveNothingBehind) {
  EXPECT_EQ(without_secrets("user:key", {"key", "user:key"}), "(secret)");
}

}  // namespace
}  // namespace millrace
