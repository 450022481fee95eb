// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/token_bucket.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace millrace {
namespace {

constexpr std::uint64_t kBucketSecond = 1'000'000'000;

/// How many of `tries` at one moment may go.
int taken_at(TokenBucket& bucket, std::uint64_t now_ns, int tries) {
  int taken = 0;
  for (int i = 0; i < tries; ++i) taken += bucket.take(now_ns) ? 1 : 0;
  return taken;
}

TEST(TokenBucket, ItBeginsWithAWholeBurst) {
  TokenBucket bucket(10, 3);
  EXPECT_EQ(taken_at(bucket, 0, 9), 3);
  EXPECT_EQ(taken_at(bucket, 0, 9), 0);
}

TEST(TokenBucket, OneMoreMayGoAfterEachInterval) {
  TokenBucket bucket(10, 3);
  taken_at(bucket, kBucketSecond, 9);
  EXPECT_EQ(taken_at(bucket, kBucketSecond + kBucketSecond / 10 - 1, 9), 0);
  EXPECT_EQ(taken_at(bucket, kBucketSecond + kBucketSecond / 10, 9), 1);
  EXPECT_EQ(taken_at(bucket, kBucketSecond + kBucketSecond / 10 * 3, 9), 2);
}

TEST(TokenBucket, APauseOfAnyLengthIsWorthOneBurst) {
  for (const std::uint64_t pause_s : {1u, 60u, 1'000'000u}) {
    TokenBucket bucket(10, 3);
    taken_at(bucket, 1, 9);
    EXPECT_EQ(taken_at(bucket, pause_s * kBucketSecond, 9), 3) << pause_s;
  }
}

TEST(TokenBucket, FrequentTriesDoNotLoseTheRestOfAnInterval) {
  TokenBucket bucket(7, 1);  // the interval is no whole number of nanoseconds
  taken_at(bucket, kBucketSecond, 1);
  int taken = 0;
  for (std::uint64_t ms = 1; ms <= 10'000; ++ms) {
    taken += bucket.take(kBucketSecond + ms * 1'000'000) ? 1 : 0;
  }
  EXPECT_GE(taken, 69);
  EXPECT_LE(taken, 70);
}

TEST(TokenBucket, ARateOf0IsNoLimit) {
  TokenBucket bucket(0, 1);
  EXPECT_EQ(taken_at(bucket, 0, 10'000), 10'000);
  TokenBucket without_burst(0, 0);
  EXPECT_EQ(taken_at(without_burst, 5, 10), 10);
}

}  // namespace
}  // namespace millrace
