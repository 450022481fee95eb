// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <map>

#include "orchestration/planner/planning.hpp"
#include "shared/base/check.hpp"
#include "shared/base/limits.hpp"
#include "shared/config/known_devices.hpp"

namespace millrace {
namespace {

static_assert(2 + 2 * kStreamCountMax <= kActorCountMax);  // without groups all fit

std::uint32_t add(Plan& plan, PlanActor actor) {
  plan.actors.push_back(std::move(actor));
  return static_cast<std::uint32_t>(plan.actors.size() - 1);
}

void add_ingress(Planning& planning) {
  Plan& plan = planning.plan;
  for (std::uint32_t i = 0; i < plan.streams.size(); ++i) {
    PlanStream& stream = plan.streams[i];
    const std::string name =
        "ingress." + plan.ports[stream.port].name + "." + std::to_string(stream.queue);
    stream.ingress =
        add(plan, {.name = name,
                   .kind = ActorKind::kIngress,
                   .index = i,
                   .at_start = stream.queue < planning.topology.ports[stream.port].queues});
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

/// In turn; where ports are on several NUMA nodes and there is an egress for each, the streams of
/// one node share those of that node.
void assign_streams(Plan& plan, std::uint32_t first, std::uint32_t count) {
  std::map<int, std::uint32_t> turns;  // of each node
  for (const PlanPort& port : plan.ports) {
    if (port.node >= 0) turns[port.node] = 0;
  }
  const auto nodes = static_cast<std::uint32_t>(turns.size());
  for (std::uint32_t i = 0; i < plan.streams.size(); ++i) {
    const auto at = turns.find(plan.ports[plan.streams[i].port].node);
    std::uint32_t number = i % count;
    if (at != turns.end() && nodes > 1 && nodes <= count) {
      // This node has every `nodes`-th egress from `own` on.
      const auto own = static_cast<std::uint32_t>(std::distance(turns.begin(), at));
      number = own + at->second++ % ((count - own + nodes - 1) / nodes) * nodes;
    }
    plan.streams[i].egress = first + number;
  }
}

void add_egress(Planning& planning) {
  Plan& plan = planning.plan;
  const std::uint32_t count = planning.topology.egress_count.value;
  for (const TopologyPort& port : planning.topology.ports) {
    const KnownDevice* const device = known_device(port.device.value);
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
  assign_streams(plan, first, count);
  plan.side_first = plan.buffer_count;
  plan.side_count = kSideBuffersDefault;
  plan.buffer_count += count * plan.side_count;
}

}  // namespace

void plan_actors(Planning& planning) {
  Plan& plan = planning.plan;
  add(plan, {.name = "hub", .kind = ActorKind::kHub});
  add(plan, {.name = "standby", .kind = ActorKind::kStandby});
  add_ingress(planning);
  for (std::uint32_t group = 0; group < plan.groups.size(); ++group) {
    for (std::uint32_t i = 0; i < plan.groups[group].max; ++i) add_worker(planning, group, i);
    check_most(planning, planning.topology.groups[group].max.mark, "actors",
               plan.actors.size() + planning.topology.egress_count.value, kActorCountMax);
  }
  add_egress(planning);
}

}  // namespace millrace
