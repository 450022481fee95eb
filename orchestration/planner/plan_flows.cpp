// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orchestration/planner/planning.hpp"
#include "shared/base/error.hpp"
#include "shared/base/secrets.hpp"

// What functions with flows, and with state at all, ask of the paths that run them.

namespace millrace {
namespace {

/// Those of the path, in its order.
std::vector<std::uint32_t> functions_of_path(const Plan& plan, std::uint32_t path) {
  std::vector<std::uint32_t> all;
  for (const PlanStage& stage : plan.stages) {
    if (stage.path != path) continue;
    all.insert(all.end(), stage.functions.begin(), stage.functions.end());
  }
  return all;
}

/// Adds what an Error of `ask` says of the function's settings.
template <typename Ask>
void gather(Planning& planning, std::uint32_t function, Ask&& ask) {
  try {
    ask();
  } catch (const Error& error) {
    const Marked<std::string>& name = planning.topology.functions[function].name;
    planning.problems.add(name.mark, "function '" + name.value + "' that cannot be used (" +
                                         without_secrets(error.what(), planning.topology.secrets) +
                                         ")");
  }
}

/// What has state knows a flow by its lane, and reads its packets one after the other.
void check_unordered(Planning& planning, std::uint32_t number) {
  for (const std::uint32_t function : functions_of_path(planning.plan, number)) {
    const PlanFunction& planned = planning.plan.functions[function];
    if (!planned.stateful && known_of(planning, planned.type).flows == FlowUse::kNone) continue;
    planning.problems.add(planning.topology.paths[number].unordered.mark,
                          "'order: none' of a path with '" + planned.name + "' of type '" +
                              planned.type + "', which has state of flows",
                          "'order: kept', or functions without state");
  }
}

void decide_lanes(Planning& planning, std::uint32_t number) {
  PlanPath& path = planning.plan.paths[number];
  if (planning.topology.paths[number].unordered.value) {
    check_unordered(planning, number);
    path.ordered = false;
    return;
  }
  for (const std::uint32_t function : functions_of_path(planning.plan, number)) {
    const PlanFunction& planned = planning.plan.functions[function];
    const KnownFunction& known = known_of(planning, planned.type);
    if (known.flows == FlowUse::kNone) continue;
    path.lanes_by = std::max(path.lanes_by, LanesBy::kAddresses);
    if (known.translation == nullptr) continue;
    if (path.lanes_by == LanesBy::kInside) {
      const Marked<std::string>& name = planning.topology.functions[function].name;
      planning.problems.add(name.mark,
                            "'" + name.value + "' in a path that another function translates in",
                            "one function that translates in a path");
      continue;
    }
    path.lanes_by = LanesBy::kInside;
    gather(planning, function,
           [&] { path.translation = known.translation(planned.settings, planning.plan.ports); });
  }
}

/// Flows are found once, by the first function of a stage that has to do with them.
void check_stage(Planning& planning, const PlanStage& stage) {
  const PlanFunction* giver = nullptr;
  for (const std::uint32_t function : stage.functions) {
    const PlanFunction& planned = planning.plan.functions[function];
    const FlowUse use = known_of(planning, planned.type).flows;
    const Marked<std::string>& name = planning.topology.functions[function].name;
    if (use == FlowUse::kGives && giver != nullptr) {
      planning.problems.add(name.mark, "'" + name.value + "' behind '" + giver->name + "'",
                            "one function of type '" + planned.type + "' in a path");
    } else if (use == FlowUse::kGives) {
      giver = &planned;
    } else if (use == FlowUse::kNeeds && giver == nullptr) {
      planning.problems.add(
          name.mark,
          "'" + name.value + "' of type '" + planned.type + "' with no 'flow' in front of it",
          "a function of type 'flow' earlier in the path, on the same workers");
    }
  }
}

/// Both directions of a connection have to come by one path.
void check_paths(Planning& planning, std::uint32_t function) {
  const Marked<std::string>& name = planning.topology.functions[function].name;
  std::vector<std::string> in;
  for (std::uint32_t path = 0; path < planning.plan.paths.size(); ++path) {
    const auto all = functions_of_path(planning.plan, path);
    if (std::ranges::find(all, function) == all.end()) continue;
    in.push_back(planning.plan.paths[path].name);
  }
  if (in.size() < 2) return;
  planning.problems.add(name.mark,
                        "'" + name.value + "' in the paths '" + in[0] + "' and '" + in[1] +
                            "', which do not see each other's connections",
                        "one path that has all ports in its 'from'");
}

/// Of the paths that run it; the state of a lane is for its share of what they ask for.
std::uint32_t fewest_lanes(const Plan& plan, std::uint32_t function) {
  std::uint32_t lanes = 0;
  for (const PlanStage& stage : plan.stages) {
    if (std::ranges::find(stage.functions, function) == stage.functions.end()) continue;
    const std::uint32_t count = plan.paths[stage.path].lane_count;
    lanes = lanes == 0 ? count : std::min(lanes, count);
  }
  return std::max(lanes, 1u);
}

void size_state(Planning& planning, std::uint32_t number) {
  Plan& plan = planning.plan;
  PlanFunction& function = plan.functions[number];
  const KnownFunction& known = known_of(planning, function.type);
  if (known.lane_needs == nullptr) return;
  gather(planning, number, [&] {
    const LaneNeeds needs = known.lane_needs({.settings = function.settings,
                                              .lanes = fewest_lanes(plan, number),
                                              .batch_capacity = plan.batch_capacity});
    function.lane_state_bytes = needs.state_bytes;
    function.lane_undo_lines = needs.undo_lines;
  });
}

}  // namespace

void plan_flows(Planning& planning) {
  Plan& plan = planning.plan;
  for (std::uint32_t path = 0; path < plan.paths.size(); ++path) decide_lanes(planning, path);
  for (const PlanStage& stage : plan.stages) check_stage(planning, stage);
  for (std::uint32_t i = 0; i < plan.functions.size(); ++i) {
    const KnownFunction& known = known_of(planning, plan.functions[i].type);
    if (known.flows != FlowUse::kNone) check_paths(planning, i);
  }
  if (!planning.problems.empty()) return;  // settings that are wrong are told of once
  for (std::uint32_t i = 0; i < plan.functions.size(); ++i) size_state(planning, i);
}

}  // namespace millrace
