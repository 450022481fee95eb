// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/status_collectable.hpp"

#include "services/telemetry/families.hpp"
#include "services/telemetry/status_metrics.hpp"

namespace millrace {

std::vector<prometheus::MetricFamily> StatusCollectable::Collect() const {
  const StatusSource source{plan_, status_};
  Families families;
  add_actor_counters(source, families);
  add_roster(source, families);
  add_streams(source, families);
  add_topology(source, MILLRACE_VERSION, families);
  add_functions(source, families);
  return families.take();
}

}  // namespace millrace
