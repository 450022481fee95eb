// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "shared/layout/metrics_kept.hpp"
#include "shared/layout/status_file.hpp"

namespace millrace {

/// Bucket of a duration in a LatencyHistogram: 16 buckets to a power of two, the first 16 are
/// single nanoseconds.
constexpr std::uint32_t latency_bucket(std::uint64_t ns) noexcept {
  if (ns < 16) return static_cast<std::uint32_t>(ns);
  const auto exponent = static_cast<std::uint32_t>(std::bit_width(ns)) - 5;
  const auto bucket = static_cast<std::uint32_t>((exponent + 1) * 16 + ((ns >> exponent) & 15));
  return bucket < kLatencyBucketCount ? bucket : kLatencyBucketCount - 1;
}

/// Smallest duration of a bucket.
constexpr std::uint64_t latency_of_bucket(std::uint32_t bucket) noexcept {
  if (bucket < 16) return bucket;
  const std::uint32_t exponent = bucket / 16 - 1;
  return (std::uint64_t{16} + bucket % 16) << exponent;
}

/// Counts a duration, of one thing or of `count` alike. The histogram's one writer calls it:
/// nothing is lost with it.
inline void note_duration(LatencyHistogram& histogram, std::uint64_t ns,
                          std::uint64_t count = 1) noexcept {
  if (!metrics_kept()) return;
  const auto add = [](std::atomic<std::uint64_t>& word, std::uint64_t more) {
    word.store(word.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  };
  add(histogram.count[latency_bucket(ns)], count);
  add(histogram.sum_ns, ns * count);
}
static_assert(latency_bucket(15) == 15 && latency_bucket(16) == 16 && latency_bucket(31) == 31);
static_assert(latency_bucket(32) == 32 && latency_bucket(34) == 33 && latency_of_bucket(33) == 34);

}  // namespace millrace
