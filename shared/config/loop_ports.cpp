// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "shared/config/loop.hpp"
#include "shared/config/sections.hpp"

// Ports of device `loop`: no network is joined to one, and a path has to lead out of it.

namespace millrace {
namespace {

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
    if (port.device.value == kLoopDevice) check_loop(topology, port, problems);
  }
}

}  // namespace millrace
