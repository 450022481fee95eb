// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "shared/config/plan.hpp"
#include "shared/layout/mapping.hpp"
#include "shared/layout/status_layout.hpp"
#include "shared/metrics/counter_ids.hpp"

/// What a running topology has done so far, read from its status file. No process is asked and
/// nothing is held up; no packet can be seen from here.

namespace millrace {

/// A running topology as an observer has it.
struct Observed {
  Plan plan;
  Mapping mapping;
  StatusView status;
};
/// Maps the status file of the topology in `run_dir`, read-only. Throws Error.
Observed observe(const std::string& run_dir);
/// The plan as it is now: names of functions, classes and reasons come. One that cannot be read, or
/// is of another start, leaves it as it was.
void follow_plan(Observed& observed, const std::string& run_dir);

/// One look. Counts only grow, so two looks give rates.
struct Snapshot {
  struct Actor {
    ActorState state = ActorState::kVacant;
    std::array<std::uint64_t, kActorCounterCount> counters{};
    std::uint64_t counter(Counter id) const { return counters[static_cast<std::size_t>(id)]; }
  };
  using Buckets = std::array<std::uint64_t, kLatencyBucketCount>;

  std::uint64_t at_ns = 0;          ///< monotonic
  std::vector<Actor> actors;        ///< by plan actor
  std::vector<LaneRecord> streams;  ///< sums over the lanes, by plan stream
  std::vector<Buckets> latency;     ///< by plan stream
};
Snapshot look_at(const Observed& observed);

/// False when no process of the topology lives: it has ended, in order or not.
bool anybody_runs(const Observed& observed);

/// Sum of two records of different lanes or streams; sequences and positions mean nothing in it.
LaneRecord operator+(const LaneRecord& a, const LaneRecord& b);

/// Microseconds below which that share (0..1) of the batches counted between two looks stayed; 0
/// when there were none. An empty `before`: since the topology started.
double latency_us(const Snapshot::Buckets& before, const Snapshot::Buckets& after, double quantile);

}  // namespace millrace
