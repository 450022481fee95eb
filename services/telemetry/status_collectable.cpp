// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/status_collectable.hpp"

#include "services/telemetry/families.hpp"
#include "services/telemetry/status_metrics.hpp"
#include "shared/base/clock.hpp"

namespace millrace {

std::vector<prometheus::MetricFamily> StatusCollectable::Collect() const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t began_ns = monotonic_ns();
  const StatusSource source{plan_, status_};
  Families families;
  add_actor_counters(source, families);
  add_roster(source, families);
  add_wanted(read_wanted(run_dir_), families);
  add_links(source, families);
  add_streams(source, families);
  add_stages(source, families);
  add_ports(source, families);
  add_topology(source, MILLRACE_VERSION, families);
  add_config(read_config(run_dir_), families);
  add_functions(source, families);
  add_tables(read_tables(run_dir_), families);
  add_gpus(source, nvml_.get(), families);
  families.add(Metric::kCollectDuration, {}, static_cast<double>(monotonic_ns() - began_ns) / 1e9);
  return families.take();
}

}  // namespace millrace
