// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "orchestration/planner/host.hpp"
#include "orchestration/planner/topology.hpp"
#include "shared/config/known.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// Decides every number of a topology:
///
/// - actors: hub 0, standby 1, an ingress a stream, the workers of each group (all of `max`; a gpu
///   worker is two actors, one for each of two incarnations), the egress actors
/// - stages: consecutive functions of a path on one group are one
/// - lanes: one a path, 8 (or as many as workers) where a group of it has `dispatch: flow`
/// - slots of a stream: 3 a lane, at least 16, twice that with a gpu stage; buffers: enough to fill
///   them all and 512 for what is not sealed yet
/// - bytes of a buffer: headroom, the longest MTU, the most that functions of one path add behind a
///   packet. What they add in front must fit the headroom, what they make longer the output's MTU
/// - shares: of a stage that `overload` lets batches go past, 8 batches of a stream (behind a GPU's
///   hand-over 16), at least 2 a lane and a worker, unless said; divided among the workers in front
///   of it. A lane has at most half of them. Such a path has 4 times as many slots, unless said
/// - links: every hand-over that can happen, those of recovery and of stand-in groups among them
/// - cores: those that the file names; else one an actor if there are enough, in the order of the
///   path, of the NUMA node of its port, GPU or packets if there is one left; the first one is left
///   to the hub and whatever else sleeps mostly. Too few: all share, and sleep when idle
///
/// `topology` comes from loader.hpp. Throws TopologyError when it asks for more than
/// shared/base/limits.hpp allows.
Plan make_plan(const Topology& topology, std::span<const KnownFunction> functions,
               const Host& host);

}  // namespace millrace
