// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orchestration/planner/classes.hpp"
#include "orchestration/planner/planning.hpp"
#include "shared/config/plan_reasons.hpp"

namespace millrace {
namespace {

std::uint32_t mask_of(const std::vector<Marked<std::string>>& names,
                      const std::vector<std::string>& classes) {
  std::uint32_t mask = 0;
  for (const Marked<std::string>& name : names) {
    const auto at = std::find(classes.begin(), classes.end(), name.value) - classes.begin();
    mask |= 1u << at;
  }
  return mask;
}

bool same_type_runs_on(const Plan& plan, std::uint32_t gpu, std::uint32_t classifier) {
  for (const PlanFunction& a : plan.functions) {
    for (const PlanFunction& b : plan.functions) {
      if (a.group == gpu && b.group == classifier && a.type == b.type) return true;
    }
  }
  return false;
}

/// Number of the group that shares the work of a gpu group; UINT32_MAX: none does.
std::uint32_t beside(const Topology& topology, const std::string& gpu) {
  for (const TopologyFunction& function : topology.functions) {
    if (function.on.value != gpu || function.beside.value.empty()) continue;
    return static_cast<std::uint32_t>(index_of(topology.groups, function.beside.value));
  }
  return UINT32_MAX;
}

/// A classifier group that runs the same type of function has its tables at hand; else the first.
std::uint32_t stand_in_for(const Plan& plan, std::uint32_t gpu) {
  std::uint32_t first = UINT32_MAX;
  for (std::uint32_t i = 0; i < plan.groups.size(); ++i) {
    if (plan.groups[i].kind != GroupKind::kClassifier) continue;
    if (same_type_runs_on(plan, gpu, i)) return i;
    first = std::min(first, i);
  }
  return first;  // the loader adds a classifier group where there is none
}

}  // namespace

void plan_functions(Planning& planning) {
  Plan& plan = planning.plan;
  plan.classes = classes_of(planning.topology);
  for (const TopologyFunction& from : planning.topology.functions) {
    const KnownFunction& known = known_of(planning, from.type.value);
    number_reasons(plan.reasons, known.reasons);
    PlanFunction function{.name = from.name.value, .type = from.type.value};
    for (const TopologySetting& setting : from.settings) {
      function.settings.emplace_back(setting.key, setting.value.value);
    }
    for (const Marked<std::string>& name : from.classes) {
      function.settings.emplace_back("classes", name.value);
    }
    function.counter_count = known.counter_count;
    if (known.has_image) {
      function.image = "/dev/shm/millrace-" + plan.name + "." + from.name.value + ".1.image";
    }
    function.group = static_cast<std::uint32_t>(index_of(planning.topology.groups, from.on.value));
    function.when_class = mask_of(from.when, plan.classes);
    function.class_mask = mask_of(from.classes, plan.classes);
    function.unavailable = from.unavailable;
    function.overload = from.overload;
    function.share = from.share ? from.share->value : 0;
    function.stateful = known.stateful;
    plan.functions.push_back(std::move(function));
  }
  for (std::uint32_t i = 0; i < plan.groups.size(); ++i) {
    PlanGroup& group = plan.groups[i];
    if (group.kind != GroupKind::kGpu) continue;
    const std::uint32_t shares = beside(planning.topology, group.name);
    group.stand_in = shares != UINT32_MAX ? shares : stand_in_for(plan, i);
  }
}

}  // namespace millrace
