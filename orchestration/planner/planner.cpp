// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/planner.hpp"

#include <bit>
#include <cstdio>
#include <string>
#include <utility>

#include "orchestration/planner/planning.hpp"
#include "shared/base/limits.hpp"
#include "shared/config/vlan.hpp"

namespace millrace {

void check_most(Planning& planning, const SourceMark& mark, const char* what, std::uint64_t found,
                std::uint64_t most) {
  if (found <= most) return;
  planning.problems.add(mark, std::to_string(found) + " " + what,
                        "at most " + std::to_string(most) + " in a topology");
}

/// As it says, or that of its link, or one made of its number.
static std::string mac_of(const Topology& topology, std::size_t number) {
  const TopologyPort& port = topology.ports[number];
  if (!port.mac.empty()) return port.mac;
  if (port.device.value == kVlanDevice) {
    for (const TopologySetting& setting : port.settings) {
      if (setting.key != "link") continue;
      const auto link = std::ranges::find(topology.ports, setting.value.value,
                                          [](const TopologyPort& one) { return one.name.value; });
      return mac_of(topology, static_cast<std::size_t>(link - topology.ports.begin()));
    }
  }
  char mac[18];
  std::snprintf(mac, sizeof(mac), "02:00:00:00:00:%02x",
                static_cast<unsigned>((number + 1) & 0xff));
  return mac;
}

void plan_ports(Planning& planning) {
  Plan& plan = planning.plan;
  for (const TopologyPort& from : planning.topology.ports) {
    PlanPort port{.name = from.name.value, .device = from.device.value};
    for (const TopologySetting& setting : from.settings) {
      port.settings.emplace_back(setting.key, setting.value.value);
    }
    port.mtu = from.mtu;
    port.addresses = from.addresses;
    port.mac = mac_of(planning.topology, plan.ports.size());
    if (planning.topology.fused && is_dpdk(port)) {
      planning.problems.add(from.device.mark,
                            "dpdk port '" + port.name + "' with `placement: fused`",
                            "`placement: processes`, of which the hub is the first for DPDK");
    }
    port.node = node_of(planning.host, port);
    if (from.host_of) {
      // To its neighbours the host is the port itself.
      PlanPort& before = plan.ports[*from.host_of];
      before.host = static_cast<int>(plan.ports.size());
      port.settings.emplace_back("host_mac", before.mac);
    }
    plan.ports.push_back(std::move(port));
  }
}

void plan_groups(Planning& planning) {
  for (const TopologyGroup& from : planning.topology.groups) {
    PlanGroup group{.name = from.name.value, .kind = from.kind, .count = from.count};
    group.max = planning.topology.fused ? from.count : from.max.value;  // it does not scale
    group.dispatch = from.dispatch;
    if (!planning.topology.fused) group.autoscale = from.autoscale;
    for (const TopologySetting& setting : from.settings) {
      group.settings.emplace_back(setting.key, setting.value.value);
    }
    planning.plan.groups.push_back(std::move(group));
  }
}

Plan make_plan(const Topology& topology, std::span<const KnownFunction> functions,
               const Host& host) {
  Planning planning{.topology = topology, .known = functions, .host = host};
  planning.plan.name = topology.name;
  planning.plan.batch_capacity = topology.batch_capacity;
  planning.plan.heartbeat_limit_ms = topology.heartbeat_limit_ms;
  planning.plan.crash_limit = topology.crash_limit;
  planning.plan.neighbour_count = std::bit_ceil(topology.neighbour_limit);
  planning.plan.telemetry_listen = topology.telemetry_listen;
  if (const auto& events = topology.events) {
    planning.plan.events = PlanEvents{.file = events->file.value,
                                      .rotate_bytes = events->rotate_bytes,
                                      .keep = events->keep,
                                      .socket = events->socket.value,
                                      .ipfix = std::nullopt,
                                      .stats_s = events->stats_s};
    if (const auto& ipfix = events->ipfix) {
      planning.plan.events->ipfix = {ipfix->collector, ipfix->domain};
    }
  }
  planning.plan.fused = topology.fused;
  planning.plan.secrets = topology.secrets;
  plan_ports(planning);
  plan_groups(planning);
  plan_functions(planning);
  plan_paths(planning);
  plan_flows(planning);
  plan_shares(planning);
  plan_streams(planning);
  plan_room(planning);
  planning.problems.throw_if_any();
  plan_actors(planning);
  plan_links(planning);
  plan_splits(planning);
  plan_cores(planning);
  planning.problems.throw_if_any();
  return std::move(planning.plan);
}

}  // namespace millrace
