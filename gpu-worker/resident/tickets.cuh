// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu-worker/resident/arguments.hpp"
#include "gpu-worker/resident/memory_order.cuh"

namespace millrace::resident {

inline constexpr std::uint32_t kPollsPerStopCheck = 16;
inline constexpr unsigned kPollNs = 20;

/// One thread of a block: waits for the ticket that is this block's next; false: stop.
__device__ inline bool wait_for_ticket(const Arguments& arguments, std::uint64_t& word) {
  const std::uint32_t number = add_device(&arguments.state->claimed.value, 1);
  const std::uint64_t* at = arguments.tickets + arguments.ticket_ring.place(number);
  const std::uint32_t lap = arguments.ticket_ring.lap(number);
  for (std::uint32_t poll = 1;; ++poll) {
    word = acquire_device(at);  // the dispatcher has seen what the CPU wrote; with it, so do we
    if (Ticket::has_lap(word, lap)) break;
    if (poll % kPollsPerStopCheck == 0 && load_device(&arguments.state->stop.value) != 0) {
      return false;
    }
    __nanosleep(kPollNs);
  }
  return true;
}

}  // namespace millrace::resident
