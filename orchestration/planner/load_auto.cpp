// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orchestration/planner/sections.hpp"

namespace millrace {
namespace {

constexpr std::string_view kAuto = "auto";

/// The only group of its kind; nothing and a problem at `on: auto` when there is none, or several.
TopologyGroup* only_group(Topology& topology, GroupKind kind, const SourceMark& mark,
                          Problems& problems) {
  std::vector<TopologyGroup*> found;
  for (TopologyGroup& group : topology.groups) {
    if (group.kind == kind) found.push_back(&group);
  }
  if (found.size() == 1) return found.front();
  const std::string kind_name = kind == GroupKind::kGpu ? "gpu" : "classifier";
  std::string names;
  for (const TopologyGroup* group : found) {
    names += (names.empty() ? " (" : ", ") + group->name.value;
  }
  problems.add(mark,
               "'on: auto' with " + std::to_string(found.size()) + " groups of kind " + kind_name +
                   names + (names.empty() ? "" : ")"),
               "one; or 'on: [GPU GROUP, CLASSIFIER GROUP]' and 'offload: auto' of the gpu group");
  return nullptr;
}

void choose_groups(Topology& topology, TopologyFunction& function, Problems& problems) {
  const SourceMark mark = function.on.mark;
  TopologyGroup* const gpu = only_group(topology, GroupKind::kGpu, mark, problems);
  const TopologyGroup* const beside = only_group(topology, GroupKind::kClassifier, mark, problems);
  if (gpu == nullptr || beside == nullptr) {
    // Said already: what is said of a group that there is shall not hide it.
    if (!topology.groups.empty()) function.on.value = topology.groups.front().name.value;
    return;
  }
  function.on.value = gpu->name.value;
  function.beside = {beside->name.value, mark};
  if (!gpu->offload) gpu->offload = {0, mark};
  if (gpu->offload->value == 0) return;
  problems.add(gpu->offload->mark,
               "'offload: " + std::to_string(gpu->offload->value) + "' of group '" +
                   gpu->name.value + "' beside 'on: auto' of '" + function.name.value + "'",
               "'offload: auto'; or 'on: [" + gpu->name.value + ", " + beside->name.value +
                   "]' for a share that stays");
}

/// What a classifier group does as a stand-in is measured for one gpu group alone.
void check_balanced(const Topology& topology, Problems& problems) {
  const auto beside = [&](const TopologyGroup& gpu) {
    for (const TopologyFunction& function : topology.functions) {
      if (function.on.value == gpu.name.value && !function.beside.value.empty()) {
        return function.beside.value;
      }
    }
    return std::string();
  };
  for (const TopologyGroup& group : topology.groups) {
    if (!group.offload || group.offload->value != 0) continue;
    const std::string own = beside(group);
    const auto shares = [&](const TopologyGroup& other) {
      return &other != &group && other.kind == GroupKind::kGpu && beside(other) == own;
    };
    const auto other = std::ranges::find_if(topology.groups, shares);
    if (own.empty() || other == topology.groups.end()) continue;
    problems.add(group.offload->mark,
                 "'offload: auto' of group '" + group.name.value + "' beside '" + own +
                     "', which shares the work of '" + other->name.value + "' too",
                 "a classifier group that is beside no other gpu group");
  }
}

}  // namespace

bool is_auto(const TopologyFunction& function) { return function.on.value == kAuto; }

void resolve_auto(Topology& topology, Problems& problems) {
  const bool any = std::ranges::any_of(topology.functions, is_auto);
  for (const TopologyGroup& group : topology.groups) {
    if (!any || group.name.value != kAuto) continue;
    problems.add(group.name.mark, "'auto' as group beside 'on: auto'",
                 "another name: 'on: auto' names no group");
    return;
  }
  for (TopologyFunction& function : topology.functions) {
    if (is_auto(function) && function.beside.value.empty()) {
      choose_groups(topology, function, problems);
    }
  }
  check_balanced(topology, problems);
}

}  // namespace millrace
