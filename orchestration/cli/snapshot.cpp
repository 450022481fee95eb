// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/snapshot.hpp"

#include <algorithm>
#include <utility>

#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/process.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"
#include "shared/layout/latency.hpp"

namespace millrace {

Observed observe(const std::string& run_dir) {
  Observed observed;
  observed.plan = load_plan(plan_path(run_dir));
  observed.mapping = Mapping::attach_status(status_file_name(observed.plan.name), false);
  observed.status =
      StatusView::attach(observed.mapping.base(), observed.mapping.bytes(), observed.plan);
  return observed;
}

void follow_plan(Observed& observed, const std::string& run_dir) {
  try {
    Plan plan = load_plan(plan_path(run_dir));
    if (status_layout(plan).hash != observed.status.header().layout_hash) return;
    observed.plan = std::move(plan);
  } catch (const Error&) {
    return;  // the topology ends, or it is being written to a full disk
  }
}

LaneRecord operator+(const LaneRecord& a, const LaneRecord& b) {
  LaneRecord sum = a;
  sum.received += b.received;
  sum.received_bytes += b.received_bytes;
  sum.unaccounted += b.unaccounted;
  sum.batches += b.batches;
  for (std::size_t i = 0; i < kPortCountMax; ++i) {
    sum.transmitted[i] += b.transmitted[i];
    sum.transmitted_bytes[i] += b.transmitted_bytes[i];
  }
  for (std::size_t i = 0; i < kReasonCount; ++i) {
    sum.dropped[i] += b.dropped[i];
    sum.consumed[i] += b.consumed[i];
    sum.generated[i] += b.generated[i];
  }
  return sum;
}

Snapshot look_at(const Observed& observed) {
  const StatusView& status = observed.status;
  Snapshot look;
  look.at_ns = monotonic_ns();
  for (std::uint32_t i = 0; i < observed.plan.actors.size(); ++i) {
    Snapshot::Actor& actor = look.actors.emplace_back();
    actor.state = static_cast<ActorState>(status.actor(i).state.load(std::memory_order_relaxed));
    std::copy_n(status.counters(i), kActorCounterCount, actor.counters.begin());
  }
  for (std::uint32_t s = 0; s < observed.plan.streams.size(); ++s) {
    LaneRecord sum{};
    for (std::uint32_t lane = 0; lane < status.layout().lane_count; ++lane) {
      sum = sum + read_totals(status, s, lane);
    }
    look.streams.push_back(sum);
    Snapshot::Buckets& buckets = look.latency.emplace_back();
    const LatencyHistogram& histogram = status.latency(s);
    for (std::size_t i = 0; i < kLatencyBucketCount; ++i) {
      buckets[i] = histogram.count[i].load(std::memory_order_relaxed);
    }
  }
  return look;
}

bool anybody_runs(const Observed& observed) {
  for (std::uint32_t i = 0; i < observed.plan.actors.size(); ++i) {
    const ActorEntry& entry = observed.status.actor(i);
    const std::int32_t pid = entry.pid.load(std::memory_order_relaxed);
    if (pid == 0) continue;
    const std::uint64_t start_time = entry.start_time.load(std::memory_order_relaxed);
    if (start_time != 0 && process_start_time(pid) == start_time) return true;
  }
  return false;
}

double latency_us(const Snapshot::Buckets& before, const Snapshot::Buckets& after,
                  double quantile) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < kLatencyBucketCount; ++i) total += after[i] - before[i];
  auto left = static_cast<std::uint64_t>(static_cast<double>(total) * quantile);
  for (std::uint32_t i = 0; i < kLatencyBucketCount; ++i) {
    const std::uint64_t here = after[i] - before[i];
    if (here > left) return static_cast<double>(latency_of_bucket(i)) / 1e3;
    left -= here;
  }
  return 0;
}

}  // namespace millrace
