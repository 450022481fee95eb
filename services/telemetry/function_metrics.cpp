// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "services/functions/ids/ids_counter_names.hpp"
#include "services/telemetry/drop_cause.hpp"
#include "services/telemetry/status_metrics.hpp"

namespace millrace {
namespace {

/// Adds packets that skipped the function. Mostly 0 for functions that make packets wait.
void add_skipped(const StatusSource& source, std::uint32_t id, Families& families) {
  const PlanFunction& function = source.plan.functions[id];
  const struct {
    SkipReason why;
    const char* name;
    Fallback fate;
  } rows[] = {{SkipReason::kUnavailable, "unavailable", function.unavailable},
              {SkipReason::kOverload, "overload", function.overload}};
  for (const auto& row : rows) {
    std::uint64_t sum = 0;
    for (std::uint32_t actor = 0; actor < source.plan.actors.size(); ++actor) {
      sum += std::atomic_ref(source.status.skipped(actor, id, row.why))
                 .load(std::memory_order_relaxed);
    }
    // A function that makes packets wait can still be out of service: its packets are then dropped.
    const bool was_out = row.why == SkipReason::kUnavailable && sum != 0;
    if (row.fate == Fallback::kWait && !was_out) continue;
    families.add(Metric::kFunctionSkipped,
                 {function.name, row.name, row.fate == Fallback::kPass ? "pass" : "drop"},
                 static_cast<double>(sum));
  }
}

/// The sum of all actors' tallies of one function.
FunctionTally tally_of(const StatusSource& source, std::uint32_t id) {
  FunctionTally sum{};
  const auto add = [](std::uint64_t& to, std::uint64_t& from) {
    to += std::atomic_ref(from).load(std::memory_order_relaxed);
  };
  for (std::uint32_t actor = 0; actor < source.plan.actors.size(); ++actor) {
    FunctionTally& from = source.status.tally(actor, id);
    add(sum.dropped, from.dropped);
    add(sum.packets, from.packets);
    add(sum.alerts, from.alerts);
    add(sum.timed_ticks, from.timed_ticks);
    add(sum.timed_packets, from.timed_packets);
    for (std::size_t i = 0; i < kClassCountMax; ++i) add(sum.classed[i], from.classed[i]);
  }
  return sum;
}

void add_service(const StatusSource& source, std::uint32_t id, Families& families) {
  const auto out = source.status.header().functions_out.load(std::memory_order_relaxed);
  families.add(Metric::kFunctionOut, {source.plan.functions[id].name},
               static_cast<double>(out >> id & 1));
}

void add_tally(const StatusSource& source, std::uint32_t id, Families& families) {
  const PlanFunction& function = source.plan.functions[id];
  const FunctionTally sum = tally_of(source, id);
  const auto as_double = [](std::uint64_t value) { return static_cast<double>(value); };
  families.add(Metric::kFunctionPackets, {function.name, "pass"}, as_double(sum.packets));
  families.add(Metric::kFunctionPackets, {function.name, "drop"}, as_double(sum.dropped));
  families.add(Metric::kFunctionAlerts, {function.name}, as_double(sum.alerts));
  const std::uint64_t tsc_hz = source.status.header().tsc_hz;
  if (tsc_hz != 0) {
    families.add(Metric::kFunctionTimedSeconds, {function.name},
                 as_double(sum.timed_ticks) / as_double(tsc_hz));
    families.add(Metric::kFunctionTimedPackets, {function.name}, as_double(sum.timed_packets));
  }
  for (std::size_t bit = 0; bit < source.plan.classes.size() && bit < kClassCountMax; ++bit) {
    if ((function.class_mask >> bit & 1) == 0) continue;
    families.add(Metric::kFunctionClassified, {function.name, source.plan.classes[bit]},
                 as_double(sum.classed[bit]));
  }
}

bool runs_in(const Plan& plan, std::uint32_t path, std::uint32_t function) {
  return std::ranges::any_of(plan.stages, [&](const PlanStage& stage) {
    return stage.path == path && std::ranges::count(stage.functions, function) != 0;
  });
}

/// Adds drops by path and reason. Reasons that functions declare have a series from the start,
/// others from the first drop on.
void add_drops(const StatusSource& source, std::uint32_t id, Families& families) {
  const Plan& plan = source.plan;
  const PlanFunction& function = plan.functions[id];
  for (std::uint32_t path = 0; path < plan.paths.size(); ++path) {
    if (!runs_in(plan, path, id)) continue;
    std::array<std::uint64_t, kReasonCount> sums{};
    for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
      DropTally& from = source.status.drops(actor, path, id);
      for (std::size_t i = 0; i < sums.size(); ++i) {
        sums[i] += std::atomic_ref(from.dropped[i]).load(std::memory_order_relaxed);
      }
    }
    for (std::size_t i = 1; i < kReasonCount; ++i) {
      const std::string reason(reason_name(plan.reasons, i));
      if (reason.empty()) continue;
      if (dropped_by(static_cast<Reason>(i)) != "function" && sums[i] == 0) continue;
      families.add(Metric::kFunctionDrops,
                   {function.name, plan.groups[function.group].name, plan.paths[path].name, reason},
                   static_cast<double>(sums[i]));
    }
  }
}

/// The names of a function's last counters; empty: they have none.
std::span<const std::string_view> counter_names(const PlanFunction& function) {
  if (function.type != "ids") return {};
  return kIdsCounterNames;
}

void add_hits(const StatusSource& source, std::uint32_t id, Families& families) {
  const PlanFunction& function = source.plan.functions[id];
  if (function.counter_count == 0) return;
  const std::uint32_t first = function_counter_first(source.plan, id);
  const std::span<const std::string_view> names = counter_names(function);
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
    const std::size_t to_the_end = function.counter_count - number;
    if (to_the_end <= names.size()) {
      families.add(Metric::kFunctionNamedHits,
                   {function.name, std::string(names[names.size() - to_the_end])},
                   static_cast<double>(sum));
    }
  }
  families.add(Metric::kFunctionHits, {function.name}, all);
}

}  // namespace

void add_functions(const StatusSource& source, Families& families) {
  for (std::uint32_t id = 0; id < source.plan.functions.size(); ++id) {
    if (source.plan.functions[id].gone) continue;
    add_skipped(source, id, families);
    add_service(source, id, families);
    add_tally(source, id, families);
    add_drops(source, id, families);
    add_hits(source, id, families);
  }
}

void add_tables(const std::vector<TableFacts>& tables, Families& families) {
  for (const TableFacts& table : tables) {
    families.add(Metric::kFunctionRules, {table.function, "loaded"},
                 static_cast<double>(table.accepted));
    families.add(Metric::kFunctionRules, {table.function, "refused"},
                 static_cast<double>(table.refused));
    families.add(Metric::kFunctionTableGeneration, {table.function},
                 static_cast<double>(table.generation));
  }
}

void add_routes(const std::vector<RouteFacts>& routes, Families& families) {
  for (const RouteFacts& one : routes) {
    families.add(Metric::kRoutes, {one.function}, static_cast<double>(one.prefixes));
    families.add(Metric::kRouteChanges, {one.function}, static_cast<double>(one.changes));
    families.add(Metric::kRouteDumps, {one.function}, static_cast<double>(one.dumps));
    families.add(Metric::kRouteOverruns, {one.function}, static_cast<double>(one.overruns));
  }
}

}  // namespace millrace
