// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "shared/config/plan.hpp"
#include "shared/config/topology.hpp"

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

/// Of the shared memory, in bytes. `total` is rounded up to huge pages.
struct PlanMemory {
  std::uint64_t total = 0;
  std::uint64_t slots = 0;
  std::uint64_t buffers = 0;
  std::uint64_t links = 0;  ///< between actors and back to the ingress
};
PlanMemory plan_memory(const Plan& plan);

/// "ingress", "classifier", ...
const char* kind_name(ActorKind kind);

/// Processes that start with the topology, the ones that carry no batches (telemetry) left out.
std::uint32_t started_count(const Plan& plan);

}  // namespace millrace
