// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/route/route_check.hpp"
#include "services/functions/route/route_gpu.hpp"
#include "services/functions/staged_packets.cuh"

namespace millrace::route {

/// True when check() asks for no byte that was not fetched: only long options are not.
__device__ inline bool is_fetched(const StagedPackets& packets, std::uint32_t packet) {
  const std::uint32_t staged = packets.staged[packet];
  if (staged >= packets.length[packet]) return true;
  const std::uint32_t ipv4_bytes = (packets.head(packet).u8(kEthernetBytes) & 15u) * 4;
  return staged >= kEthernetBytes + max(ipv4_bytes, kIpv6Bytes);
}

/// Reads a word of tables that change while the kernel runs: `moved` bytes from where it was, and
/// not by the first-level cache, which may have what stood in a piece that is another's by now.
struct NowLoad {
  std::ptrdiff_t moved;
  template <typename Word>
  constexpr Word operator()(const Word& word) const {
#ifdef __CUDA_ARCH__
    const auto* const at = reinterpret_cast<const std::byte*>(&word) + moved;
    if constexpr (sizeof(Word) == sizeof(unsigned long long)) {
      return __ldcg(reinterpret_cast<const unsigned long long*>(at));
    } else if constexpr (sizeof(Word) == sizeof(unsigned int)) {
      return __ldcg(reinterpret_cast<const unsigned int*>(at));
    } else {
      static_assert(sizeof(Word) == 1);
      return __ldcg(reinterpret_cast<const unsigned char*>(at));
    }
#else
    return word;
#endif
  }
};

/// By one and the same copy of the tables as a whole.
__device__ inline NowLoad now_load(const RouteGpuTable& table) {
  if (table.now == nullptr) return {0};
  const unsigned long long at = __ldcg(reinterpret_cast<const unsigned long long*>(table.now));
  return {reinterpret_cast<const std::byte*>(at) -
          reinterpret_cast<const std::byte*>(table.table.table24)};
}

template <typename Bytes>
__device__ inline std::uint32_t word_of(const Bytes& frame, std::uint32_t wire_length,
                                        const RouteGpuTable& gpu) {
  const RouteTable& table = gpu.table;
  const std::uint32_t word = check(frame, wire_length, table);
  if ((word & kRouteDrop) != 0) return word;
  const NowLoad load = now_load(gpu);
  return word | ((word & kRouteIpv6) == 0 ? table.look_up(destination(frame), load)
                                          : table.ipv6.look_up(ipv6_destination(frame), load));
}

/// One thread a packet; the words of route_compute().
__device__ inline void compute(const RouteGpuTable& table, const StagedPackets& packets,
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
