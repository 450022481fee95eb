// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "orchestration/planner/sections.hpp"
#include "shared/config/loop.hpp"

// Ports of device `loop`: no network is joined to one, and a path has to lead out of it.

namespace millrace {
namespace {

const Marked<std::string>* tick_of(const TopologyPort& port) {
  const auto at = std::ranges::find(port.settings, "tick", &TopologySetting::key);
  return at == port.settings.end() ? nullptr : &at->value;
}

/// What a tick is for is done once in the topology; and it has to find a path.
void check_tick(const Topology& topology, const TopologyPort& port, Problems& problems) {
  const Marked<std::string>* const tick = tick_of(port);
  if (tick == nullptr) return;
  if (!parse_loop_tick(tick->value)) {
    problems.add(tick->mark, "'" + shown(tick->value) + "' as 'tick'",
                 std::string(kLoopTicksAllowed));
  }
  for (const TopologyPort& before : topology.ports) {
    if (&before == &port) break;
    if (before.device.value != kLoopDevice || tick_of(before) == nullptr) continue;
    problems.add(tick->mark, "'tick' of loop '" + port.name.value + "'",
                 "one loop with ticks, which is '" + before.name.value + "'");
  }
  const bool all_filtered = std::ranges::all_of(topology.paths, [&](const TopologyPath& path) {
    const bool from = std::ranges::any_of(
        path.from, [&](const auto& name) { return name.value == port.name.value; });
    return !from || !path.match.value.empty();
  });
  if (!all_filtered) return;
  problems.add(tick->mark,
               "'tick' of loop '" + port.name.value + "', all paths of which have a 'match'",
               "a path without 'match' behind them, which takes the ticks");
}

void check_loop(const Topology& topology, const TopologyPort& port, Problems& problems) {
  const auto names_it = [&](const Marked<std::string>& name) {
    return name.value == port.name.value;
  };
  const std::string name = "loop '" + port.name.value + "'";
  if (!port.addresses.empty()) {
    problems.add(port.name.mark, "addresses of " + name,
                 "none: no network is joined to a loop; addresses belong to the other ports");
  }
  bool received = false;
  for (const TopologyPath& path : topology.paths) {
    if (std::ranges::none_of(path.from, names_it)) continue;
    received = true;
    if (!path.to || !names_it(*path.to) || !path.run.empty()) continue;
    problems.add(path.to->mark,
                 "path '" + path.name.value + "' from " + name + " to itself without a function",
                 "another port, or a function that sends packets elsewhere: they would go round "
                 "for ever");
  }
  if (received) return;
  problems.add(port.name.mark, name + ", from which no path receives",
               "a path with 'from: " + port.name.value + "', or no such port");
}

}  // namespace

void check_loops(const Topology& topology, Problems& problems) {
  for (const TopologyPort& port : topology.ports) {
    if (port.device.value != kLoopDevice) continue;
    check_loop(topology, port, problems);
    check_tick(topology, port, problems);
  }
}

}  // namespace millrace
