// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "orchestration/planner/planner.hpp"
#include "orchestration/planner/problem.hpp"

/// The steps of make_plan(), in their order; each relies on those before it.

namespace millrace {

struct Planning {
  const Topology& topology;
  std::span<const KnownFunction> known;
  const Host& host;
  Plan plan;
  Problems problems;
};

/// Of a type that is known: others are refused before.
inline const KnownFunction& known_of(const Planning& planning, const std::string& type) {
  return *std::ranges::find(planning.known, type, &KnownFunction::type);
}

void plan_ports(Planning& planning);
void plan_groups(Planning& planning);
void plan_functions(Planning& planning);  ///< with classes, reasons, stand-in groups
void plan_paths(Planning& planning);      ///< stages and lanes
void plan_flows(Planning& planning);      ///< what decides lanes; the state of lanes
void plan_shares(Planning& planning);     ///< of stages
void plan_streams(Planning& planning);    ///< slots and buffers; `ingress` and `egress` are open
void plan_room(Planning& planning);  ///< length of a buffer; what functions do to packets' ends
void plan_actors(Planning& planning);
void plan_links(Planning& planning);
void plan_splits(Planning& planning);  ///< what gpu groups leave to those beside them
void plan_cores(Planning& planning);

/// NUMA node of the interface or PCI device behind a port; -1: it has none, or it is not known.
int node_of(const Host& host, const PlanPort& port);

/// Batches of one stream that may be in the stage, before it is divided among those in front of it;
/// 0: any number, as one of its functions waits.
std::uint32_t share_of_stream(const Planning& planning, const PlanStage& stage);

/// Actors that a batch can be given to for a stage on `group`: its workers, of a gpu group both
/// incarnations and the workers of its stand-in group. Ascending.
std::vector<std::uint32_t> takers_of(const Plan& plan, std::uint32_t group);

/// Adds a problem when `found` is above `most`; `what` in the plural.
void check_most(Planning& planning, const SourceMark& mark, const char* what, std::uint64_t found,
                std::uint64_t most);

}  // namespace millrace
