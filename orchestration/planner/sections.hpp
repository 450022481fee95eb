// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orchestration/planner/topology.hpp"
#include "orchestration/planner/yaml_reader.hpp"
#include "shared/config/known.hpp"

/// The parts of the loader: one reader a section of the file. Each adds what it finds wrong to the
/// problems of its value and goes on, so items with a mistake are there too, with their names.

namespace millrace {

struct LoadContext {
  std::span<const KnownFunction> functions;
  std::vector<std::string>& secrets;  ///< values that came from files are added
};

/// "a port", "a group", ...: letters, digits, '-' and '_', at most kNameBytesMax; they become parts
/// of actors' names, paths and metrics.
inline constexpr std::size_t kNameBytesMax = 24;
inline constexpr std::string_view kNameRule =
    "a letter, then letters, digits, '-' and '_', at most 24 in all";
static_assert(kNameBytesMax == 24);
bool is_name(std::string_view text);
/// A name at the value's place, checked by is_name().
std::optional<Marked<std::string>> read_name(const YamlValue& value, std::string_view allowed);
/// Names from a list or a single scalar.
std::vector<Marked<std::string>> read_names(const YamlValue& value, std::string_view allowed);

/// The entries of a section of named items, at most `count_max`; names checked.
std::vector<YamlEntry> read_items(const YamlValue& value, std::string_view item,
                                  std::size_t count_max);

/// What `known` has of the map, in the order of the file.
std::vector<TopologySetting> read_settings(const YamlMap& map, std::span<const KnownSetting> known,
                                           const LoadContext& context);
/// `keys` and those of `known`, sorted.
std::vector<std::string_view> all_keys(std::span<const std::string_view> keys,
                                       std::span<const KnownSetting> known);

/// A number from `low` to `high`, where the map has the key.
std::optional<Marked<std::uint32_t>> read_count(const YamlMap& map, std::string_view key,
                                                std::uint32_t low, std::uint32_t high);

/// Cores from a list or a single scalar, in the order of the file.
Marked<std::vector<int>> read_cores(const YamlValue& value);

void read_events(const YamlValue& value, Topology& topology);
void read_control(const YamlValue& value, Topology& topology);
void read_ports(const YamlValue& value, const LoadContext& context, Topology& topology);
void read_workers(const YamlValue& value, const LoadContext& context, Topology& topology);
void read_functions(const YamlValue& value, const LoadContext& context, Topology& topology);
void read_paths(const YamlValue& value, Topology& topology);

/// Groups that the file did not name but that its functions need, and `on` of functions without.
void add_default_groups(Topology& topology, std::span<const KnownFunction> functions);

/// `on: auto`: the topology's one gpu group, beside its one classifier group, with `offload: auto`.
bool is_auto(const TopologyFunction& function);
void resolve_auto(Topology& topology, Problems& problems);

/// The tap ports to the hosts behind ports (`host_interface`), behind those of the file, and one
/// path from all of them. A point in their names keeps them apart from what a file can name.
void add_host_ports(Topology& topology, Problems& problems);

/// The port can be in a path's `from`; a VLAN's frames come in by its link.
bool can_receive(const TopologyPort& port);
bool can_send(const TopologyPort& port);

/// Ports of device `vlan`: their links, and that no two have the same tags.
void check_vlans(const Topology& topology, Problems& problems);

/// Ports of device `loop`: a path leads out of each, and it is no network's.
void check_loops(const Topology& topology, Problems& problems);

/// Interfaces, devices and addresses that two parts of the topology want.
void check_exclusive(const Topology& topology, Problems& problems);

/// Every name that one section uses of another; what may run where; classes.
void check_references(const Topology& topology, std::span<const KnownFunction> functions,
                      Problems& problems);

}  // namespace millrace
