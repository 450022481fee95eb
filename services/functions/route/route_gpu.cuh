// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/route/route_check.hpp"
#include "services/functions/staged_packets.cuh"

namespace millrace::route {

/// One thread a packet; the words of route_compute().
__device__ inline void compute(const RouteTable& table, const StagedPackets& packets,
                               std::uint32_t* words) {
  const std::uint32_t packet = packets.first + threadIdx.x;
  if (packet >= packets.end || packets.active[packet] == 0) return;
  const StagedFrame frame = packets.frame(packet);
  std::uint32_t word = check(frame, packets.wire_length[packet], table);
  if ((word & kRouteDrop) == 0) {
    word |= (word & kRouteIpv6) == 0 ? table.look_up(destination(frame))
                                     : table.ipv6.look_up(ipv6_destination(frame));
  }
  words[packet] = word;
}

/// True when finish is going to drop the packet, so that no later function needs to see it.
__device__ inline bool ends(std::uint32_t word) { return (word & kRouteDrop) != 0; }

}  // namespace millrace::route
