// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/route/route_check.hpp"
#include "services/functions/staged_packets.cuh"

namespace millrace::route {

/// True when check() asks for no byte that was not fetched: only long options are not.
__device__ inline bool is_fetched(const StagedPackets& packets, std::uint32_t packet) {
  const std::uint32_t staged = packets.staged[packet];
  if (staged >= packets.length[packet]) return true;
  const std::uint32_t ipv4_bytes = (packets.head(packet).u8(kEthernetBytes) & 15u) * 4;
  return staged >= kEthernetBytes + max(ipv4_bytes, kIpv6Bytes);
}

template <typename Bytes>
__device__ inline std::uint32_t word_of(const Bytes& frame, std::uint32_t wire_length,
                                        const RouteTable& table) {
  const std::uint32_t word = check(frame, wire_length, table);
  if ((word & kRouteDrop) != 0) return word;
  return word | ((word & kRouteIpv6) == 0 ? table.look_up(destination(frame))
                                          : table.ipv6.look_up(ipv6_destination(frame)));
}

/// One thread a packet; the words of route_compute().
__device__ inline void compute(const RouteTable& table, const StagedPackets& packets,
                               std::uint32_t* words) {
  const std::uint32_t packet = packets.first + threadIdx.x;
  if (packet >= packets.end || packets.active[packet] == 0) return;
  const std::uint32_t wire_length = packets.wire_length[packet];
  words[packet] = is_fetched(packets, packet) ? word_of(packets.head(packet), wire_length, table)
                                              : word_of(packets.frame(packet), wire_length, table);
}

/// True when finish is going to drop the packet, so that no later function needs to see it.
__device__ inline bool ends(std::uint32_t word) { return (word & kRouteDrop) != 0; }

}  // namespace millrace::route
