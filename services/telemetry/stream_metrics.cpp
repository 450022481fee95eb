// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <string>

#include "io-worker/egress/latency.hpp"
#include "services/telemetry/status_metrics.hpp"

namespace millrace {
namespace {

// Bounds of the exported histogram: 2^k and 1.5 * 2^k nanoseconds, 1 us to 1.6 s.
constexpr std::uint32_t kFirstOctave = 10;
constexpr std::uint32_t kLastOctave = 30;

/// The ledgers of all lanes of a path together, as far as one stream feeds it.
struct StreamTotals {
  LaneRecord record{};  ///< what the ingress refused included
  std::uint64_t ingress_received = 0;
  std::uint64_t refused = 0;
};

StreamTotals totals_of(const StatusSource& source, std::uint32_t stream, const PlanPath& path) {
  StreamTotals totals;
  LaneRecord& sum = totals.record;
  for (std::uint32_t i = 0; i < path.lane_count; ++i) {
    const std::uint32_t lane = path.lane_first + i;
    // The ledger first: what the ingress received is never less than what left.
    const LaneRecord record = read_totals(source.status, stream, lane);
    const IngressLane& ingress = source.status.ingress_lane(stream, lane);
    const std::uint64_t refused = ingress.refused.load(std::memory_order_relaxed);
    totals.refused += refused;
    totals.ingress_received += ingress.received.load(std::memory_order_acquire) + refused;
    sum.received += record.received;
    sum.received_bytes += record.received_bytes;
    sum.unaccounted += record.unaccounted;
    sum.transmitted_bytes += record.transmitted_bytes;
    sum.batches += record.batches;
    for (std::size_t p = 0; p < kPortCountMax; ++p) sum.transmitted[p] += record.transmitted[p];
    for (std::size_t r = 0; r < kReasonCount; ++r) sum.dropped[r] += record.dropped[r];
  }
  return totals;
}

void add_latency(const LatencyHistogram& from, const std::string& stream, Families& families) {
  prometheus::ClientMetric::Histogram histogram;
  std::uint32_t next = 0;
  std::uint64_t count = 0;
  const auto count_below = [&](std::uint64_t bound_ns) {
    for (; next < kLatencyBucketCount && latency_of_bucket(next) < bound_ns; ++next) {
      count += from.count[next].load(std::memory_order_relaxed);
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
  histogram.sample_sum = static_cast<double>(from.sum_ns.load(std::memory_order_relaxed)) / 1e9;
  families.add(Metric::kLatency, {stream}, std::move(histogram));
}

void add_path(const StatusSource& source, std::uint32_t number, const PlanPath& planned,
              Families& families) {
  const Plan& plan = source.plan;
  const PlanStream& stream = plan.streams[number];
  const std::string& port = plan.ports[stream.port].name;
  const std::string name = port + "." + std::to_string(stream.queue);
  const std::string& path = planned.name;
  const StreamTotals totals = totals_of(source, number, planned);
  const LaneRecord& sum = totals.record;
  const auto as_double = [](std::uint64_t value) { return static_cast<double>(value); };

  families.add(Metric::kPortReceivedPackets, {port, name, path}, as_double(sum.received));
  families.add(Metric::kPortReceivedBytes, {port, name, path}, as_double(sum.received_bytes));
  for (std::size_t p = 0; p < plan.ports.size(); ++p) {
    families.add(Metric::kPortTransmittedPackets, {plan.ports[p].name, name, path},
                 as_double(sum.transmitted[p]));
  }
  families.add(Metric::kTransmittedBytes, {name, path}, as_double(sum.transmitted_bytes));
  for (std::size_t reason = 1; reason < kReasonNames.size(); ++reason) {
    families.add(Metric::kDrops, {name, path, std::string(kReasonNames[reason])},
                 as_double(sum.dropped[reason]));
  }
  families.add(Metric::kRefused, {name, path}, as_double(totals.refused));
  families.add(Metric::kUnaccounted, {name, path}, as_double(sum.unaccounted));
  families.add(Metric::kReleasedBatches, {name, path}, as_double(sum.batches));
  // A restarted ingress derives its count anew; until it has, there is no such figure.
  if (totals.ingress_received >= sum.received) {
    families.add(Metric::kInFlight, {name, path},
                 as_double(totals.ingress_received - sum.received));
  }
}

void add_stream(const StatusSource& source, std::uint32_t number, Families& families) {
  const PlanStream& stream = source.plan.streams[number];
  for (const PlanStreamPath& at : stream.paths) {
    add_path(source, number, source.plan.paths[at.path], families);
  }
  const std::string name = source.plan.ports[stream.port].name + "." + std::to_string(stream.queue);
  add_latency(source.status.latency(number), name, families);
}

}  // namespace

void add_streams(const StatusSource& source, Families& families) {
  for (std::uint32_t stream = 0; stream < source.plan.streams.size(); ++stream) {
    add_stream(source, stream, families);
  }
}

}  // namespace millrace
