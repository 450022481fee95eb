// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "orchestration/planner/keys.hpp"
#include "orchestration/planner/sections.hpp"
#include "shared/base/limits.hpp"
#include "shared/config/known_devices.hpp"
#include "shared/config/observers.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kSpareMax = 4;  ///< workers that a classifier group can reach unless said

/// Numbers of GPUs in the order of the file: one worker each, so each once.
std::uint32_t read_gpu_numbers(const YamlMap& map, TopologyGroup& group) {
  const YamlValue* devices = map.find("devices");
  if (devices == nullptr) return 0;
  std::set<std::uint64_t> seen;
  std::uint32_t count = 0;
  for (const YamlValue& element : devices->elements()) {
    const auto number = element.integer(0, 63);
    if (!number) continue;
    if (!seen.insert(*number).second) {
      element.refuse("numbers of GPUs, each once");
      continue;
    }
    ++count;
    group.settings.push_back(
        {"devices", {std::to_string(*number), element.mark()}, SettingKind::kInteger});
  }
  return count;
}

/// Percent; 0 for `auto`.
std::optional<Marked<std::uint32_t>> read_offload(const YamlMap& map) {
  const YamlValue* value = map.find("offload");
  const auto text = value == nullptr ? std::nullopt : value->text("auto, or from 1 to 100 percent");
  if (!text) return std::nullopt;
  if (*text == "auto") return Marked<std::uint32_t>{0, value->mark()};
  return read_count(map, "offload", 1, 100);
}

/// `auto` takes a GPU where one can be used, else the software device, whose settings say what it
/// does.
std::uint32_t read_gpu(const YamlMap& map, const LoadContext& context, TopologyGroup& group) {
  constexpr std::string_view kGpuDevices[] = {"auto", "cuda", "software"};
  const YamlValue* device = map.find("device");
  const std::size_t chosen = device == nullptr ? 0 : device->choice(kGpuDevices).value_or(0);
  group.settings.push_back(
      {"device", {std::string(kGpuDevices[chosen]), map.mark()}, SettingKind::kText});
  const std::uint32_t device_count = read_gpu_numbers(map, group);
  for (TopologySetting& setting : read_settings(map, known_software_device(), context)) {
    group.settings.push_back(std::move(setting));
  }
  group.offload = read_offload(map);
  group.spill = read_count(map, "spill", 1, kSlotCountMax);
  return std::max(1u, device_count);
}

void read_counts(const YamlMap& map, std::uint32_t count_default, TopologyGroup& group) {
  group.count = count_default;
  group.max = {count_default, group.name.mark};
  if (const YamlValue* count = map.find("count")) {
    group.count =
        static_cast<std::uint32_t>(count->integer(1, kActorCountMax).value_or(count_default));
  }
  const bool scales = group.kind == GroupKind::kClassifier;
  group.max.value = scales ? std::max(group.count, kSpareMax) : group.count;
  if (const YamlValue* max = map.find("max")) {
    group.max = {static_cast<std::uint32_t>(
                     max->integer(group.count, kActorCountMax).value_or(group.max.value)),
                 max->mark()};
  }
}

/// Within the group's own limits; one more worker has to be able to bring it below `up` again.
void read_autoscale(const YamlMap& map, TopologyGroup& group) {
  const YamlValue* value = map.find("autoscale");
  if (value == nullptr) return;
  const YamlMap limits(*value, "a map with min, max, up, down");
  limits.allow_only(kAutoscaleKeys);
  PlanAutoscale scale{.min = 1, .max = group.max.value};
  const auto read = [&](const char* key, std::uint32_t low, std::uint32_t high,
                        std::uint32_t& number) {
    const YamlValue* found = limits.find(key);
    if (found == nullptr) return;
    number = static_cast<std::uint32_t>(found->integer(low, high).value_or(number));
  };
  read("min", 1, group.max.value, scale.min);
  read("max", scale.min, group.max.value, scale.max);
  read("up", 2, 100, scale.up);
  scale.down = std::min(scale.down, scale.up - 1);
  read("down", 1, scale.up - 1, scale.down);
  group.autoscale = scale;
}

bool is_of_a_process(std::string_view name) {
  constexpr std::string_view kOthers[] = {"egress", "hub", "ingress", "standby", "supervisor"};
  return std::ranges::find(kOthers, name) != std::end(kOthers) ||
         std::ranges::find(kObservers, name, &ObserverKind::name) != std::end(kObservers);
}

void read_group(const YamlEntry& entry, const LoadContext& context, Topology& topology) {
  constexpr std::string_view kKinds[] = {"classifier", "gpu"};
  constexpr std::string_view kDispatches[] = {"any", "flow"};
  TopologyGroup& group = topology.groups.emplace_back();
  group.name = entry.key;
  if (is_of_a_process(entry.key.value)) {
    entry.value.problems().add(entry.key.mark, "'" + entry.key.value + "' as group",
                               "a name that no process has of its own");
  }
  const YamlMap map(entry.value, "a map with 'kind'");
  const YamlValue* kind = map.need("kind", "classifier, gpu");
  const std::optional<std::size_t> chosen = kind == nullptr ? std::nullopt : kind->choice(kKinds);
  if (!chosen) return;
  if (const YamlValue* dispatch = map.find("dispatch")) {
    group.dispatch =
        dispatch->choice(kDispatches).value_or(0) == 1 ? Dispatch::kFlow : Dispatch::kAny;
  }
  if (const YamlValue* cores = map.find("cores")) group.cores = read_cores(*cores);
  std::vector<std::string_view> keys(std::begin(kGroupKeys), std::end(kGroupKeys));
  if (*chosen == 0) {
    map.allow_only(keys);
    read_counts(map, 1, group);
    read_autoscale(map, group);
    return;
  }
  group.kind = GroupKind::kGpu;
  keys.insert(keys.end(), std::begin(kGpuKeys), std::end(kGpuKeys));
  map.allow_only(all_keys(keys, known_software_device()));
  read_counts(map, read_gpu(map, context, group), group);
  read_autoscale(map, group);
}

/// GPUs that the group's workers drive and where the file names each; none: the software device.
std::vector<Marked<std::string>> gpus_of(const TopologyGroup& group) {
  std::vector<Marked<std::string>> gpus;
  if (group.kind != GroupKind::kGpu) return gpus;
  for (const TopologySetting& setting : group.settings) {
    if (setting.key == "device" && setting.value.value == "software") return {};
    if (setting.key == "devices") gpus.push_back(setting.value);
  }
  if (gpus.empty()) gpus.push_back({"0", group.name.mark});
  return gpus;
}

/// That works, but resident kernels of two processes have a GPU in turns.
void warn_of_shared_gpus(Topology& topology) {
  std::map<std::string, std::string> taken;  // by GPU: the group that has it
  for (const TopologyGroup& group : topology.groups) {
    for (const Marked<std::string>& gpu : gpus_of(group)) {
      const auto [at, first] = taken.emplace(gpu.value, group.name.value);
      if (first) continue;
      topology.warnings.push_back({gpu.mark, "group '" + group.name.value + "' shares GPU " +
                                                 gpu.value + " with group '" + at->second +
                                                 "': they have it in turns"});
    }
  }
}

}  // namespace

void read_workers(const YamlValue& value, const LoadContext& context, Topology& topology) {
  for (const YamlEntry& entry : read_items(value, "group", kGroupCountMax)) {
    read_group(entry, context, topology);
  }
  warn_of_shared_gpus(topology);
}

namespace {

void add_group(Topology& topology, const std::string& name, GroupKind kind, std::uint32_t max,
               Dispatch dispatch) {
  TopologyGroup group;
  group.name = {name, topology.mark};
  group.kind = kind;
  group.max = {max, topology.mark};
  group.dispatch = dispatch;
  if (kind == GroupKind::kGpu) {
    group.settings.push_back({"device", {"auto", topology.mark}, SettingKind::kText});
  }
  topology.groups.push_back(std::move(group));
}

bool is_stateful(const TopologyFunction& function, std::span<const KnownFunction> known) {
  return std::any_of(known.begin(), known.end(), [&](const KnownFunction& k) {
    return k.type == function.type.value && k.stateful;
  });
}

}  // namespace

void add_default_groups(Topology& topology, std::span<const KnownFunction> known) {
  const auto& functions = topology.functions;
  const auto without_group = [](const TopologyFunction& f) { return f.on.value.empty(); };
  const auto on_gpu = [](const TopologyFunction& f) { return f.on.value == "gpu" || is_auto(f); };
  const auto name_of = [](const TopologyGroup& g) { return g.name.value; };
  const bool none_given = topology.groups.empty();
  if (none_given && std::any_of(functions.begin(), functions.end(), on_gpu)) {
    add_group(topology, "gpu", GroupKind::kGpu, 1, Dispatch::kAny);
  }
  const auto is_classifier = [](const TopologyGroup& g) {
    return g.kind == GroupKind::kClassifier;
  };
  auto first = std::find_if(topology.groups.begin(), topology.groups.end(), is_classifier);
  if (first == topology.groups.end() && !(none_given && functions.empty())) {
    const bool runs = none_given || std::any_of(functions.begin(), functions.end(), without_group);
    const bool state = std::any_of(functions.begin(), functions.end(),
                                   [&](const auto& f) { return is_stateful(f, known); });
    std::string name = runs ? "classifier" : "standin";
    while (std::ranges::find(topology.groups, name, name_of) != topology.groups.end()) {
      name += "-cpu";  // a gpu group has that one
    }
    add_group(topology, name, GroupKind::kClassifier, runs ? kSpareMax : 1,
              runs && state ? Dispatch::kFlow : Dispatch::kAny);
    first = std::prev(topology.groups.end());
  }
  for (TopologyFunction& function : topology.functions) {
    if (function.on.value.empty()) function.on = {first->name.value, function.name.mark};
  }
}

}  // namespace millrace
