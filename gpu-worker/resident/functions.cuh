// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/acl/acl_gpu.cuh"
#include "services/functions/device_function.hpp"
#include "services/functions/match/match_gpu.cuh"
#include "services/functions/route/route_gpu.cuh"
#include "services/functions/staged_packets.cuh"

/// The explicit table of functions that run on a GPU: a case in each of two switches.

namespace millrace::resident {

/// Shared memory that functions keep between tickets.
struct FunctionScratch {
  match::Scratch match;
};

template <typename View>
__device__ const View& view_of(const DeviceTable& table) {
  return *reinterpret_cast<const View*>(table.view);
}

/// Called by all threads of a block, which wait for each other before and after.
__device__ inline void compute(const DeviceTable& table, const StagedPackets& packets,
                               FunctionScratch& scratch, std::uint32_t* words) {
  switch (table.kind) {
    case DeviceKind::kRoute:
      return route::compute(view_of<RouteGpuTable>(table), packets, words);
    case DeviceKind::kMatch:
      return match::compute(view_of<MatchGpuTable>(table), packets, scratch.match, words);
    case DeviceKind::kAcl:
      return acl::compute(view_of<AclGpuTable>(table), packets, words);
    case DeviceKind::kNone:
      return;
  }
}

/// True when finish is going to drop the packet, so that no later function needs to see it.
__device__ inline bool ends(const DeviceTable& table, std::uint32_t word) {
  switch (table.kind) {
    case DeviceKind::kRoute:
      return route::ends(word);
    case DeviceKind::kMatch:
      return match::ends(view_of<MatchGpuTable>(table), word);
    case DeviceKind::kAcl:
      return view_of<AclGpuTable>(table).ends(word);
    case DeviceKind::kNone:
      return false;
  }
  return false;
}

}  // namespace millrace::resident
