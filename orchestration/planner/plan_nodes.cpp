// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/plan_printer.hpp"
#include "shared/config/known_devices.hpp"
#include "shared/config/plan_settings.hpp"

namespace millrace {
namespace {

struct Place {
  std::string name;
  int node = -1;
};

Place place_of(const PlanActor& actor) { return {actor.name, actor.at_start ? actor.node : -1}; }

Place place_of(const PlanPort& port) { return {"port " + port.name, port.node}; }

bool sends(const PlanPort& port) {
  const KnownDevice* const device = known_device(port.device);
  return device != nullptr && device->send_queue_max != 0;
}

void add(std::vector<NodeCrossing>& crossings, const Place& from, const Place& to) {
  if (from.node < 0 || to.node < 0 || from.node == to.node) return;
  crossings.push_back({from.name, from.node, to.name, to.node});
}

bool drives_gpu(const Plan& plan, const PlanActor& actor) {
  return actor.kind == ActorKind::kGpu && gpu_of_worker(plan.groups[actor.group], actor.index);
}

}  // namespace

std::vector<NodeCrossing> node_crossings(const Plan& plan) {
  std::vector<NodeCrossing> crossings;
  if (plan.nodes.size() < 2) return crossings;
  for (const PlanStream& stream : plan.streams) {
    add(crossings, place_of(plan.ports[stream.port]), place_of(plan.actors[stream.ingress]));
  }
  for (const PlanLink& link : plan.links) {
    add(crossings, place_of(plan.actors[link.producer]), place_of(plan.actors[link.consumer]));
  }
  for (const PlanActor& actor : plan.actors) {
    if (drives_gpu(plan, actor)) {
      add(crossings, place_of(actor), {"the GPU of " + actor.name, actor.home});
    }
    if (actor.kind != ActorKind::kEgress) continue;
    for (const PlanPort& port : plan.ports) {
      if (sends(port)) add(crossings, place_of(actor), place_of(port));
    }
  }
  return crossings;
}

std::map<int, std::vector<std::string>> shared_cores_of(const Plan& plan) {
  std::map<int, std::vector<std::string>> shared;
  for (std::uint32_t i = 0; i < plan.actors.size(); ++i) {
    const PlanActor& actor = plan.actors[i];
    if (!actor.at_start || !moves_packets(actor) || plan.fused) continue;
    if (shares_core(plan, i)) shared[actor.core].push_back(actor.name);
  }
  return shared;
}

}  // namespace millrace
