// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "shared/config/known.hpp"
#include "shared/config/plan.hpp"
#include "shared/config/topology.hpp"

namespace millrace {

/// What the planner has to know of the machine.
struct Host {
  std::vector<int> cores;  ///< that our processes may use, ascending; empty: not known
};

/// This process's CPU set (sched_getaffinity).
Host this_host();

/// Decides every number of a topology:
///
/// - actors: hub 0, standby 1, an ingress a stream, the workers of each group (all of `max`; a gpu
///   worker is two actors, one for each of two incarnations), the egress actors
/// - stages: consecutive functions of a path on one group are one
/// - lanes: one a path, 8 (or as many as workers) where a group of it has `dispatch: flow`
/// - slots of a stream: 3 a lane, at least 16, twice that with a gpu stage; buffers: enough to fill
///   them all and 512 for what is not sealed yet
/// - links: every hand-over that can happen, those of recovery and of stand-in groups among them
/// - cores: one an actor if there are enough, in the order of the path, the first one left to the
///   hub and whatever else sleeps mostly
///
/// `topology` comes from loader.hpp. Throws TopologyError when it asks for more than
/// shared/layout/limits.hpp allows.
Plan make_plan(const Topology& topology, std::span<const KnownFunction> functions,
               const Host& host);

}  // namespace millrace
