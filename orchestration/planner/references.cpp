// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orchestration/planner/classes.hpp"
#include "orchestration/planner/sections.hpp"
#include "shared/base/limits.hpp"
#include "shared/base/nearest.hpp"
#include "shared/config/known_devices.hpp"
#include "shared/config/loop.hpp"
#include "shared/config/plan_reasons.hpp"
#include "shared/config/vlan.hpp"

namespace millrace {
namespace {

struct Check {
  const Topology& topology;
  std::span<const KnownFunction> known;
  Problems& problems;
};

const KnownFunction* known_of(const Check& check, const TopologyFunction& function) {
  for (const KnownFunction& known : check.known) {
    if (known.type == function.type.value) return &known;
  }
  return nullptr;
}

/// Item of this name, or nothing and a problem.
template <typename Item>
const Item* resolve(const Check& check, const std::vector<Item>& items, const char* kind,
                    const Marked<std::string>& name) {
  const std::size_t at = index_of(items, name.value);
  if (at < items.size()) return &items[at];
  const std::vector<std::string_view> names = names_of(items);
  check.problems.add(
      name.mark, "'" + name.value + "' as " + kind,
      names.empty() ? "none, because there is no " + std::string(kind) : comma_list(names),
      nearest_of(name.value, names));
  return nullptr;
}

const TopologyGroup* find_group(const Check& check, const std::string& name) {
  const std::size_t at = index_of(check.topology.groups, name);
  return at < check.topology.groups.size() ? &check.topology.groups[at] : nullptr;
}

/// As in the file: "gpu", "[gpu, deep]".
std::string on_text(const TopologyFunction& function) {
  if (function.beside.value.empty()) return function.on.value;
  return "[" + function.on.value + ", " + function.beside.value + "]";
}

bool has_setting(const TopologyPort& port, std::string_view key) {
  return std::any_of(port.settings.begin(), port.settings.end(),
                     [&](const TopologySetting& setting) { return setting.key == key; });
}

/// A port whose interface is set down while that of another one has no link.
void check_follow(const Check& check, const TopologyPort& port) {
  for (const TopologySetting& setting : port.settings) {
    if (setting.key != "follow") continue;
    const TopologyPort* other = resolve(check, check.topology.ports, "port", setting.value);
    if (other == nullptr) continue;
    // That of a tap is ours: it has a link as long as we run.
    const bool taken = has_setting(*other, "interface") && other->device.value != "tap";
    if (other != &port && taken) continue;
    check.problems.add(setting.value.mark, "port '" + setting.value.value + "' to follow",
                       "another port with an interface of the kernel");
  }
}

/// A bridge of the kernel needs interfaces of the kernel; a tap port's is none while it is down.
void check_bypass(const Check& check) {
  const auto& bridge = check.topology.bypass_bridge;
  for (const Marked<std::string>& name : bridge) {
    const TopologyPort* port = resolve(check, check.topology.ports, "port", name);
    if (port == nullptr) continue;
    if (has_setting(*port, "interface") && port->device.value != "tap") continue;
    check.problems.add(name.mark, "port '" + name.value + "' in a bridge",
                       "a port with an interface of the kernel");
  }
  if (bridge.size() == 2 && bridge[0].value == bridge[1].value) {
    check.problems.add(bridge[1].mark, "port '" + bridge[1].value + "' twice", "two ports");
  }
}

/// What a loop gets comes in again, and would be sent to it once more.
void check_output_ports(const Check& check, const TopologyFunction& function,
                        const KnownFunction& known) {
  for (const TopologySetting& setting : function.settings) {
    const auto at = std::ranges::find(known.settings, setting.key, &KnownSetting::name);
    if (at == known.settings.end() || at->kind != SettingKind::kOutputPort) continue;
    const TopologyPort* port = resolve(check, check.topology.ports, "port", setting.value);
    if (port == nullptr || (can_send(*port) && port->device.value != kLoopDevice)) continue;
    check.problems.add(setting.value.mark,
                       "port '" + port->name.value + "', a " + port->device.value + ", as '" +
                           setting.key + "' of '" + function.name.value + "'",
                       "a port that can send, and is no loop");
  }
}

void check_function(const Check& check, const TopologyFunction& function) {
  const TopologyGroup* group = resolve(check, check.topology.groups, "group", function.on);
  const KnownFunction* known = known_of(check, function);
  if (known != nullptr) check_output_ports(check, function, *known);
  if (group == nullptr || known == nullptr) return;
  if (group->kind == GroupKind::kGpu && !known->runs_on_gpu) {
    check.problems.add(function.on.mark,
                       "gpu group '" + group->name.value + "' for type '" + function.type.value +
                           "', which has no GPU version",
                       "a classifier group");
  }
  if (known->stateful && group->dispatch == Dispatch::kAny) {
    check.problems.add(function.on.mark,
                       "group '" + group->name.value + "' with 'dispatch: any' for type '" +
                           function.type.value + "', which keeps state",
                       "a group with 'dispatch: flow'");
  }
}

/// `on: [gpu, deep]`: one classifier group takes part in all that a gpu group does, as it has the
/// tables of all of it.
void check_beside(const Check& check, const TopologyFunction& function) {
  const TopologyGroup* group = find_group(check, function.on.value);
  if (group == nullptr) return;
  for (const TopologyFunction& first : check.topology.functions) {
    if (&first == &function) break;
    if (first.on.value != function.on.value || first.beside.value == function.beside.value)
      continue;
    if (group->kind != GroupKind::kGpu) break;
    const Marked<std::string>& at = function.beside.value.empty() ? function.on : function.beside;
    check.problems.add(
        at.mark,
        "'" + on_text(function) + "' beside " + on_text(first) + " of '" + first.name.value + "'",
        "the same groups for all functions of a gpu group");
    return;
  }
  if (function.beside.value.empty()) return;
  const TopologyGroup* beside = resolve(check, check.topology.groups, "group", function.beside);
  if (beside == nullptr) return;
  if (group->kind == GroupKind::kGpu && beside->kind == GroupKind::kClassifier) return;
  check.problems.add(function.on.mark, "'" + on_text(function) + "'",
                     "first a gpu group, then a classifier group");
}

/// What only a group that shares its work can have.
void check_split(const Check& check, const TopologyGroup& group) {
  const bool shared = std::any_of(
      check.topology.functions.begin(), check.topology.functions.end(),
      [&](const auto& f) { return f.on.value == group.name.value && !f.beside.value.empty(); });
  for (const auto& [key, value] : {std::pair{"offload", group.offload}, {"spill", group.spill}}) {
    if (!value || shared) continue;
    check.problems.add(value->mark,
                       "'" + std::string(key) + "' of group '" + group.name.value +
                           "', which shares its work with none",
                       "a function with 'on: [" + group.name.value + ", CLASSIFIER GROUP]'");
  }
}

/// Classes are numbered by their first appearance; a function finds its own by their order.
void check_classes(const Check& check, const std::vector<std::string>& classes) {
  if (classes.size() > kClassCountMax) {
    check.problems.add(check.topology.functions.back().name.mark,
                       std::to_string(classes.size()) + " classes",
                       "at most " + std::to_string(kClassCountMax));
  }
  for (const TopologyFunction& function : check.topology.functions) {
    std::size_t last = 0;
    for (const Marked<std::string>& name : function.classes) {
      const auto at = static_cast<std::size_t>(
          std::find(classes.begin(), classes.end(), name.value) - classes.begin());
      if (at + 1 <= last) {
        check.problems.add(name.mark, "class '" + name.value + "' behind one that follows it",
                           "each class once, in the same order in all functions");
      }
      last = at + 1;
    }
  }
}

/// Of all functions together; the first one for whose reasons there is no number is named.
void check_reasons(const Check& check) {
  std::vector<PlanReason> reasons;
  for (const TopologyFunction& function : check.topology.functions) {
    const KnownFunction* known = known_of(check, function);
    if (known == nullptr) continue;
    number_reasons(reasons, known->reasons);
    if (reasons.size() <= kDeclaredReasonCountMax) continue;
    check.problems.add(function.name.mark,
                       std::to_string(reasons.size()) +
                           " drop reasons of functions, with those of '" + function.name.value +
                           "'",
                       "at most " + std::to_string(kDeclaredReasonCountMax) + " different ones");
    return;
  }
}

void check_when(const Check& check, const std::vector<std::string>& classes) {
  const std::vector<std::string_view> names(classes.begin(), classes.end());
  for (const TopologyFunction& function : check.topology.functions) {
    for (const Marked<std::string>& name : function.when) {
      if (std::find(classes.begin(), classes.end(), name.value) != classes.end()) continue;
      check.problems.add(name.mark, "class '" + name.value + "', which no function sets",
                         comma_list(names), nearest_of(name.value, names));
    }
  }
}

/// A function that waits for classes needs one in front of it that sets one of them.
void check_order(const Check& check, const TopologyPath& path,
                 const std::vector<const TopologyFunction*>& run) {
  std::vector<std::string> set;
  for (std::size_t i = 0; i < run.size(); ++i) {
    const auto is_set = [&](const Marked<std::string>& name) {
      return std::find(set.begin(), set.end(), name.value) != set.end();
    };
    const auto& when = run[i]->when;
    if (!when.empty() && std::none_of(when.begin(), when.end(), is_set)) {
      check.problems.add(path.run[i].mark,
                         "'" + run[i]->name.value + "' before any function that sets class '" +
                             when.front().value + "'",
                         "behind that function");
    }
    for (const Marked<std::string>& name : run[i]->classes) set.push_back(name.value);
  }
}

void check_run(const Check& check, const TopologyPath& path) {
  std::vector<const TopologyFunction*> run;
  std::size_t in_a_row = 0;
  for (const Marked<std::string>& name : path.run) {
    const TopologyFunction* function = resolve(check, check.topology.functions, "function", name);
    if (function == nullptr) return;
    if (std::find(run.begin(), run.end(), function) != run.end()) {
      check.problems.add(name.mark, "'" + name.value + "' a second time", "once in a path");
      return;
    }
    in_a_row = !run.empty() && run.back()->on.value == function->on.value ? in_a_row + 1 : 1;
    if (in_a_row == kStageFunctionCountMax + 1) {
      check.problems.add(
          name.mark,
          std::to_string(in_a_row) + " functions in a row on group '" + function->on.value + "'",
          "at most " + std::to_string(kStageFunctionCountMax));
    }
    run.push_back(function);
  }
  check_order(check, path, run);
}

void check_target(const Check& check, const TopologyPath& path, const TopologyPort& from) {
  const auto& ports = check.topology.ports;
  if (ports.size() > 2) {
    check.problems.add(
        path.name.mark,
        "no 'to' in '" + path.name.value + "' with " + std::to_string(ports.size()) + " ports",
        comma_list(names_of(ports)));
    return;
  }
  const TopologyPort& to = &from == &ports.front() ? ports.back() : ports.front();
  if (!can_send(to)) {
    check.problems.add(
        path.name.mark,
        "port '" + to.name.value + "', which cannot send, as target of '" + path.name.value + "'",
        "'to' with a port that can send");
  }
}

/// A port may be in several paths: each but the last one leaves something over.
void check_taken(const Check& check, const TopologyPath& path, const Marked<std::string>& port) {
  for (const TopologyPath& before : check.topology.paths) {
    if (&before == &path) break;
    const auto same = [&](const Marked<std::string>& name) { return name.value == port.value; };
    if (!before.match.value.empty() || std::none_of(before.from.begin(), before.from.end(), same)) {
      continue;
    }
    check.problems.add(port.mark,
                       "port '" + port.value + "' behind path '" + before.name.value +
                           "', which takes every packet of it",
                       "a port once, or a 'match' in all of its paths but the last");
    return;
  }
}

void check_ports_of(const Check& check, const TopologyPath& path) {
  if (path.to) {
    const TopologyPort* to = resolve(check, check.topology.ports, "port", *path.to);
    if (to != nullptr && !can_send(*to)) {
      check.problems.add(path.to->mark, "port '" + path.to->value + "', which cannot send",
                         "a port that can send");
    }
  }
  bool target_checked = path.to.has_value();
  std::vector<std::string> own;
  for (const Marked<std::string>& name : path.from) {
    const TopologyPort* port = resolve(check, check.topology.ports, "port", name);
    if (port == nullptr) continue;
    if (!can_receive(*port)) {
      check.problems.add(name.mark, "port '" + name.value + "', which cannot receive",
                         "a port that can receive");
    }
    if (std::find(own.begin(), own.end(), name.value) != own.end()) {
      check.problems.add(name.mark, "port '" + name.value + "' a second time", "once in a path");
    }
    own.push_back(name.value);
    check_taken(check, path, name);
    if (!target_checked) check_target(check, path, *port);
    target_checked = target_checked || check.topology.ports.size() > 2;
  }
}

}  // namespace

bool can_receive(const TopologyPort& port) {
  if (port.device.value == kVlanDevice) return false;
  return port.device.value != "pcap" || has_setting(port, "in");
}

bool can_send(const TopologyPort& port) {
  if (port.device.value == "pcap") return has_setting(port, "out");
  const KnownDevice* const device = known_device(port.device.value);
  return device == nullptr || device->send_queue_max > 0;  // unknown: refused elsewhere
}

std::vector<std::string> classes_of(const Topology& topology) {
  std::vector<std::string> classes;
  for (const TopologyFunction& function : topology.functions) {
    for (const Marked<std::string>& name : function.classes) {
      if (std::find(classes.begin(), classes.end(), name.value) == classes.end()) {
        classes.push_back(name.value);
      }
    }
  }
  return classes;
}

void check_references(const Topology& topology, std::span<const KnownFunction> functions,
                      Problems& problems) {
  const Check check{topology, functions, problems};
  const std::vector<std::string> classes = classes_of(topology);
  for (const TopologyPort& port : topology.ports) check_follow(check, port);
  check_bypass(check);
  for (const TopologyFunction& function : topology.functions) {
    check_function(check, function);
    check_beside(check, function);
  }
  for (const TopologyGroup& group : topology.groups) check_split(check, group);
  check_classes(check, classes);
  check_reasons(check);
  check_when(check, classes);
  for (const TopologyPath& path : topology.paths) {
    check_run(check, path);
    check_ports_of(check, path);
  }
}

}  // namespace millrace
