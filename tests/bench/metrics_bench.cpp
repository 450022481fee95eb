// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "shared/base/clock.hpp"
#include "shared/layout/latency.hpp"
#include "shared/layout/peak.hpp"

/// What each kind of metric costs on the way of a batch, which has up to 64 packets.

namespace millrace {
namespace {

void histogram(benchmark::State& state) {
  LatencyHistogram to{};
  std::uint64_t ns = 1;
  for (auto _ : state) {
    note_duration(to, ns);
    ns = ns * 29 % 1'000'003;
  }
  benchmark::DoNotOptimize(to);
}
BENCHMARK(histogram);

void peak(benchmark::State& state) {
  Peak to{};
  PeakMark mark(to);
  std::uint64_t value = 1;
  for (auto _ : state) {
    mark.note(1ull << 40, value);
    value = value * 29 % 1'000'003;
  }
  benchmark::DoNotOptimize(to);
}
BENCHMARK(peak);

/// A step of a batch as a classifier notes it: when it is, how long it took.
void step(benchmark::State& state) {
  LatencyHistogram to{};
  const TscScale scale(2'500'000'000);
  std::uint64_t since = tsc_now();
  for (auto _ : state) {
    const std::uint64_t now = tsc_now();
    note_duration(to, scale.to_ns(now - since));
    since = now;
  }
  benchmark::DoNotOptimize(to);
}
BENCHMARK(step);

}  // namespace
}  // namespace millrace

BENCHMARK_MAIN();
