// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/status_collectable.hpp"

#include <algorithm>

#include "services/telemetry/families.hpp"
#include "services/telemetry/status_metrics.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"
#include "shared/control/run_state.hpp"

namespace millrace {
namespace {

/// The run's state; empty, and so not shown, when it cannot be read.
RunState state_in(const std::string& run_dir) {
  try {
    return load_run_state(run_dir);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

/// Follows the plan file, which has the functions in use: during a change, the old ones. A plan
/// that cannot be read, or is of another start, changes nothing.
void StatusCollectable::follow_plan() const {
  if (run_dir_.empty()) return;
  try {
    Plan plan = load_plan(plan_path(run_dir_));
    if (status_layout(plan).hash == status_.header().layout_hash) plan_ = std::move(plan);
  } catch (const Error&) {
    return;
  }
}

std::vector<prometheus::MetricFamily> StatusCollectable::Collect() const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t began_ns = monotonic_ns();
  follow_plan();
  RunState state = state_in(run_dir_);
  const StatusSource source{plan_, status_};
  Families families;
  add_actor_counters(source, families);
  add_roster(source, families);
  add_wanted(state.wanted, families);
  add_links(source, families);
  add_streams(source, families);
  add_stages(source, families);
  add_ports(source, run_dir_, families);
  add_topology(source, MILLRACE_VERSION, families);
  add_config(state.config, families);
  add_events(source, families);
  add_functions(source, families);
  signatures_.add(source, families);
  add_flows(source, families);
  add_pools(source, families);
  std::erase_if(state.tables, [&](const TableFacts& table) {
    const auto named = [&](const PlanFunction& one) { return one.name == table.function; };
    const auto at = std::ranges::find_if(plan_.functions, named);
    return at != plan_.functions.end() && at->gone;
  });
  add_tables(state.tables, families);
  add_routes(read_routes(run_dir_), families);
  add_gpus(source, nvml_.get(), families);
  families.add(Metric::kCollectDuration, {}, static_cast<double>(monotonic_ns() - began_ns) / 1e9);
  return families.take();
}

}  // namespace millrace
