// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "services/telemetry/status_metrics.hpp"
#include "shared/base/clock.hpp"
#include "shared/metrics/counter_ids.hpp"

namespace millrace {
namespace {

constexpr std::string_view kStateNames[] = {"vacant", "starting",   "alive",      "draining",
                                            "fenced", "reclaiming", "quarantined"};
constexpr std::string_view kKindNames[] = {"hub",        "standby", "ingress",
                                           "classifier", "gpu",     "egress"};

std::string group_of(const Plan& plan, const PlanActor& actor) {
  const bool worker = actor.kind == ActorKind::kClassifier || actor.kind == ActorKind::kGpu;
  return worker ? plan.groups[actor.group].name
                : std::string(kKindNames[static_cast<std::size_t>(actor.kind)]);
}

std::vector<std::string> labels_of(const Plan& plan, const PlanActor& actor) {
  return {actor.name, group_of(plan, actor), std::to_string(actor.index)};
}

bool ever_ran(const ActorEntry& entry) {
  return entry.incarnation.load(std::memory_order_relaxed) != 0;
}

bool runs(ActorState state) {
  return state == ActorState::kAlive || state == ActorState::kDraining;
}

void add_one_actor(const StatusSource& source, std::uint32_t id, Families& families) {
  const std::vector<std::string> labels = labels_of(source.plan, source.plan.actors[id]);
  const std::uint64_t tsc_hz = source.status.header().tsc_hz;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Counter::kCount); ++i) {
    const MetricScale scale = kMetrics[i].scale;
    if (scale == MetricScale::kTsc && tsc_hz == 0) continue;
    const double unit = scale == MetricScale::kTsc           ? static_cast<double>(tsc_hz)
                        : scale == MetricScale::kNanoseconds ? 1e9
                                                             : 1;
    const std::uint64_t raw =
        std::atomic_ref(source.status.counters(id)[i]).load(std::memory_order_relaxed);
    families.add(static_cast<Metric>(i), labels, static_cast<double>(raw) / unit);
  }
}

void add_entry(const StatusSource& source, std::uint32_t id, ActorState state, Families& families) {
  const PlanActor& actor = source.plan.actors[id];
  const ActorEntry& entry = source.status.actor(id);
  std::vector<std::string> labels = labels_of(source.plan, actor);
  families.add(Metric::kActorUp, labels, runs(state) ? 1 : 0);
  families.add(Metric::kRestarts, labels, entry.restarts.load(std::memory_order_relaxed));
  families.add(Metric::kInHand, labels,
               static_cast<double>(entry.in_hand.load(std::memory_order_relaxed)));
  const std::uint64_t heartbeat = entry.heartbeat_tsc.load(std::memory_order_relaxed);
  const std::uint64_t now = tsc_now();
  const std::uint64_t tsc_hz = source.status.header().tsc_hz;
  if (runs(state) && heartbeat != 0 && tsc_hz != 0) {
    // It may have turned between the two readings.
    const std::uint64_t age = now > heartbeat ? now - heartbeat : 0;
    families.add(Metric::kHeartbeatAge, labels,
                 static_cast<double>(age) / static_cast<double>(tsc_hz));
  }
  labels.emplace_back(kKindNames[static_cast<std::size_t>(actor.kind)]);
  labels.push_back(actor.core < 0 ? "none" : std::to_string(actor.core));
  families.add(Metric::kWorkerInfo, labels, 1);
}

}  // namespace

void add_actor_counters(const StatusSource& source, Families& families) {
  for (std::uint32_t id = 0; id < source.plan.actors.size(); ++id) {
    if (ever_ran(source.status.actor(id))) add_one_actor(source, id, families);
  }
}

void add_roster(const StatusSource& source, Families& families) {
  std::vector<std::pair<std::string, std::vector<double>>> groups;
  for (std::uint32_t id = 0; id < source.plan.actors.size(); ++id) {
    const PlanActor& actor = source.plan.actors[id];
    const ActorEntry& entry = source.status.actor(id);
    const ActorState state = static_cast<ActorState>(entry.state.load(std::memory_order_acquire));
    if (static_cast<std::size_t>(state) >= std::size(kStateNames)) continue;
    if (ever_ran(entry) || actor.at_start) add_entry(source, id, state, families);
    const std::string group = group_of(source.plan, actor);
    if (groups.empty() || groups.back().first != group) {
      groups.emplace_back(group, std::vector<double>(std::size(kStateNames)));
    }
    groups.back().second[static_cast<std::size_t>(state)] += 1;
  }
  for (const auto& [group, counts] : groups) {
    for (std::size_t state = 0; state < counts.size(); ++state) {
      families.add(Metric::kWorkers, {group, std::string(kStateNames[state])}, counts[state]);
    }
  }
}

}  // namespace millrace
