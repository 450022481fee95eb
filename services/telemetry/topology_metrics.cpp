// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "services/telemetry/status_metrics.hpp"

namespace millrace {
namespace {

double load(const std::atomic<std::uint64_t>& word) {
  return static_cast<double>(word.load(std::memory_order_relaxed));
}

/// Of functions that do not wait; there is nothing to count for others.
void add_skipped(const StatusSource& source, std::uint32_t id, Families& families) {
  const PlanFunction& function = source.plan.functions[id];
  const struct {
    SkipReason why;
    const char* name;
    Fallback fate;
  } rows[] = {{SkipReason::kUnavailable, "unavailable", function.unavailable},
              {SkipReason::kOverload, "overload", function.overload}};
  for (const auto& row : rows) {
    if (row.fate == Fallback::kWait) continue;
    std::uint64_t sum = 0;
    for (std::uint32_t actor = 0; actor < source.plan.actors.size(); ++actor) {
      sum += std::atomic_ref(source.status.skipped(actor, id, row.why))
                 .load(std::memory_order_relaxed);
    }
    families.add(Metric::kFunctionSkipped,
                 {function.name, row.name, row.fate == Fallback::kPass ? "pass" : "drop"},
                 static_cast<double>(sum));
  }
}

}  // namespace

void add_topology(const StatusSource& source, const char* version, Families& families) {
  const StatusHeader& header = source.status.header();
  families.add(Metric::kBuildInfo, {version}, 1);
  families.add(Metric::kTopologyInfo, {source.plan.name}, 1);
  if (header.created_ns != 0) {
    families.add(Metric::kCreatedTime, {}, static_cast<double>(header.created_ns) / 1e9);
  }
  families.add(Metric::kLeader, {}, header.leader.load(std::memory_order_relaxed) != 0 ? 1 : 0);
  families.add(Metric::kRecoveries, {}, load(header.recoveries));
  families.add(Metric::kQuarantinedSlots, {}, load(header.quarantined_slots));
  families.add(Metric::kRecoveryStatesDiscarded, {}, load(header.lane_states_discarded));
  families.add(Metric::kRecoveryBatchesLost, {}, load(header.batches_worker_lost));
  families.add(Metric::kRecoveryBatchesHandedOn, {}, load(header.batches_handed_on));
  families.add(Metric::kRecoveryBatchesRedone, {}, load(header.batches_redone));
}

void add_functions(const StatusSource& source, Families& families) {
  for (std::uint32_t id = 0; id < source.plan.functions.size(); ++id) {
    const PlanFunction& function = source.plan.functions[id];
    add_skipped(source, id, families);
    if (function.counter_count == 0) continue;
    const std::uint32_t first = function_counter_first(source.plan, id);
    double all = 0;
    for (std::uint32_t number = 0; number < function.counter_count; ++number) {
      std::uint64_t sum = 0;
      for (std::uint32_t actor = 0; actor < source.plan.actors.size(); ++actor) {
        std::uint64_t& word = source.status.function_counters(actor, first + number, 1)[0];
        sum += std::atomic_ref(word).load(std::memory_order_relaxed);
      }
      all += static_cast<double>(sum);
      if (function.counter_count <= kFunctionSeriesMax) {
        families.add(Metric::kFunctionCounter, {function.name, std::to_string(number)},
                     static_cast<double>(sum));
      }
    }
    families.add(Metric::kFunctionHits, {function.name}, all);
  }
}

}  // namespace millrace
