// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "orchestration/planner/sections.hpp"
#include "shared/base/limits.hpp"
#include "shared/config/known_devices.hpp"
#include "shared/config/loop.hpp"

namespace millrace {
namespace {

TopologySetting setting(const TopologyPort& port, std::string key, std::string value) {
  return {.key = std::move(key), .value = {std::move(value), port.host_interface.mark}};
}

TopologyPort host_port_of(const Topology& topology, std::size_t number) {
  const TopologyPort& port = topology.ports[number];
  const SourceMark& mark = port.host_interface.mark;
  TopologyPort host;
  host.name = {port.name.value + ".host", mark};
  host.device = {"tap", mark};
  host.settings.push_back(setting(port, "interface", port.host_interface.value));
  for (const std::string& address : port.addresses) {
    host.settings.push_back(setting(port, "host_addresses", address));
  }
  host.mtu = port.mtu;
  host.host_of = number;
  return host;
}

bool is_taken(const TopologyPort& port) {
  const KnownDevice* const device = known_device(port.device.value);
  if (port.device.value == kLoopDevice) return false;
  return device == nullptr || device->send_queue_max > 1;  // unknown: refused elsewhere
}

}  // namespace

void add_host_ports(Topology& topology, Problems& problems) {
  TopologyPath path;
  const std::size_t of_file = topology.ports.size();
  for (std::size_t i = 0; i < of_file; ++i) {
    const Marked<std::string> interface = topology.ports[i].host_interface;
    if (interface.value.empty()) continue;
    if (!is_taken(topology.ports[i])) {
      problems.add(interface.mark,
                   "'host_interface' of port '" + topology.ports[i].name.value + "', a " +
                       topology.ports[i].device.value,
                   "a port that is joined to a network");
      continue;
    }
    topology.ports.push_back(host_port_of(topology, i));
    if (path.from.empty()) path.name = {"from.hosts", interface.mark};
    path.from.push_back(topology.ports.back().name);
  }
  if (path.from.empty()) return;
  const auto most = [&](const char* what, std::size_t found, std::size_t limit) {
    if (found <= limit) return;
    problems.add(path.name.mark,
                 std::to_string(found) + " " + what + " with those of the hosts behind ports",
                 "at most " + std::to_string(limit));
  };
  most("ports", topology.ports.size(), kPortCountMax);
  topology.paths.push_back(std::move(path));
  most("paths", topology.paths.size(), kPathCountMax);
}

}  // namespace millrace
