// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "services/telemetry/families.hpp"
#include "shared/base/clock.hpp"
#include "shared/config/plan.hpp"
#include "shared/control/route_facts.hpp"
#include "shared/control/run_state.hpp"
#include "shared/layout/status_layout.hpp"

/// What the status file says, as metrics: one function for each section of metrics.yaml. They read
/// while others write, each word or record consistent in itself; they write nothing and hold no
/// lock, so a scrape never touches traffic. A reading that makes no sense yet is left out.

namespace millrace {

class Nvml;

/// What all of them read. Borrowed.
struct StatusSource {
  const Plan& plan;
  const StatusView& status;
};

inline bool ever_ran(const StatusSource& source, std::uint32_t actor) {
  return source.status.actor(actor).incarnation.load(std::memory_order_relaxed) != 0;
}
/// Alive or draining.
bool lives(const StatusSource& source, std::uint32_t actor);
/// The values of actor, group, worker.
std::vector<std::string> labels_of(const Plan& plan, const PlanActor& actor);
/// "PORT.QUEUE"
std::string name_of(const Plan& plan, const PlanStream& stream);
/// Highest value of the last ten seconds.
inline std::uint64_t peak_now(const StatusSource& source, const Peak& peak) {
  return peak_of(peak, tsc_now(), source.status.header().tsc_hz);
}

/// Counters of each actor that ever ran.
void add_actor_counters(const StatusSource& source, Families& families);
/// The actor table.
void add_roster(const StatusSource& source, Families& families);
/// Ledgers, summed over the lanes of each stream, and latency.
void add_streams(const StatusSource& source, Families& families);
/// Recovery, and what is watched. `version`: of this program.
void add_topology(const StatusSource& source, const char* version, Families& families);
/// What functions tell of packets, and what becomes of it.
void add_events(const StatusSource& source, Families& families);
/// Function counters, summed over all actors.
void add_functions(const StatusSource& source, Families& families);
/// Connections of each function `flow`.
void add_flows(const StatusSource& source, Families& families);
/// Mappings and blocks of ports of each function `nat` and `nat64`.
void add_pools(const StatusSource& source, Families& families);
/// What the builders said of the tables.
void add_tables(const std::vector<TableFacts>& tables, Families& families);
/// How tables follow the kernel's routes.
void add_routes(const std::vector<RouteFacts>& routes, Families& families);
/// Adds how many workers there should be; nothing until the supervisor has written the number.
void add_config(const ConfigFacts& config, Families& families);
void add_wanted(const std::vector<WantedWorkers>& wanted, Families& families);
void add_links(const StatusSource& source, Families& families);
/// Latency of each step, summed over actors, and of hand-overs to devices.
void add_stages(const StatusSource& source, Families& families);
/// Links of ports; asks the kernel about its interfaces, under the names that those taken by the
/// topology of `run_dir` have by now.
void add_ports(const StatusSource& source, const std::string& run_dir, Families& families);
/// `nvml`: null without the driver's library.
void add_gpus(const StatusSource& source, const Nvml* nvml, Families& families);

/// Functions with more counters than this give their sum only: the number of series is bounded.
inline constexpr std::uint32_t kFunctionSeriesMax = 64;

}  // namespace millrace
