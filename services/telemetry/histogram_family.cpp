// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/histogram_family.hpp"

#include <array>
#include <limits>

#include "shared/layout/latency.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kFirstOctave = 10;
constexpr std::uint32_t kLastOctave = 30;

}  // namespace

prometheus::ClientMetric::Histogram exported(std::span<const LatencyHistogram* const> histograms) {
  std::array<std::uint64_t, kLatencyBucketCount> counts{};
  std::uint64_t sum_ns = 0;
  for (const LatencyHistogram* from : histograms) {
    for (std::uint32_t i = 0; i < kLatencyBucketCount; ++i) {
      counts[i] += from->count[i].load(std::memory_order_relaxed);
    }
    sum_ns += from->sum_ns.load(std::memory_order_relaxed);
  }
  prometheus::ClientMetric::Histogram histogram;
  std::uint32_t next = 0;
  std::uint64_t count = 0;
  const auto count_below = [&](std::uint64_t bound_ns) {
    for (; next < kLatencyBucketCount && latency_of_bucket(next) < bound_ns; ++next) {
      count += counts[next];
    }
    histogram.bucket.push_back({count, static_cast<double>(bound_ns) / 1e9});
  };
  for (std::uint32_t octave = kFirstOctave; octave <= kLastOctave; ++octave) {
    count_below(std::uint64_t{1} << octave);
    count_below(std::uint64_t{3} << (octave - 1));
  }
  count_below(UINT64_MAX);
  histogram.bucket.back().upper_bound = std::numeric_limits<double>::infinity();
  histogram.sample_count = count;
  histogram.sample_sum = static_cast<double>(sum_ns) / 1e9;
  return histogram;
}

}  // namespace millrace
