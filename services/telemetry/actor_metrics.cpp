// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "services/telemetry/status_metrics.hpp"
#include "shared/base/clock.hpp"
#include "shared/control/build_id.hpp"
#include "shared/metrics/counter_ids.hpp"

namespace millrace {
namespace {

constexpr std::string_view kStateNames[] = {"vacant", "starting",   "alive",      "draining",
                                            "fenced", "reclaiming", "quarantined"};
constexpr std::string_view kKindNames[] = {"hub",        "standby", "ingress",
                                           "classifier", "gpu",     "egress"};

std::string group_of(const Plan& plan, const PlanActor& actor) {
  const bool worker = is_of_group(actor.kind);
  return worker ? plan.groups[actor.group].name
                : std::string(kKindNames[static_cast<std::size_t>(actor.kind)]);
}

bool runs(ActorState state) {
  return state == ActorState::kAlive || state == ActorState::kDraining;
}

/// A stored number in the metric's unit; nothing when the clock's rate is not known.
std::optional<double> in_unit(const StatusSource& source, MetricScale scale, std::uint64_t raw) {
  const auto tsc_hz = static_cast<double>(source.status.header().tsc_hz);
  const auto value = static_cast<double>(raw);
  if (scale == MetricScale::kOne) return value;
  if (scale == MetricScale::kNanoseconds) return value / 1e9;
  if (tsc_hz == 0) return std::nullopt;
  if (scale == MetricScale::kTsc) return value / tsc_hz;
  const std::uint64_t now = tsc_now();
  return raw == 0 || raw > now ? 0 : static_cast<double>(now - raw) / tsc_hz;
}

/// Whether the port counts packets that it could not take: a file has none, it gives what is asked
/// for.
bool knows_missed(const Plan& plan, const PlanActor& actor) {
  const std::string& device = plan.ports[plan.streams[actor.index].port].device;
  return device != "pcap" && device != "null";
}

/// Adds a counter with its labels: the stream, or actor, group and worker; and the direction, if it
/// has one.
void add_counter(const Plan& plan, const PlanActor& actor, Counter counter, double value,
                 Families& families) {
  const MetricInfo& info = kMetrics[static_cast<std::size_t>(counter)];
  std::vector<std::string> labels = labels_of(plan, actor);
  if (info.labels[0] == "stream") labels = {name_of(plan, plan.streams[actor.index])};
  if (!info.direction.empty()) labels.emplace_back(info.direction);
  families.add(info.family, labels, value);
}

void add_one_actor(const StatusSource& source, std::uint32_t id, Families& families) {
  const PlanActor& actor = source.plan.actors[id];
  const bool alive = lives(source, id);
  for (std::size_t i = 0; i < static_cast<std::size_t>(Counter::kCount); ++i) {
    const MetricInfo& info = kMetrics[i];
    if ((info.kinds >> static_cast<unsigned>(actor.kind) & 1) == 0) continue;
    if (info.type == MetricType::kGauge && !alive) continue;
    if (static_cast<Counter>(i) == Counter::kRxMissed && !knows_missed(source.plan, actor))
      continue;
    const std::uint64_t raw =
        std::atomic_ref(source.status.counters(id)[i]).load(std::memory_order_relaxed);
    const std::optional<double> value = in_unit(source, info.scale, raw);
    if (!value) continue;
    add_counter(source.plan, actor, static_cast<Counter>(i), *value, families);
  }
}

void add_peaks(const StatusSource& source, std::uint32_t id, const std::vector<std::string>& labels,
               Families& families) {
  const ActorTally& tally = source.status.actor_tally(id);
  families.add(Metric::kLongestLoop10s, labels,
               static_cast<double>(peak_now(source, tally.turn_ns)) / 1e9);
  const ActorKind kind = source.plan.actors[id].kind;
  if (kind != ActorKind::kClassifier && kind != ActorKind::kEgress) return;
  families.add(Metric::kWindowHighWater10s, labels,
               static_cast<double>(peak_now(source, tally.window)));
}

void add_restarts(const ActorEntry& entry, std::vector<std::string> labels, Families& families) {
  const struct {
    const char* cause;
    const std::atomic<std::uint32_t>& count;
  } rows[] = {{"crash", entry.crashes}, {"hang", entry.hangs}, {"asked", entry.was_asked}};
  labels.emplace_back();
  for (const auto& row : rows) {
    labels.back() = row.cause;
    families.add(Metric::kRestarts, labels, row.count.load(std::memory_order_relaxed));
  }
}

void add_entry(const StatusSource& source, std::uint32_t id, ActorState state, Families& families) {
  const PlanActor& actor = source.plan.actors[id];
  const ActorEntry& entry = source.status.actor(id);
  std::vector<std::string> labels = labels_of(source.plan, actor);
  families.add(Metric::kActorUp, labels, runs(state) ? 1 : 0);
  add_restarts(entry, labels, families);
  if (actor.kind == ActorKind::kIngress && runs(state)) {
    families.add(Metric::kInHand, labels,
                 static_cast<double>(entry.in_hand.load(std::memory_order_relaxed)));
  }
  const std::uint64_t heartbeat = entry.heartbeat_tsc.load(std::memory_order_relaxed);
  const std::uint64_t now = tsc_now();
  const std::uint64_t tsc_hz = source.status.header().tsc_hz;
  if (runs(state) && heartbeat != 0 && tsc_hz != 0) {
    // The actor may have turned between the two readings.
    const std::uint64_t age = now > heartbeat ? now - heartbeat : 0;
    families.add(Metric::kHeartbeatAge, labels,
                 static_cast<double>(age) / static_cast<double>(tsc_hz));
  }
  if (moves_packets(actor)) add_peaks(source, id, labels, families);
  labels.emplace_back(kKindNames[static_cast<std::size_t>(actor.kind)]);
  labels.push_back(actor.core < 0 ? "none" : std::to_string(actor.core));
  labels.push_back(actor.node < 0 ? "none" : std::to_string(actor.node));
  labels.push_back(build_name(source.status.actor_tally(id).build.load(std::memory_order_relaxed)));
  families.add(Metric::kWorkerInfo, labels, 1);
}

}  // namespace

std::vector<std::string> labels_of(const Plan& plan, const PlanActor& actor) {
  return {actor.name, group_of(plan, actor), std::to_string(actor.index)};
}

std::string name_of(const Plan& plan, const PlanStream& stream) {
  return plan.ports[stream.port].name + "." + std::to_string(stream.queue);
}

bool lives(const StatusSource& source, std::uint32_t actor) {
  const auto state = source.status.actor(actor).state.load(std::memory_order_acquire);
  return runs(static_cast<ActorState>(state));
}

void add_actor_counters(const StatusSource& source, Families& families) {
  for (std::uint32_t id = 0; id < source.plan.actors.size(); ++id) {
    if (ever_ran(source, id)) add_one_actor(source, id, families);
  }
}

void add_wanted(const std::vector<WantedWorkers>& wanted, Families& families) {
  for (const WantedWorkers& one : wanted) {
    families.add(Metric::kWorkersWanted, {one.group}, one.count);
  }
}

void add_roster(const StatusSource& source, Families& families) {
  std::vector<std::pair<std::string, std::vector<double>>> groups;
  for (std::uint32_t id = 0; id < source.plan.actors.size(); ++id) {
    const PlanActor& actor = source.plan.actors[id];
    const ActorEntry& entry = source.status.actor(id);
    const ActorState state = static_cast<ActorState>(entry.state.load(std::memory_order_acquire));
    if (static_cast<std::size_t>(state) >= std::size(kStateNames)) continue;
    if (ever_ran(source, id) || actor.at_start) {
      add_entry(source, id, state, families);
    } else if (actor.kind == ActorKind::kGpu && ever_ran(source, actor.twin)) {
      // Its first process follows one of its twin: the series begins at 0, else no rate sees it.
      add_restarts(entry, labels_of(source.plan, actor), families);
    }
    const std::string group = group_of(source.plan, actor);
    auto at = std::ranges::find(groups, group, [](const auto& row) { return row.first; });
    if (at == groups.end()) {
      at = groups.insert(at, {group, std::vector<double>(std::size(kStateNames))});
    }
    at->second[static_cast<std::size_t>(state)] += 1;
  }
  for (const auto& [group, counts] : groups) {
    for (std::size_t state = 0; state < counts.size(); ++state) {
      families.add(Metric::kWorkers, {group, std::string(kStateNames[state])}, counts[state]);
    }
  }
}

}  // namespace millrace
