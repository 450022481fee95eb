// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <thread>

#include "shared/layout/latency.hpp"
#include "tests/unit/services/telemetry/watched_topology.hpp"

namespace millrace {
namespace {

using test::samples;
using test::WatchedTopology;
using Samples = std::map<std::string, double>;

std::vector<prometheus::MetricFamily> collect(const WatchedTopology& watched) {
  Families families;
  add_streams(watched.source(), families);
  return families.take();
}

TEST(StreamMetrics, SumTheLedgersOfAStreamsLanes) {
  const WatchedTopology watched;
  LaneRecord record{};
  record.received = 100;
  record.received_bytes = 6000;
  record.transmitted[1] = 90;
  record.transmitted_bytes[1] = 5400;
  record.dropped[static_cast<std::size_t>(Reason::kNoPath)] = 10;
  record.batches = 4;
  watched.release(0, 0, record);
  watched.release(0, 1, record);
  watched.status.ingress_lane(0, 0).received = 150;
  watched.status.ingress_lane(0, 1).received = 100;
  const Samples found = samples(collect(watched));
  EXPECT_EQ(found.at("millrace_port_received_packets_total{port=lan,stream=lan.0,path=rest}"), 200);
  EXPECT_EQ(found.at("millrace_port_received_bytes_total{port=lan,stream=lan.0,path=rest}"), 12000);
  EXPECT_EQ(found.at("millrace_port_transmitted_packets_total{port=wan,stream=lan.0,path=rest}"),
            180);
  EXPECT_EQ(found.at("millrace_port_transmitted_packets_total{port=lan,stream=lan.0,path=rest}"),
            0);
  EXPECT_EQ(found.at("millrace_port_transmitted_bytes_total{port=wan,stream=lan.0,path=rest}"),
            10800);
  EXPECT_EQ(found.at("millrace_port_transmitted_bytes_total{port=lan,stream=lan.0,path=rest}"), 0);
  const std::string drops = "millrace_drops_total{stream=lan.0,path=rest,reason=";
  EXPECT_EQ(found.at(drops + "no_path,cause=policy,by=ingress}"), 20);
  EXPECT_EQ(found.at(drops + "tx_full,cause=loss,by=egress}"), 0);
  EXPECT_EQ(found.count(drops + "none,cause=loss,by=function}"), 0u);
  EXPECT_EQ(found.at("millrace_unaccounted_packets_total{stream=lan.0,path=rest}"), 0);
  EXPECT_EQ(found.at("millrace_released_batches_total{stream=lan.0,path=rest}"), 8);
  EXPECT_EQ(found.at("millrace_in_flight_packets{stream=lan.0,path=rest}"), 50);
  EXPECT_EQ(found.at("millrace_port_received_packets_total{port=wan,stream=wan.3,path=rest}"), 0);
  EXPECT_EQ(found.at("millrace_path_packets_total{path=rest,verdict=transmitted}"), 180);
  EXPECT_EQ(found.at("millrace_path_packets_total{path=rest,verdict=dropped}"), 20);
}

TEST(StreamMetrics, TellDropsForReasonsOfFunctionsByNameAndCause) {
  Plan plan = test::small_plan();
  plan.reasons = {{"odd", ReasonCause::kPacket, ""}, {"shut", ReasonCause::kPolicy, ""}};
  const WatchedTopology watched(plan);
  LaneRecord record{};
  record.dropped[kCoreReasonCount] = 3;
  record.generated[kCoreReasonCount + 1] = 1;
  watched.release(0, 0, record);
  const Samples found = samples(collect(watched));
  const std::string drops = "millrace_drops_total{stream=lan.0,path=rest,reason=";
  EXPECT_EQ(found.at(drops + "odd,cause=packet,by=function}"), 3);
  EXPECT_EQ(found.at(drops + "shut,cause=policy,by=function}"), 0);
  EXPECT_EQ(found.at("millrace_generated_packets_total{stream=lan.0,path=rest,reason=shut}"), 1);
}

TEST(StreamMetrics, TellWhatWasConsumedAndWhatWasGenerated) {
  const WatchedTopology watched;
  LaneRecord record{};
  record.consumed[static_cast<std::size_t>(Reason::kAnswered)] = 3;
  record.consumed[static_cast<std::size_t>(Reason::kNoPath)] = 1;  // a function may say any
  record.generated[static_cast<std::size_t>(Reason::kReply)] = 2;
  record.generated[static_cast<std::size_t>(Reason::kReport)] = 1;
  watched.release(0, 0, record);
  watched.release(0, 1, record);
  const Samples found = samples(collect(watched));
  const std::string consumed = "millrace_consumed_packets_total{stream=lan.0,path=rest,reason=";
  const std::string generated = "millrace_generated_packets_total{stream=lan.0,path=rest,reason=";
  EXPECT_EQ(found.at(consumed + "answered}"), 6);
  EXPECT_EQ(found.at(consumed + "control}"), 0);
  EXPECT_EQ(found.at(consumed + "no_path}"), 2);
  EXPECT_FALSE(found.contains(consumed + "reply}"));
  EXPECT_EQ(found.at(generated + "reply}"), 4);
  EXPECT_EQ(found.at(generated + "report}"), 2);
  EXPECT_EQ(found.at(generated + "held}"), 0);
  EXPECT_FALSE(found.contains(generated + "answered}"));
}

TEST(StreamMetrics, GiveTheMarksOfTheLastSecondsAndThePools) {
  const WatchedTopology watched(test::small_plan(), measure_tsc_hz());
  watched.start(2);
  StreamPeaks& peaks = watched.status.stream_peaks(0);
  PeakMark(peaks.latency_ns).note(tsc_now(), 3'000'000);
  PeakMark(peaks.rate).note(tsc_now(), 1'500'000);
  PeakMark(peaks.slots_used).note(tsc_now(), 60);
  const Samples found = samples(collect(watched));
  EXPECT_EQ(found.at("millrace_latency_high_water_10s_seconds{stream=lan.0}"), 0.003);
  EXPECT_EQ(found.at("millrace_rate_high_water_10s_packets_per_second{stream=lan.0}"), 1'500'000);
  EXPECT_EQ(found.at("millrace_pool_slots{stream=lan.0}"), 64);
  EXPECT_EQ(found.at("millrace_pool_buffers{stream=lan.0}"), 900);
  EXPECT_EQ(found.at("millrace_pool_slots_low_water_10s{stream=lan.0}"), 4);
  // Its ingress does not run: it is not known.
  EXPECT_EQ(found.count("millrace_pool_slots_low_water_10s{stream=wan.3}"), 0u);
}

TEST(StreamMetrics, CountWhatTheIngressRefusedAsReceivedAndDropped) {
  const WatchedTopology watched;
  watched.status.ingress_lane(0, 1).refused.add(5, 300, 0);
  const Samples found = samples(collect(watched));
  EXPECT_EQ(found.at("millrace_refused_packets_total{stream=lan.0,path=rest}"), 5);
  EXPECT_EQ(found.at("millrace_port_received_packets_total{port=lan,stream=lan.0,path=rest}"), 5);
  EXPECT_EQ(found.at("millrace_port_received_bytes_total{port=lan,stream=lan.0,path=rest}"), 300);
  const std::string drops = "millrace_drops_total{stream=lan.0,path=rest,reason=overload,";
  EXPECT_EQ(found.at(drops + "cause=loss,by=ingress}"), 5);
  EXPECT_EQ(found.at(drops + "cause=loss,by=function}"), 0);
  EXPECT_EQ(found.at("millrace_in_flight_packets{stream=lan.0,path=rest}"), 0);
}

TEST(StreamMetrics, LeaveInFlightOutWhileTheIngressCountsAnew) {
  const WatchedTopology watched;
  LaneRecord record{};
  record.received = 100;
  watched.release(0, 0, record);
  watched.status.ingress_lane(0, 0).received = 99;
  EXPECT_EQ(samples(collect(watched)).count("millrace_in_flight_packets{stream=lan.0,path=rest}"),
            0u);
}

TEST(StreamMetrics, GiveLatencyInExactCumulativeBuckets) {
  const WatchedTopology watched;
  LatencyHistogram& histogram = watched.status.latency(0);
  const std::vector<std::uint64_t> times = {1,    500,   1023,      1024,          1535,
                                            1536, 5'000, 1'000'000, 3'000'000'000, 60'000'000'000};
  std::uint64_t sum = 0;
  for (const std::uint64_t ns : times) {
    ++histogram.count[latency_bucket(ns)];
    sum += ns;
  }
  histogram.sum_ns = sum;
  for (const auto& family : collect(watched)) {
    if (family.name != "millrace_latency_seconds") continue;
    const auto& found = family.metric.at(0).histogram;
    EXPECT_EQ(found.sample_count, times.size());
    EXPECT_NEAR(found.sample_sum, static_cast<double>(sum) / 1e9, 1e-6);
    EXPECT_TRUE(std::isinf(found.bucket.back().upper_bound));
    double last_bound = 0;
    for (const auto& bucket : found.bucket) {
      EXPECT_GT(bucket.upper_bound, last_bound);
      last_bound = bucket.upper_bound;
      // Integer nanoseconds: below the bound.
      const auto below = std::count_if(times.begin(), times.end(), [&](std::uint64_t ns) {
        return static_cast<double>(ns) < std::round(bucket.upper_bound * 1e9);
      });
      EXPECT_EQ(bucket.cumulative_count, static_cast<std::uint64_t>(below)) << bucket.upper_bound;
    }
    return;
  }
  FAIL() << "no latency";
}

// A writer that releases as fast as it can: every scrape is consistent and none goes back.
TEST(StreamMetrics, NeverRunBackwardsWhileTheEgressWrites) {
  const WatchedTopology watched;
  std::atomic<bool> stop = false;
  std::jthread egress([&] {
    LaneRecord record{};
    while (!stop) {
      record.received += 64;
      record.transmitted[1] += 60;
      record.dropped[1] += 4;
      watched.status.ingress_lane(0, 0).received = record.received;
      watched.release(0, 0, record);
    }
  });
  // On a busy machine the two threads take turns: goes on until enough scrapes saw a change.
  constexpr int kMoves = 200;
  const std::uint64_t until = monotonic_ns() + 60'000'000'000;
  double last = 0;
  int moves = 0;
  while (moves < kMoves && monotonic_ns() < until) {
    const Samples found = samples(collect(watched));
    const double received =
        found.at("millrace_port_received_packets_total{port=lan,stream=lan.0,path=rest}");
    const double sent =
        found.at("millrace_port_transmitted_packets_total{port=wan,stream=lan.0,path=rest}");
    const double dropped = found.at(
        "millrace_drops_total{stream=lan.0,path=rest,reason=oversize,cause=packet,by=port}");
    ASSERT_EQ(received, sent + dropped);
    ASSERT_GE(received, last);
    ASSERT_EQ(found.count("millrace_in_flight_packets{stream=lan.0,path=rest}"), 1u);
    moves += received > last ? 1 : 0;
    last = received;
  }
  stop = true;
  EXPECT_EQ(moves, kMoves);
}

}  // namespace
}  // namespace millrace
