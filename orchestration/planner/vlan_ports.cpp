// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "orchestration/planner/sections.hpp"
#include "shared/config/loop.hpp"
#include "shared/config/vlan.hpp"

// Ports of device `vlan`: the link that they share, and their tags.

namespace millrace {
namespace {

bool is_vlan(const TopologyPort& port) { return port.device.value == kVlanDevice; }

/// Null: the port has no such setting.
const Marked<std::string>* value_of(const TopologyPort& port, std::string_view key) {
  const auto at = std::ranges::find(port.settings, key, &TopologySetting::key);
  return at == port.settings.end() ? nullptr : &at->value;
}

bool have_the_same_tags(const TopologyPort& one, const TopologyPort& other) {
  return std::ranges::all_of(std::array{"link", "outer", "id"}, [&](std::string_view key) {
    const Marked<std::string>*a = value_of(one, key), *b = value_of(other, key);
    return (a == nullptr) == (b == nullptr) && (a == nullptr || a->value == b->value);
  });
}

void check_link(const Topology& topology, const TopologyPort& port, Problems& problems) {
  const Marked<std::string>* const name = value_of(port, "link");
  if (name == nullptr) return;  // told already
  std::string others;
  const TopologyPort* link = nullptr;
  for (const TopologyPort& other : topology.ports) {
    if (other.host_of || other.device.value == kLoopDevice) continue;
    if (!can_receive(other) || !can_send(other)) continue;
    others += (others.empty() ? "" : ", ") + other.name.value;
    if (other.name.value == name->value) link = &other;
  }
  if (link == nullptr) {
    problems.add(name->mark, "'" + shown(name->value) + "' as 'link' of '" + port.name.value + "'",
                 "a port that receives and sends, and is no VLAN itself: " +
                     (others.empty() ? "there is none" : others));
  } else if (port.mtu > link->mtu) {
    problems.add(
        port.name.mark, "mtu " + std::to_string(port.mtu) + " of VLAN '" + port.name.value + "'",
        "at most " + std::to_string(link->mtu) + ", that of its link '" + link->name.value + "'");
  }
}

}  // namespace

void check_vlans(const Topology& topology, Problems& problems) {
  for (const TopologyPort& port : topology.ports) {
    if (!is_vlan(port)) continue;
    check_link(topology, port, problems);
    for (const TopologyPort& before : topology.ports) {
      if (&before == &port) break;
      if (!is_vlan(before) || !have_the_same_tags(port, before)) continue;
      problems.add(port.name.mark,
                   "port '" + port.name.value + "' with the tags of '" + before.name.value + "'",
                   "tags of its own");
    }
  }
}

}  // namespace millrace
