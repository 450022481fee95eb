// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "orchestration/planner/topology.hpp"
#include "shared/config/plan.hpp"

/// What a plan means, for people and for programs. `plan` comes from make_plan().

namespace millrace {

/// Several lines: ports, paths, processes, links, lanes, cores, memory, the latency that the slots
/// bound.
std::string plan_text(const Plan& plan);

/// One JSON object with every number of the plan; names stand where the plan has ids. Indented.
/// `warnings`: of the topology that it was made of.
std::string plan_json(const Plan& plan, const std::vector<TopologyWarning>& warnings = {});

/// A Mermaid flow chart: ports, actors and groups; stand-ins dotted.
std::string plan_mermaid(const Plan& plan);

/// "ingress.lan.0_front.1".
std::string link_name(const Plan& plan, const PlanLink& link);

/// How many hand batches to a stage when nothing goes past the one in front of it: ingresses, or
/// the workers of a group.
std::uint32_t producers_of(const Plan& plan, std::uint8_t stage);

/// Of the shared memory, in bytes. `total` is rounded up to huge pages.
struct PlanMemory {
  std::uint64_t total = 0;
  std::uint64_t slots = 0;
  std::uint64_t buffers = 0;
  std::uint64_t links = 0;  ///< between actors and back to the ingress
  std::uint64_t loops = 0;  ///< rings of ports of device `loop`
};
PlanMemory plan_memory(const Plan& plan);

/// Packets or descriptors go from one NUMA node to another here: between actors that start with the
/// topology, and between them and ports and GPUs.
struct NodeCrossing {
  std::string from;
  int from_node = -1;
  std::string to;
  int to_node = -1;
};
/// None on a host of one node, or where it is not known.
std::vector<NodeCrossing> node_crossings(const Plan& plan);

/// Movers of packets that start with the topology but have no core of their own, by the core that
/// they share; -1: those bound to none.
std::map<int, std::vector<std::string>> shared_cores_of(const Plan& plan);

/// Processes that start with the topology, the observers left out.
std::uint32_t started_count(const Plan& plan);

}  // namespace millrace
