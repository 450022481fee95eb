// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "orchestration/planner/planning.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kSpillLeast = 4;  ///< batches: below, a GPU waits for its next one

bool is_shared(const Topology& topology, const std::string& gpu) {
  return std::ranges::any_of(topology.functions, [&](const TopologyFunction& function) {
    return function.on.value == gpu && !function.beside.value.empty();
  });
}

/// Half of the slots that there are for each of those that hand batches to the group: the other
/// half is what the group beside it can work on.
std::uint32_t spill_of(const Plan& plan, std::uint32_t group) {
  std::set<std::uint32_t> producers;
  for (const PlanLink& link : plan.links) {
    const PlanActor& to = plan.actors[link.consumer];
    const bool here = to.kind == ActorKind::kGpu && to.group == group;
    if (here && plan.actors[link.producer].at_start) producers.insert(link.producer);
  }
  const auto count = std::max<std::size_t>(1, producers.size());
  return std::max(kSpillLeast, static_cast<std::uint32_t>(plan.slot_count / (2 * count)));
}

}  // namespace

void plan_splits(Planning& planning) {
  Plan& plan = planning.plan;
  for (std::uint32_t i = 0; i < plan.groups.size(); ++i) {
    const std::size_t at = index_of(planning.topology.groups, plan.groups[i].name);
    const TopologyGroup& from = planning.topology.groups[at];
    if (!is_shared(planning.topology, plan.groups[i].name)) continue;
    plan.groups[i].offload = from.offload ? from.offload->value : 100;
    // A share that follows what is measured needs no other limit, which would hide it.
    const bool measured = plan.groups[i].offload == 0;
    const std::uint32_t spill = measured ? plan.slot_count : spill_of(plan, i);
    plan.groups[i].spill = from.spill ? from.spill->value : spill;
  }
}

}  // namespace millrace
