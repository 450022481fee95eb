// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu-worker/resident/batch_grace.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(BatchGrace, IsOverWhenAllThatWereSubmittedHaveComeBack) {
  BatchGrace grace;
  EXPECT_TRUE(grace.passed(grace.now())) << "nothing is at the device";
  grace.note_submitted(3);
  const std::uint64_t moment = grace.now();
  grace.note_submitted(9);
  grace.note_returned(2);
  EXPECT_FALSE(grace.passed(moment));
  grace.note_returned(3);
  EXPECT_TRUE(grace.passed(moment));
  EXPECT_FALSE(grace.passed(grace.now()));
}

TEST(BatchGrace, CountsGoRound) {
  BatchGrace grace;
  grace.note_submitted(2);
  grace.note_returned(0xfffffffe);
  const std::uint64_t moment = grace.now();
  EXPECT_FALSE(grace.passed(moment));
  grace.note_returned(2);
  EXPECT_TRUE(grace.passed(moment));
}

}  // namespace
}  // namespace millrace
