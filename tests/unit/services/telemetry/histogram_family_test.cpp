// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/histogram_family.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "shared/layout/latency.hpp"

namespace millrace {
namespace {

/// As histogram_quantile() of Prometheus interpolates, in nanoseconds.
double quantile(const prometheus::ClientMetric::Histogram& histogram, double share) {
  const double rank = share * static_cast<double>(histogram.sample_count);
  double below = 0, low = 0;
  for (const auto& bucket : histogram.bucket) {
    const auto count = static_cast<double>(bucket.cumulative_count);
    if (count >= rank) {
      return 1e9 * (low + (bucket.upper_bound - low) * (rank - below) / (count - below));
    }
    below = count;
    low = bucket.upper_bound;
  }
  return 1e9 * low;
}

/// Upper end of the stored bucket in which the quantile lies.
std::uint64_t stored_quantile(const LatencyHistogram& histogram, std::uint64_t rank) {
  std::uint64_t count = 0;
  for (std::uint32_t i = 0; i + 1 < kLatencyBucketCount; ++i) {
    count += histogram.count[i];
    if (count >= rank) return latency_of_bucket(i + 1);
  }
  return latency_of_bucket(kLatencyBucketCount - 1);
}

TEST(HistogramFamily, SeveralHistogramsAreSummed) {
  LatencyHistogram one{}, two{};
  note_duration(one, 2000);
  note_duration(two, 2000);
  note_duration(two, 9'000'000'000);  // above the last bound
  const LatencyHistogram* const both[] = {&one, &two};
  const auto sum = exported(both);
  EXPECT_EQ(sum.sample_count, 3u);
  EXPECT_DOUBLE_EQ(sum.sample_sum, 9.000004);
  EXPECT_EQ(sum.bucket.back().cumulative_count, 3u);
  EXPECT_TRUE(std::isinf(sum.bucket.back().upper_bound));
  EXPECT_EQ(sum.bucket[sum.bucket.size() - 2].cumulative_count, 2u);
  EXPECT_EQ(exported({}).sample_count, 0u);
}

TEST(HistogramFamily, QuantilesAreOffByNoMoreThanIsSaid) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20; ++round) {
    LatencyHistogram histogram{};
    std::lognormal_distribution<double> spread(std::log(20'000) + 0.3 * round, 0.1 + 0.05 * round);
    std::vector<std::uint64_t> times(100'000);
    for (std::uint64_t& ns : times) {
      ns = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(spread(random)), 1024,
                                     1'500'000'000);
      note_duration(histogram, ns);
    }
    std::ranges::sort(times);
    const LatencyHistogram* const all[] = {&histogram};
    for (const double share : {0.5, 0.99, 0.999}) {
      const auto rank = static_cast<std::uint64_t>(share * static_cast<double>(times.size()));
      const auto exact = static_cast<double>(times[rank - 1]);
      const auto stored = static_cast<double>(stored_quantile(histogram, rank));
      EXPECT_GE(stored, exact);
      EXPECT_LE(stored, exact * 1.0625 + 1);
      const double found = quantile(exported(all), share);
      EXPECT_LE(found, exact * 1.5) << share;
      EXPECT_GE(found, exact / 1.5) << share;
    }
  }
}

}  // namespace
}  // namespace millrace
