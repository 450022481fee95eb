// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/atomic>

#include "services/functions/match/match_gpu.hpp"
#include "services/functions/staged_packets.cuh"
#include "services/functions/warp.cuh"
#include "shared/base/packet_walk.hpp"

namespace millrace::match {

inline constexpr std::uint32_t kLineBytes = 128;  ///< that a warp looks at together

/// What a block keeps in shared memory for `match`.
struct Scratch {
  alignas(16) std::uint32_t filter[kFilterWords];
  std::uint32_t filter_serial;  ///< of the table whose filter it is; 0: none
  std::uint32_t best[kTicketPackets];
  Payload payload[kTicketPackets];            ///< positions are of the stage
  std::uint32_t lines_up_to[kTicketPackets];  ///< of the packets up to this one, it included
};

/// The stage as a text.
struct StagedText {
  const std::uint32_t* words;

  constexpr std::uint32_t word(std::uint32_t at) const {
    const std::uint64_t both = words[at / 4] | std::uint64_t{words[at / 4 + 1]} << 32;
    return static_cast<std::uint32_t>(both >> at % 4 * 8);
  }
};

__device__ inline void keep_filter(const MatchGpuTable& table, Scratch& scratch) {
  if (scratch.filter_serial == table.serial) return;
  const auto* const from = reinterpret_cast<const uint4*>(table.index.filter);
  auto* const to = reinterpret_cast<uint4*>(scratch.filter);
  for (std::uint32_t i = threadIdx.x; i < kFilterWords / 4; i += blockDim.x) to[i] = from[i];
  __syncthreads();  // nobody compares the serial any more
  if (threadIdx.x == 0) scratch.filter_serial = table.serial;
}

/// Where the payload of a packet is; empty when there is none.
__device__ inline Payload find_payload(const StagedPackets& packets, std::uint32_t packet) {
  const StagedFrame frame = packets.frame(packet);
  const PacketHeaders headers = walk_headers(frame);
  Payload payload{0, 0, headers.protocol, {0, 0}};
  if (headers.payload_offset == 0 || headers.payload_offset >= headers.payload_end) return payload;
  payload.begin = packets.at[packet] + headers.payload_offset;
  payload.end = packets.at[packet] + headers.payload_end;
  const bool ports = headers.protocol == packet_walk::kTcp || headers.protocol == packet_walk::kUdp;
  if (ports && headers.transport_offset != 0) {
    payload.ports[0] = frame.u16(headers.transport_offset);
    payload.ports[1] = frame.u16(headers.transport_offset + 2u);
  }
  return payload;
}

/// The places [at, at + 4) of one thread; `here` and `behind` are the folded words from `at` on.
__device__ inline std::uint32_t look_at_four(const LiteralIndex& index, const Scratch& scratch,
                                             const StagedText& text, const Payload& payload,
                                             std::uint32_t at, std::uint32_t here,
                                             std::uint32_t behind, std::uint32_t best) {
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t place = at + i;
    if (place < payload.begin || place >= payload.end) continue;
    const std::uint32_t window = __funnelshift_r(here, behind, i * 8);
    if (filter_has(scratch.filter, window) && payload.end - place >= kAnchorBytes) {
      best = strongest_at(index, text, payload, place, window, best);
    }
    if (index.counts.short_entries != 0) {
      best = strongest_short_at(index, text, payload, place, window, best);
    }
  }
  return best;
}

/// One warp: the line of kLineBytes that starts at `line` of a payload.
__device__ inline void search_line(const LiteralIndex& index, Scratch& scratch,
                                   const std::uint8_t* stage, std::uint32_t packet,
                                   std::uint32_t line) {
  const Payload& payload = scratch.payload[packet];
  const std::uint32_t at = line + threadIdx.x % 32 * 4;
  if (at >= payload.end) return;
  const StagedText text{reinterpret_cast<const std::uint32_t*>(stage)};
  const std::uint32_t here = fold_case(text.words[at / 4]);
  const std::uint32_t behind = fold_case(text.words[at / 4 + 1]);
  const std::uint32_t best =
      cuda::atomic_ref<std::uint32_t, cuda::thread_scope_block>(scratch.best[packet])
          .load(cuda::memory_order_relaxed);
  const std::uint32_t found = look_at_four(index, scratch, text, payload, at, here, behind, best);
  if (found < best) atomicMin(&scratch.best[packet], found);
}

/// One warp: what there is to search, in lines of all packets one behind the other.
__device__ inline void count_lines(const StagedPackets& packets, Scratch& scratch) {
  const std::uint32_t packet = threadIdx.x;
  std::uint32_t lines = 0;
  if (packet >= packets.first && packet < packets.end && packets.active[packet] != 0) {
    const Payload& payload = scratch.payload[packet];
    lines = (payload.end - payload.begin / 4 * 4 + kLineBytes - 1) / kLineBytes;
  }
  std::uint32_t total = 0;
  scratch.lines_up_to[packet] = sum_before(lines, total) + lines;
}

/// A thread finds a payload, a warp searches a line; the words of MatchScanner::strongest_rule().
__device__ inline void compute(const MatchGpuTable& table, const StagedPackets& packets,
                               Scratch& scratch, std::uint32_t* words) {
  keep_filter(table, scratch);
  const std::uint32_t own = packets.first + threadIdx.x;
  const bool has_own = own < packets.end && packets.active[own] != 0;
  if (has_own) {
    scratch.best[own] = table.index.counts.rules;
    scratch.payload[own] = find_payload(packets, own);
  }
  __syncthreads();
  if (threadIdx.x < 32) count_lines(packets, scratch);
  __syncthreads();
  const std::uint32_t up_to = scratch.lines_up_to[threadIdx.x % 32];
  const std::uint32_t lines = scratch.lines_up_to[31];
  for (std::uint32_t line = threadIdx.x / 32; line < lines; line += blockDim.x / 32) {
    const unsigned before = __ballot_sync(kWholeWarp, up_to <= line);
    const auto packet = static_cast<std::uint32_t>(__popc(before));
    const std::uint32_t first = packet == 0 ? 0 : scratch.lines_up_to[packet - 1];
    const std::uint32_t start = scratch.payload[packet].begin / 4 * 4;
    search_line(table.index, scratch, packets.stage, packet, start + (line - first) * kLineBytes);
    __syncwarp();
  }
  __syncthreads();
  if (has_own) {
    const std::uint32_t best = scratch.best[own];
    words[own] = best == table.index.counts.rules ? 0 : best + 1;
  }
}

/// True when finish is going to drop the packet: rules that drop come first.
__device__ inline bool ends(const MatchGpuTable& table, std::uint32_t word) {
  return word != 0 && word <= table.index.counts.drop_rules;
}

}  // namespace millrace::match
