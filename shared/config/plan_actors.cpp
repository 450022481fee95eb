// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "shared/base/check.hpp"
#include "shared/config/planning.hpp"
#include "shared/layout/limits.hpp"

namespace millrace {
namespace {

static_assert(2 + 2 * kStreamCountMax <= kActorCountMax);  // without groups all fit

std::uint32_t add(Plan& plan, PlanActor actor) {
  plan.actors.push_back(std::move(actor));
  return static_cast<std::uint32_t>(plan.actors.size() - 1);
}

void add_ingress(Plan& plan) {
  for (std::uint32_t i = 0; i < plan.streams.size(); ++i) {
    PlanStream& stream = plan.streams[i];
    const std::string name =
        "ingress." + plan.ports[stream.port].name + "." + std::to_string(stream.queue);
    stream.ingress = add(plan, {.name = name, .kind = ActorKind::kIngress, .index = i});
  }
}

void add_worker(Planning& planning, std::uint32_t group, std::uint32_t index) {
  Plan& plan = planning.plan;
  const PlanGroup& from = plan.groups[group];
  PlanActor actor{.name = from.name + "." + std::to_string(index),
                  .kind = ActorKind::kClassifier,
                  .group = group,
                  .index = index,
                  .at_start = index < from.count};
  if (from.kind == GroupKind::kClassifier) {
    add(plan, std::move(actor));
    return;
  }
  if (plan.fused) {
    planning.problems.add(planning.topology.groups[group].name.mark,
                          "gpu group '" + from.name + "' with `placement: fused`",
                          "classifier groups, whose workers share one thread with the ports");
  }
  actor.kind = ActorKind::kGpu;
  PlanActor twin = actor;
  actor.name += ".a";
  twin.name += ".b";
  twin.at_start = false;
  const std::uint32_t a = add(plan, std::move(actor));
  const std::uint32_t b = add(plan, std::move(twin));
  plan.actors[a].twin = b;
  plan.actors[b].twin = a;
}

void add_egress(Planning& planning) {
  Plan& plan = planning.plan;
  const std::uint32_t count = planning.topology.egress_count.value;
  for (const TopologyPort& port : planning.topology.ports) {
    const auto devices = known_devices();
    const auto device = std::find_if(devices.begin(), devices.end(), [&](const KnownDevice& d) {
      return d.name == port.device.value;
    });
    if (device->send_queue_max == 0 || count <= device->send_queue_max) continue;
    planning.problems.add(
        planning.topology.egress_count.mark,
        std::to_string(count) + " egress actors with port '" + port.name.value + "'",
        "at most " + std::to_string(device->send_queue_max) + ", its transmit queues");
  }
  const auto first = static_cast<std::uint32_t>(plan.actors.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    add(plan, {.name = "egress." + std::to_string(i), .kind = ActorKind::kEgress, .index = i});
  }
  MILLRACE_CHECK(count > 0);
  for (std::uint32_t i = 0; i < plan.streams.size(); ++i)
    plan.streams[i].egress = first + i % count;
}

/// Cores that groups ask for have to be ours.
void check_cores(Planning& planning, const TopologyGroup& group) {
  const std::vector<int>& ours = planning.host.cores;
  if (ours.empty()) return;
  for (const int core : group.cores.value) {
    if (std::find(ours.begin(), ours.end(), core) != ours.end()) continue;
    std::string list;
    for (const int c : ours) list += (list.empty() ? "" : ", ") + std::to_string(c);
    planning.problems.add(group.cores.mark,
                          "core " + std::to_string(core) + ", which this process may not use",
                          list);
    return;
  }
}

/// Gives out cores in the order of asking.
class CorePool {
 public:
  explicit CorePool(std::vector<int> cores) : cores_(std::move(cores)) {}
  int take() { return cores_.empty() ? -1 : take_at(cores_.begin()); }
  void remove(int core) {
    const auto at = std::find(cores_.begin(), cores_.end(), core);
    if (at != cores_.end()) take_at(at);
  }

 private:
  int take_at(std::vector<int>::iterator at) {
    const int core = *at;
    cores_.erase(at);
    return core;
  }
  std::vector<int> cores_;
};

/// Workers whose group names cores get these in turn, spare ones too.
void bind_named(Planning& planning, CorePool& pool) {
  for (PlanActor& actor : planning.plan.actors) {
    if (actor.kind != ActorKind::kClassifier && actor.kind != ActorKind::kGpu) continue;
    const std::vector<int>& cores = planning.topology.groups[actor.group].cores.value;
    if (cores.empty()) continue;
    actor.core = cores[actor.index % cores.size()];
    pool.remove(actor.core);
  }
}

}  // namespace

void plan_actors(Planning& planning) {
  Plan& plan = planning.plan;
  add(plan, {.name = "hub", .kind = ActorKind::kHub});
  add(plan, {.name = "standby", .kind = ActorKind::kStandby});
  add_ingress(plan);
  for (std::uint32_t group = 0; group < plan.groups.size(); ++group) {
    for (std::uint32_t i = 0; i < plan.groups[group].max; ++i) add_worker(planning, group, i);
    check_most(planning, planning.topology.groups[group].max.mark, "actors",
               plan.actors.size() + planning.topology.egress_count.value, kActorCountMax);
    check_cores(planning, planning.topology.groups[group]);
  }
  add_egress(planning);
}

void plan_cores(Planning& planning) {
  Plan& plan = planning.plan;
  const std::vector<int>& ours = planning.host.cores;
  const auto busy = static_cast<std::size_t>(
      std::count_if(plan.actors.begin(), plan.actors.end(),
                    [](const PlanActor& a) { return a.at_start && moves_packets(a); }));
  plan.shared_cores = (plan.fused ? 1 : busy) + 1 > ours.size();
  CorePool pool(ours);
  if (!ours.empty()) pool.remove(ours.front());
  bind_named(planning, pool);
  if (plan.shared_cores) return;
  if (plan.fused) {
    const int core = pool.take();
    for (PlanActor& actor : plan.actors) {
      if (moves_packets(actor)) actor.core = core;
    }
    return;
  }
  for (const bool spare : {false, true}) {
    for (PlanActor& actor : plan.actors) {
      if (actor.core >= 0 || actor.at_start == spare || !moves_packets(actor)) continue;
      // Two incarnations of a gpu worker never poll at once for long.
      const bool second = actor.kind == ActorKind::kGpu && plan.actors[actor.twin].core >= 0;
      actor.core = second ? plan.actors[actor.twin].core : pool.take();
    }
  }
}

}  // namespace millrace
