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
  __syncthreads();  // no thread compares the serial any more
  if (threadIdx.x == 0) scratch.filter_serial = table.serial;
}

/// Where the payload of a packet is; empty when there is none, or it is `hidden`.
__device__ inline Payload find_payload(const StagedPackets& packets, std::uint32_t packet,
                                       bool& hidden) {
  const StagedFrame frame = packets.frame(packet);
  const PacketHeaders headers = walk_headers(frame);
  hidden = chain_breaks_off(headers);
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

/// Entries of an index that may stand at the places of a thread, four in a row: `count[i]` from
/// `first[i]` on.
struct Suspects {
  std::uint32_t first[4], count[4];
};

/// `bounds`: of buckets or pairs.
__device__ inline void suspect(const std::uint32_t* bounds, std::uint32_t at, std::uint32_t place,
                               Suspects& suspects) {
  suspects.first[place] = bounds[at];
  suspects.count[place] = bounds[at + 1] - suspects.first[place];
}

/// The last lane whose `begin`, ascending, is not above `number`.
__device__ inline std::uint32_t lane_of(std::uint32_t begin, std::uint32_t number) {
  std::uint32_t lane = 0;
#pragma unroll
  for (std::uint32_t step = 16; step != 0; step /= 2) {
    const std::uint32_t there = __shfl_sync(kWholeWarp, begin, static_cast<int>(lane + step));
    if (there <= number) lane += step;
  }
  return lane;
}

/// A line of a payload as a warp has it: a lane has four places.
struct Line {
  std::uint32_t start;         ///< place of the first lane's first
  std::uint32_t here, behind;  ///< folded words from this lane's first place on
};

/// One warp: what all suspects of the line make of `best`, which is each lane's own. They are
/// shared out, an entry a lane at a time: one place with many would keep all others waiting.
__device__ inline std::uint32_t strongest_suspect(const LiteralIndex& index,
                                                  const LiteralEntry* entries, const Suspects& own,
                                                  std::uint32_t anchor_mask, const StagedText& text,
                                                  const Payload& payload, const Line& line,
                                                  std::uint32_t best) {
  const std::uint32_t count = own.count[0] + own.count[1] + own.count[2] + own.count[3];
  if (__any_sync(kWholeWarp, count != 0) == 0) return best;
  std::uint32_t total = 0;
  const std::uint32_t begin = sum_before(count, total);
  for (std::uint32_t base = 0; base < total; base += 32) {
    const std::uint32_t number = base + threadIdx.x % 32;
    const auto owner = static_cast<int>(lane_of(begin, number));
    std::uint32_t rest = number - __shfl_sync(kWholeWarp, begin, owner);
    std::uint32_t place = 4, entry = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t first = __shfl_sync(kWholeWarp, own.first[i], owner);
      const std::uint32_t there = __shfl_sync(kWholeWarp, own.count[i], owner);
      if (place != 4) continue;
      if (rest < there) {
        place = i;
        entry = first + rest;
      } else {
        rest -= there;
      }
    }
    const std::uint32_t here = __shfl_sync(kWholeWarp, line.here, owner);
    const std::uint32_t behind = __shfl_sync(kWholeWarp, line.behind, owner);
    if (number >= total) continue;
    const std::uint32_t anchor = __funnelshift_r(here, behind, place * 8) & anchor_mask;
    const std::uint32_t at = line.start + static_cast<std::uint32_t>(owner) * 4 + place;
    best = stronger_of(index, entries[entry], anchor, text, payload, at, best);
  }
  return best;
}

/// One warp: the line of kLineBytes that starts at `start` of a payload.
__device__ inline void search_line(const LiteralIndex& index, Scratch& scratch,
                                   const std::uint8_t* stage, std::uint32_t packet,
                                   std::uint32_t start) {
  const Payload& payload = scratch.payload[packet];
  const StagedText text{reinterpret_cast<const std::uint32_t*>(stage)};
  const std::uint32_t at = start + threadIdx.x % 32 * 4;
  Line line{start, 0, 0};
  if (at < payload.end) {
    line.here = fold_case(text.words[at / 4]);
    line.behind = fold_case(text.words[at / 4 + 1]);
  }
  Suspects anchored{}, short_ones{};
#pragma unroll
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t place = at + i;
    if (place < payload.begin || place >= payload.end) continue;
    const std::uint32_t window = __funnelshift_r(line.here, line.behind, i * 8);
    if (filter_has(scratch.filter, window) && payload.end - place >= kAnchorBytes) {
      suspect(index.buckets, anchor_hash(window, index.counts.bucket_bits), i, anchored);
    }
    if (index.counts.short_entries != 0) suspect(index.pairs, window & kPairMask, i, short_ones);
  }
  const std::uint32_t known =
      cuda::atomic_ref<std::uint32_t, cuda::thread_scope_block>(scratch.best[packet])
          .load(cuda::memory_order_relaxed);
  std::uint32_t best =
      strongest_suspect(index, index.entries, anchored, ~0u, text, payload, line, known);
  if (index.counts.short_entries != 0) {
    best = strongest_suspect(index, index.short_entries, short_ones, kPairMask, text, payload, line,
                             best);
  }
  if (best < known) atomicMin(&scratch.best[packet], best);
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
    bool hidden = false;
    scratch.payload[own] = find_payload(packets, own, hidden);
    scratch.best[own] = hidden ? kMatchHidden - 1 : table.index.counts.rules;
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
  const std::uint32_t drop_rules = table.index.counts.drop_rules;
  return word == kMatchHidden ? drop_rules != 0 : word != 0 && word <= drop_rules;
}

}  // namespace millrace::match
