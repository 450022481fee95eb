// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu-worker/resident/words.hpp"
#include "services/functions/device_function.hpp"
#include "shared/base/limits.hpp"
#include "shared/layout/slot.hpp"

/// The arguments of the resident kernel, and the memory that it shares with the CPU beside the
/// rings.

namespace millrace::resident {

/// One function of a stage. `when_class`: as in PlanFunction; 0 when an earlier function of the
/// stage may still set the class. `ends_packets`: 1 if a packet that it ends meets no later
/// function in any case: exactly the packets that it reads will meet its finish, and none skips it
/// while it is out of service.
struct ChainMember {
  DeviceTable table;
  std::uint32_t when_class = 0;
  std::uint32_t ends_packets = 0;
};

/// A stage with one version of its tables, in the memory of the GPU. Its place there is reused only
/// when no batch of it is in flight.
struct Chain {
  std::uint32_t member_count = 0;
  std::uint32_t frame_bytes = 0;  ///< the most that a member reads first
  ChainMember members[kStageFunctionCountMax];
};
inline constexpr std::uint32_t kChainCount = 64;

/// A counter in the memory of the GPU, zeroed at launch; each on a cache line of its own.
struct alignas(128) DeviceCounter {
  std::uint32_t value;
};
struct DeviceState {
  DeviceCounter claimed;  ///< tickets that a block waits for or has
  DeviceCounter stop;
};

/// Pointers into the segment are the same on CPU and GPU. Everything that is read through them is
/// bounded by the counts here.
struct Arguments {
  // The segment.
  const std::byte* slots;
  ColumnOffsets columns;
  std::uint32_t slot_count;
  std::uint32_t capacity;  ///< packets a slot
  const std::byte* buffers;
  std::uint32_t buffer_stride;
  std::uint32_t buffer_count;
  std::uint32_t* results;      ///< of this incarnation: its own area; kWordPending until written
  std::uint32_t result_words;  ///< of a slot there
  // In the CPU's memory, for this worker alone.
  const std::uint64_t* submissions;
  RingSize submission_ring;
  std::uint64_t* heartbeat;  ///< the dispatcher's rounds
  // In the GPU's memory.
  std::uint64_t* tickets;
  RingSize ticket_ring;
  const Chain* chains;  ///< kChainCount
  DeviceState* state;
};

/// Threads of each block. Two blocks fit on a multiprocessor: while one waits for the bus, the
/// other computes. (Four of 256 threads with half the packets each were no faster on an H200.)
inline constexpr std::uint32_t kBlockThreads = 512;
inline constexpr std::uint32_t kBlocksPerMultiprocessor = 2;

}  // namespace millrace::resident
