// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>

#include "services/telemetry/drop_cause.hpp"
#include "services/telemetry/histogram_family.hpp"
#include "services/telemetry/status_metrics.hpp"

namespace millrace {
namespace {

/// The sum of the ledgers of a path's lanes, for the packets of one stream.
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
    const std::uint64_t refused =
        ingress.refused.complete().packets.load(std::memory_order_relaxed);
    totals.refused += refused;
    totals.ingress_received += ingress.received.load(std::memory_order_acquire) + refused;
    sum.received += record.received;
    sum.received_bytes += record.received_bytes;
    sum.unaccounted += record.unaccounted;
    sum.batches += record.batches;
    for (std::size_t p = 0; p < kPortCountMax; ++p) {
      sum.transmitted[p] += record.transmitted[p];
      sum.transmitted_bytes[p] += record.transmitted_bytes[p];
    }
    for (std::size_t r = 0; r < kReasonCount; ++r) {
      sum.dropped[r] += record.dropped[r];
      sum.consumed[r] += record.consumed[r];
      sum.generated[r] += record.generated[r];
    }
  }
  return totals;
}

/// Adds drops by reason. Packets that an ingress refused, as their path had no slots, have the
/// reason of packets that a function's share refuses.
void add_drops(const Plan& plan, const StreamTotals& totals, const std::string& stream,
               const std::string& path, Families& families) {
  for (std::size_t i = 1; i < kReasonCount; ++i) {
    const std::string name(reason_name(plan.reasons, i));
    if (name.empty()) continue;
    const Reason reason = static_cast<Reason>(i);
    const std::string cause(cause_name(cause_of(plan.reasons, reason)));
    const auto add = [&](std::string_view by, std::uint64_t count) {
      families.add(Metric::kDrops, {stream, path, name, cause, std::string(by)},
                   static_cast<double>(count));
    };
    const std::uint64_t refused = reason == Reason::kOverload ? totals.refused : 0;
    add(dropped_by(reason), totals.record.dropped[i] - refused);
    if (reason == Reason::kOverload) add("ingress", refused);
  }
}

/// Adds consumed and generated packets by reason. Reasons that are meant for consumption, or for
/// generation, have a series from the start, others from the first packet on.
void add_born_and_ended(const Plan& plan, const LaneRecord& sum, const std::string& stream,
                        const std::string& path, Families& families) {
  for (std::size_t i = 1; i < kReasonCount; ++i) {
    const std::string name(reason_name(plan.reasons, i));
    if (name.empty()) continue;
    const auto reason = static_cast<Reason>(i);
    const auto add = [&](Metric metric, bool expected, std::uint64_t count) {
      if (!expected && count == 0) return;
      families.add(metric, {stream, path, name}, static_cast<double>(count));
    };
    add(Metric::kConsumed, is_consumption(reason), sum.consumed[i]);
    add(Metric::kGenerated, is_generation(reason), sum.generated[i]);
  }
}

void add_path(const StatusSource& source, std::uint32_t number, const PlanPath& planned,
              Families& families) {
  const Plan& plan = source.plan;
  const PlanStream& stream = plan.streams[number];
  const std::string& port = plan.ports[stream.port].name;
  const std::string name = name_of(plan, stream);
  const std::string& path = planned.name;
  const StreamTotals totals = totals_of(source, number, planned);
  const LaneRecord& sum = totals.record;
  const auto as_double = [](std::uint64_t value) { return static_cast<double>(value); };

  families.add(Metric::kPortReceivedPackets, {port, name, path}, as_double(sum.received));
  families.add(Metric::kPortReceivedBytes, {port, name, path}, as_double(sum.received_bytes));
  for (std::size_t p = 0; p < plan.ports.size(); ++p) {
    families.add(Metric::kPortTransmittedPackets, {plan.ports[p].name, name, path},
                 as_double(sum.transmitted[p]));
    families.add(Metric::kPortTransmittedBytes, {plan.ports[p].name, name, path},
                 as_double(sum.transmitted_bytes[p]));
  }
  add_drops(plan, totals, name, path, families);
  add_born_and_ended(plan, sum, name, path, families);
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
  const std::string name = name_of(source.plan, stream);
  const LatencyHistogram* const latency = &source.status.latency(number);
  families.add(Metric::kLatency, {name}, exported({&latency, 1}));
  const auto as_double = [](std::uint64_t value) { return static_cast<double>(value); };
  const StreamPeaks& peaks = source.status.stream_peaks(number);
  families.add(Metric::kLatencyHighWater, {name},
               as_double(peak_now(source, peaks.latency_ns)) / 1e9);
  families.add(Metric::kSlots, {name}, stream.slot_count);
  families.add(Metric::kBuffers, {name}, stream.buffer_count);
  if (!lives(source, stream.ingress)) return;
  families.add(Metric::kRateHighWater, {name}, as_double(peak_now(source, peaks.rate)));
  const std::uint64_t used = peak_now(source, peaks.slots_used);
  families.add(Metric::kSlotsLowWater, {name}, stream.slot_count - as_double(used));
}

/// Adds the ends of a path's packets, summed over the streams that feed it.
void add_ends(const StatusSource& source, std::uint32_t number, Families& families) {
  const PlanPath& path = source.plan.paths[number];
  std::uint64_t transmitted = 0, dropped = 0;
  for (std::uint32_t stream = 0; stream < source.plan.streams.size(); ++stream) {
    const auto& paths = source.plan.streams[stream].paths;
    if (std::ranges::none_of(paths, [&](const auto& at) { return at.path == number; })) continue;
    const LaneRecord sum = totals_of(source, stream, path).record;
    transmitted +=
        std::accumulate(std::begin(sum.transmitted), std::end(sum.transmitted), std::uint64_t{0});
    dropped += std::accumulate(std::begin(sum.dropped), std::end(sum.dropped), std::uint64_t{0});
  }
  families.add(Metric::kPathPackets, {path.name, "transmitted"}, static_cast<double>(transmitted));
  families.add(Metric::kPathPackets, {path.name, "dropped"}, static_cast<double>(dropped));
}

}  // namespace

void add_streams(const StatusSource& source, Families& families) {
  for (std::uint32_t stream = 0; stream < source.plan.streams.size(); ++stream) {
    add_stream(source, stream, families);
  }
  for (std::uint32_t path = 0; path < source.plan.paths.size(); ++path) {
    add_ends(source, path, families);
  }
}

}  // namespace millrace
