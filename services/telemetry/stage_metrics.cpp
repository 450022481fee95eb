// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "services/telemetry/histogram_family.hpp"
#include "services/telemetry/status_metrics.hpp"

namespace millrace {
namespace {

using Histograms = std::vector<const LatencyHistogram*>;

/// The actors that may end a batch's visit: the stage's group; for a GPU, also those that accept
/// its completions or stand in.
Histograms histograms_of(const StatusSource& source, std::uint32_t number) {
  const PlanStage& stage = source.plan.stages[number];
  const bool gpu = source.plan.groups[stage.group].kind == GroupKind::kGpu;
  Histograms found;
  for (std::uint32_t id = 0; id < source.plan.actors.size(); ++id) {
    const PlanActor& actor = source.plan.actors[id];
    const bool own = actor.kind == ActorKind::kClassifier && actor.group == stage.group;
    const bool accepts =
        gpu && (actor.kind == ActorKind::kClassifier || actor.kind == ActorKind::kEgress);
    if (ever_ran(source, id) && (own || accepts)) {
      found.push_back(&source.status.stage_latency(id, number));
    }
  }
  return found;
}

Histograms port_histograms(const StatusSource& source, ActorKind kind, std::uint32_t path) {
  Histograms found;
  for (std::uint32_t id = 0; id < source.plan.actors.size(); ++id) {
    if (source.plan.actors[id].kind != kind || !ever_ran(source, id)) continue;
    found.push_back(&source.status.port_latency(id, path));
  }
  return found;
}

std::string name_of(const Plan& plan, const PlanStage& stage) {
  std::string name;
  for (const std::uint32_t function : stage.functions) {
    name += (name.empty() ? "" : "+") + plan.functions[function].name;
  }
  return name;
}

void add_handover(const StatusSource& source, std::uint32_t id, Families& families) {
  const Plan& plan = source.plan;
  Histograms of_stages;
  for (std::uint32_t stage = 0; stage < plan.stages.size(); ++stage) {
    if (plan.stages[stage].group != plan.actors[id].group) continue;
    of_stages.push_back(&source.status.stage_latency(id, stage));
  }
  families.add(Metric::kGpuHandover, labels_of(plan, plan.actors[id]), exported(of_stages));
}

}  // namespace

void add_stages(const StatusSource& source, Families& families) {
  const Plan& plan = source.plan;
  for (std::uint32_t path = 0; path < plan.paths.size(); ++path) {
    const std::string& name = plan.paths[path].name;
    families.add(Metric::kStageLatency, {name, "ingress", "ingress"},
                 exported(port_histograms(source, ActorKind::kIngress, path)));
    families.add(Metric::kStageLatency, {name, "egress", "egress"},
                 exported(port_histograms(source, ActorKind::kEgress, path)));
  }
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i) {
    const PlanStage& stage = plan.stages[i];
    families.add(Metric::kStageLatency,
                 {plan.paths[stage.path].name, name_of(plan, stage), plan.groups[stage.group].name},
                 exported(histograms_of(source, i)));
  }
  for (std::uint32_t id = 0; id < plan.actors.size(); ++id) {
    if (plan.actors[id].kind == ActorKind::kGpu && ever_ran(source, id)) {
      add_handover(source, id, families);
    }
  }
}

}  // namespace millrace
