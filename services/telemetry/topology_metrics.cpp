// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "services/telemetry/status_metrics.hpp"
#include "shared/base/process.hpp"
#include "shared/layout/neighbour_look.hpp"

namespace millrace {
namespace {

/// The leader's word outlives the leader when no standby is left.
bool leads(const StatusHeader& header) {
  const std::uint64_t leader = header.leader.load(std::memory_order_relaxed);
  const std::uint64_t pid = leader & 0xFFFFFF;
  return leader != 0 && leader == (process_start_time(static_cast<pid_t>(pid)) << 24 | pid);
}

double load(const std::atomic<std::uint64_t>& word) {
  return static_cast<double>(word.load(std::memory_order_relaxed));
}

/// Adds neighbours as the leader counted them; without a leader there is no count.
void add_neighbours(const StatusSource& source, Families& families) {
  const StatusHeader& header = source.status.header();
  if (!leads(header)) return;
  for (std::size_t i = 0; i < kNeighbourLookCount; ++i) {
    families.add(Metric::kNeighbours, {std::string(kNeighbourLookNames[i])},
                 header.neighbours[i].load(std::memory_order_relaxed));
  }
  families.add(Metric::kNeighbourRoom, {}, source.plan.neighbour_count);
  families.add(Metric::kNeighboursEvicted, {}, load(header.neighbours_evicted));
  families.add(Metric::kNeighboursRefused, {}, load(header.neighbours_refused));
}

}  // namespace

void add_topology(const StatusSource& source, const char* version, Families& families) {
  const StatusHeader& header = source.status.header();
  families.add(Metric::kBuildInfo, {version}, 1);
  families.add(Metric::kTopologyInfo, {source.plan.name}, 1);
  if (header.created_ns != 0) {
    families.add(Metric::kCreatedTime, {}, static_cast<double>(header.created_ns) / 1e9);
  }
  if (header.tsc_hz != 0) families.add(Metric::kTscHertz, {}, static_cast<double>(header.tsc_hz));
  families.add(Metric::kLeader, {}, leads(header) ? 1 : 0);
  families.add(Metric::kRecoveries, {}, load(header.recoveries));
  families.add(Metric::kQuarantinedSlots, {}, load(header.quarantined_slots));
  families.add(Metric::kRecoveryStatesDiscarded, {}, load(header.lane_states_discarded));
  families.add(Metric::kRecoveryBatchesLost, {}, load(header.batches_worker_lost));
  families.add(Metric::kRecoveryBatchesHandedOn, {}, load(header.batches_handed_on));
  families.add(Metric::kRecoveryBatchesRedone, {}, load(header.batches_redone));
  families.add(Metric::kControlRefused, {"leader"}, load(header.control_refused));
  add_neighbours(source, families);
}

void add_events(const StatusSource& source, Families& families) {
  const EventRings rings = source.status.events();
  if (rings.count() == 0) return;
  double lost_in_rings = 0;
  for (std::uint32_t actor = 0; actor < source.plan.actors.size(); ++actor) {
    const std::uint32_t number = event_ring_of(source.plan, actor);
    if (number == kNoEventRing) continue;
    const EventRing& ring = rings.ring(number);
    const double lost = load(ring.lost);
    lost_in_rings += lost;
    if (!ever_ran(source, actor)) continue;
    families.add(Metric::kEventsEmitted, {source.plan.actors[actor].name}, load(ring.lines) + lost);
  }
  const EventSink& sink = rings.sink();
  families.add(Metric::kEventsLost, {"ring"}, lost_in_rings);
  families.add(Metric::kEventsLost, {"file"}, load(sink.file_lost));
  families.add(Metric::kEventsLost, {"client"}, load(sink.client_lost));
  families.add(Metric::kEventsWritten, {"file"}, load(sink.file_written));
  families.add(Metric::kEventsWritten, {"socket"}, load(sink.client_written));
  const auto is_streams = [](const PlanFunction& one) { return one.type == "streams"; };
  if (std::ranges::any_of(source.plan.functions, is_streams)) {
    families.add(Metric::kEventsLost, {"streams"}, load(sink.stream_lost));
    families.add(Metric::kEventsWritten, {"streams"}, load(sink.stream_written));
  }
  if (source.plan.events->ipfix) {
    families.add(Metric::kEventsLost, {"collector"}, load(sink.ipfix_lost));
    families.add(Metric::kEventsWritten, {"ipfix"}, load(sink.ipfix_sent));
  }
  families.add(Metric::kEventsClients, {}, load(sink.clients));
  families.add(Metric::kEventsClientsCut, {}, load(sink.clients_cut));
}

void add_config(const ConfigFacts& config, Families& families) {
  if (config.generation == 0) return;
  families.add(Metric::kConfigGeneration, {}, static_cast<double>(config.generation));
  if (!config.hash.empty()) families.add(Metric::kConfigInfo, {config.hash}, 1);
  families.add(Metric::kConfigDiffers, {}, config.differs ? 1 : 0);
  const auto seconds = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e9; };
  if (config.changed_ns != 0) {
    families.add(Metric::kConfigChangedTime, {}, seconds(config.changed_ns));
  }
  if (config.failed_ns != 0) families.add(Metric::kReloadFailedTime, {}, seconds(config.failed_ns));
  families.add(Metric::kReloads, {"done"}, static_cast<double>(config.reloads_done));
  families.add(Metric::kReloads, {"refused"}, static_cast<double>(config.reloads_refused));
  families.add(Metric::kControlRefused, {"supervisor"},
               static_cast<double>(config.control_refused));
  if (config.bypass) families.add(Metric::kBypassActive, {}, *config.bypass ? 1 : 0);
}

}  // namespace millrace
