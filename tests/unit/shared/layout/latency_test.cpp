// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/layout/latency.hpp"

#include <gtest/gtest.h>

#include <random>

namespace millrace {
namespace {

constexpr std::uint64_t kLongest = (std::uint64_t{1} << 36) - 1;

TEST(Latency, EveryDurationLiesInItsBucketWithinSixAndAQuarterPercent) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint64_t ns = (random() & kLongest) >> (random() % 36);
    const std::uint32_t bucket = latency_bucket(ns);
    ASSERT_LT(bucket, kLatencyBucketCount);
    const std::uint64_t low = latency_of_bucket(bucket);
    ASSERT_LE(low, ns);
    ASSERT_LE(ns - low, low / 16) << ns;
    if (bucket + 1 < kLatencyBucketCount) {
      ASSERT_LT(ns, latency_of_bucket(bucket + 1));
    }
  }
}

TEST(Latency, BucketsAscendAndEachBeginsWithItsOwnDuration) {
  for (std::uint32_t bucket = 0; bucket < kLatencyBucketCount; ++bucket) {
    EXPECT_EQ(latency_bucket(latency_of_bucket(bucket)), bucket);
    if (bucket == 0) continue;
    EXPECT_GT(latency_of_bucket(bucket), latency_of_bucket(bucket - 1));
  }
}

TEST(Latency, WhatIsLongerThanTheTableLiesInItsLastBucket) {
  EXPECT_EQ(latency_bucket(kLongest), kLatencyBucketCount - 1);
  EXPECT_EQ(latency_bucket(kLongest + 1), kLatencyBucketCount - 1);
  EXPECT_EQ(latency_bucket(UINT64_MAX), kLatencyBucketCount - 1);
  EXPECT_EQ(latency_bucket(0), 0u);
}

}  // namespace
}  // namespace millrace
