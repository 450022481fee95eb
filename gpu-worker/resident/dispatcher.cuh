// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu-worker/resident/arguments.hpp"
#include "gpu-worker/resident/memory_order.cuh"
#include "services/functions/warp.cuh"

namespace millrace::resident {

inline constexpr std::uint32_t kRoundsPerHeartbeat = 64;
inline constexpr std::uint32_t kRoundsBeforeRest = 100'000;  ///< without a batch: about 0.1 s
inline constexpr unsigned kRestNs = 500;

/// Tickets of the batches that stand in front of the ring, from ticket number `next_ticket` on; of
/// a lane each, or of one that all lanes share. Returns how many.
__device__ inline std::uint32_t hand_out(const Arguments& arguments, const Submission& batch,
                                         bool there, bool shared, std::uint32_t next_ticket) {
  const std::uint32_t parts = there ? parts_of(batch.count, batch.part_bits) : 0;
  const auto put = [&](std::uint32_t first, std::uint32_t part) {
    const std::uint32_t number = first + part;
    const Ticket ticket{batch.slot, batch.count, part, batch.part_bits, batch.chain, batch.keyed};
    store_device(arguments.tickets + arguments.ticket_ring.place(number),
                 ticket.word(arguments.ticket_ring.lap(number)));
  };
  if (shared) {
    static_assert(kPartsMax <= 32);
    if (threadIdx.x < parts) put(next_ticket, threadIdx.x);
    return parts;
  }
  std::uint32_t total = 0;
  const std::uint32_t first = next_ticket + sum_before(parts, total);
  for (std::uint32_t part = 0; part < parts; ++part) put(first, part);
  return total;
}

/// One warp, for as long as the kernel lives: takes batches from the CPU's ring, 32 at a time, and
/// hands them out in tickets. It alone polls the CPU's memory, 256 bytes a round: every block that
/// did so would slow all others.
__device__ inline void dispatch(const Arguments& arguments) {
  const std::uint32_t lane = threadIdx.x;
  std::uint32_t next = 0, next_ticket = 0, idle = 0;
  for (std::uint64_t round = 1;; ++round) {
    if (lane == 0 && round % kRoundsPerHeartbeat == 0) store_system(arguments.heartbeat, round);
    const RingSize ring = arguments.submission_ring;
    const std::uint64_t word = acquire_system(arguments.submissions + ring.place(next + lane));
    const bool new_here = Submission::has_lap(word, ring.lap(next + lane));
    const unsigned gaps = ~__ballot_sync(kWholeWarp, new_here);
    const std::uint32_t count = gaps == 0 ? 32 : static_cast<std::uint32_t>(__ffs(gaps)) - 1;
    if (count == 0) {
      if (++idle > kRoundsBeforeRest) __nanosleep(kRestNs);
      continue;
    }
    idle = 0;
    // What the CPU wrote before the batches is seen by the block that gets a ticket: a lane has
    // acquired the word, another one may hand out its tickets.
    __syncwarp();
    fence_device();
    const bool shared = count == 1;
    Submission batch = Submission::from_word(shared ? __shfl_sync(kWholeWarp, word, 0) : word);
    const bool there = shared || lane < count;
    if (__any_sync(kWholeWarp, there && batch.count == 0)) {
      if (lane == 0) store_device(&arguments.state->stop.value, 1u);
      return;
    }
    batch.slot = min(batch.slot, arguments.slot_count - 1);
    batch.count = min(batch.count, arguments.capacity);
    next_ticket += hand_out(arguments, batch, there, shared, next_ticket);
    next += count;
  }
}

}  // namespace millrace::resident
