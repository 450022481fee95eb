// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "shared/actor/context.hpp"

/// Where slots and buffers are, as shared memory says. Nothing here writes, and nothing stands
/// still meanwhile: a slot that has left a ring since it was read has its new owner word already.

namespace millrace {

/// Flags by number of the slot or buffer.
using Flags = std::vector<bool>;

/// Slots in a link that owns them, or on their way back to an ingress.
Flags slots_in_rings(const ActorContext& context);
/// Slots in the links between `actor` and GPU workers (`with_gpus`), or all others.
Flags slots_in_links_of(const ActorContext& context, std::uint32_t actor, bool with_gpus);
/// Buffers on their way back to a pool.
Flags buffers_in_rings(const ActorContext& context);

/// True when a GPU worker holds the slot (SlotHeader::gpu_holder).
bool is_gpu_holder(const ActorContext& context, std::uint64_t holder);
/// True when the batch has its number and its packets, and has not ended.
bool is_sealed(const SlotHeader& header);

/// Packet census for the audit, exact when quiet: slots that are not free, buffers that are in no
/// pool.
struct Census {
  std::uint32_t slots = 0, slots_free = 0;
  std::uint32_t buffers = 0, buffers_free = 0;
  std::uint64_t in_slots = 0;      ///< packets in sealed batches
  std::uint32_t buffers_held = 0;  ///< in receive and transmit queues
};
Census census_of(const ActorContext& context);

}  // namespace millrace
