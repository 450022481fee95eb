// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "shared/actor/context.hpp"
#include "shared/actor/wake.hpp"

/// egress_ingress, hub_ingress, standby_ingress: slots and buffers on their way back. Two rings for
/// each of the three returners; elements: Descriptor (slot) and buffer number. Depth: all slots and
/// all buffers of the stream, so a push cannot fail (CHECKed). After the push they belong to the
/// ring, then to the ingress.

namespace millrace {

/// Gives a batch's buffers and its slot back to its ingress. The slot is ours, in state freeing;
/// its packets are accounted for. `buffers`: those still marked with the slot.
inline void give_back(const ActorContext& context, Returner from, std::uint32_t slot,
                      std::span<const std::uint32_t> buffers) noexcept {
  const SlotHeader& header = context.segment.slot(slot);
  const std::uint32_t stream = header.stream;
  if (!buffers.empty()) {
    MILLRACE_CHECK(context.segment.buffer_return(stream, from).push(buffers));
  }
  const std::uint64_t word =
      Descriptor{static_cast<std::uint16_t>(slot), 0, header.generation}.word();
  hook(HookPoint::kFreeSlot);
  context.set_state(slot, SlotKind::kFree, 0);
  MILLRACE_CHECK(context.segment.slot_return(stream, from).push({&word, 1}));
  wake(context.entry(context.plan->streams[stream].ingress));
}

}  // namespace millrace
