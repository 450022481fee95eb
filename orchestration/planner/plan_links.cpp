// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "orchestration/planner/planning.hpp"
#include "shared/base/limits.hpp"

namespace millrace {
namespace {

using Actors = std::vector<std::uint32_t>;

/// Links in the order of their first mention, each once.
class LinkTable {
 public:
  explicit LinkTable(Plan& plan) : plan_(plan) {}
  void add(const Actors& producers, const Actors& consumers) {
    for (const std::uint32_t producer : producers) {
      for (const std::uint32_t consumer : consumers) {
        if (!known_.emplace(producer, consumer).second) continue;
        plan_.links.push_back({.producer = producer,
                               .consumer = consumer,
                               // A ring of n entries takes n - 1.
                               .depth = std::bit_ceil(slots_between(producer, consumer) + 1)});
      }
    }
  }

 private:
  /// Slots that can be in a link. A ring that is deeper than it is used goes through the caches in
  /// vain, on both sides.
  std::uint32_t slots_between(std::uint32_t producer, std::uint32_t consumer) const {
    const ActorKind from = plan_.actors[producer].kind;
    const bool recovers = from == ActorKind::kHub || from == ActorKind::kStandby;
    const bool to_egress = plan_.actors[consumer].kind == ActorKind::kEgress && !recovers;
    std::uint32_t slots = from == ActorKind::kIngress ? 0 : plan_.stand_in_slot_count;
    for (const PlanStream& stream : plan_.streams) {
      if (from == ActorKind::kIngress && stream.ingress != producer) continue;
      if (to_egress && stream.egress != consumer) continue;
      slots += stream.slot_count;
    }
    return slots;
  }

  Plan& plan_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> known_;
};

Actors actors_of(const Plan& plan, ActorKind kind) {
  Actors actors;
  for (std::uint32_t i = 0; i < plan.actors.size(); ++i) {
    if (plan.actors[i].kind == kind) actors.push_back(i);
  }
  return actors;
}

void add_unique(Actors& actors, std::uint32_t actor) {
  if (std::find(actors.begin(), actors.end(), actor) == actors.end()) actors.push_back(actor);
}

/// What hands a batch to `stage`: to each worker that can take it, or to the egress; and past it,
/// if that may be.
void link_stage(const Plan& plan, std::uint8_t stage, const Actors& producers, const Actors& egress,
                LinkTable& links) {
  for (; stage != kEgressStage; stage = plan.stages[stage].next) {
    links.add(producers, takers_of(plan, plan.stages[stage].group));
    if (!may_be_skipped(plan, plan.stages[stage])) return;
  }
  links.add(producers, egress);
}

void link_path(const Plan& plan, std::uint32_t path, LinkTable& links) {
  Actors ingress;
  Actors egress;
  for (const PlanStream& stream : plan.streams) {
    const auto feeds = [&](const PlanStreamPath& at) { return at.path == path; };
    if (std::none_of(stream.paths.begin(), stream.paths.end(), feeds)) continue;
    add_unique(ingress, stream.ingress);
    add_unique(egress, stream.egress);
  }
  link_stage(plan, plan.paths[path].first_stage, ingress, egress, links);
  for (const PlanStage& stage : plan.stages) {
    if (stage.path != path) continue;
    link_stage(plan, stage.next, takers_of(plan, stage.group), egress, links);
  }
}

}  // namespace

std::vector<std::uint32_t> takers_of(const Plan& plan, std::uint32_t group) {
  Actors takers;
  const bool gpu = plan.groups[group].kind == GroupKind::kGpu;
  for (std::uint32_t i = 0; i < plan.actors.size(); ++i) {
    const PlanActor& actor = plan.actors[i];
    const bool worker = is_of_group(actor.kind);
    if (!worker) continue;
    if (actor.group == group || (gpu && actor.group == plan.groups[group].stand_in)) {
      takers.push_back(i);
    }
  }
  return takers;
}

void plan_links(Planning& planning) {
  Plan& plan = planning.plan;
  LinkTable links(plan);
  for (std::uint32_t path = 0; path < plan.paths.size(); ++path) link_path(plan, path, links);
  for (const ActorKind recovers : {ActorKind::kHub, ActorKind::kStandby}) {
    links.add(actors_of(plan, recovers), actors_of(plan, ActorKind::kClassifier));
    links.add(actors_of(plan, recovers), actors_of(plan, ActorKind::kEgress));
  }
}

}  // namespace millrace
