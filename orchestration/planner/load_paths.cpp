// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "orchestration/planner/filter.hpp"
#include "orchestration/planner/keys.hpp"
#include "orchestration/planner/sections.hpp"
#include "shared/base/limits.hpp"

namespace millrace {
namespace {

constexpr std::string_view kOrders[] = {"kept", "none"};

void read_match(const YamlValue& value, TopologyPath& path, Topology& topology) {
  const std::optional<std::string> text = value.text("a pcap filter like 'udp port 53'");
  if (!text) return;
  path.match = {*text, value.mark()};
  // A place in the text is one in the file unless variables have moved it.
  const bool verbatim = value.as_written({}) == text;
  const auto mark = [&](std::size_t at) { return verbatim ? value.mark_at(at) : value.mark(); };
  FilterProblem problem;
  auto filter = compile_filter(*text, problem);
  if (!filter) {
    value.problems().add(mark(problem.at), problem.found, problem.allowed, problem.nearest);
    return;
  }
  path.filter = std::move(filter->program);
  for (const FilterWarning& warning : filter->warnings) {
    topology.warnings.push_back({mark(warning.at), "the filter of path '" + path.name.value +
                                                       "' can split a flow: " + warning.text});
  }
}

void read_path(const YamlEntry& entry, Topology& topology) {
  TopologyPath& path = topology.paths.emplace_back();
  path.name = entry.key;
  const YamlMap map(entry.value, "a map with 'from'");
  std::vector<std::string_view> keys(std::begin(kPathKeys), std::end(kPathKeys));
  if (const YamlValue* placement = map.find("placement")) {
    keys.emplace_back("placement");
    placement->problems().add(
        placement->mark(), "'placement' of one path, whose ports, groups and egress others share",
        "'placement: fused' of the whole topology; for one path alone, a topology of its own");
  }
  map.allow_only(keys);
  if (const YamlValue* from = map.need("from", "a port or a list of them")) {
    path.from = read_names(*from, "a port or a list of them");
    if (from->is_list() && from->elements().empty()) from->refuse("at least one port");
  }
  if (const YamlValue* run = map.find("run")) {
    path.run = read_names(*run, "a function or a list of them");
  }
  if (const YamlValue* match = map.find("match")) read_match(*match, path, topology);
  if (const YamlValue* to = map.find("to")) path.to = read_name(*to, "a port");
  if (const YamlValue* order = map.find("order")) {
    path.unordered = {order->choice(kOrders).value_or(0) == 1, order->mark()};
  }
  path.lanes = read_count(map, "lanes", 1, kLaneCountMax);
  path.slots = read_count(map, "slots", 3, kSlotCountMax);
  path.buffers = read_count(map, "buffers", 1, kBufferCountMax);
}

}  // namespace

void read_paths(const YamlValue& value, Topology& topology) {
  for (const YamlEntry& entry : read_items(value, "path", kPathCountMax)) {
    read_path(entry, topology);
  }
}

}  // namespace millrace
