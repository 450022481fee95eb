// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/recovery/quarantine.hpp"

#include "shared/recovery/census.hpp"
#include "shared/recovery/lane_state.hpp"
#include "shared/recovery/laws.hpp"

namespace millrace {
std::uint32_t StandIns::fill_holes_of(std::uint32_t actor) {
  const Flags in_ring = slots_in_rings(context_);
  const Flags in_own_links = slots_in_links_of(context_, actor, false);
  const Flags at_gpu = slots_in_links_of(context_, actor, true);
  std::uint32_t filled = 0;
  for (std::uint32_t slot = 0; slot < in_ring.size(); ++slot) {
    SlotHeader& header = context_.segment.slot(slot);
    const auto is_owner = [&] {
      return Owner::from_word(header.owner.load(std::memory_order_acquire)).actor == actor;
    };
    std::uint64_t holder = header.gpu_holder.load(std::memory_order_acquire);
    const bool accepting = holder != 0 && owner_of_holder(holder).actor == actor;
    const bool in_hand = !in_ring[slot] && (accepting || is_owner());
    if (!in_hand && !in_own_links[slot] && !at_gpu[slot]) continue;
    if (!is_sealed(header) || replaced(slot)) continue;
    if (holder == 0) {
      // Accepted after the links were read: the owner word was written before.
      if (!in_own_links[slot] && !is_owner()) continue;
    } else if (!accepting && (!is_gpu_holder(context_, holder) ||
                              !header.gpu_holder.compare_exchange_strong(holder, 0))) {
      continue;  // the acceptor of its completion is quicker
    }
    stand_in_for(slot);
    ++filled;
  }
  return filled;
}

bool StandIns::replaced(std::uint32_t slot) const {
  const SlotHeader& gone = checked_batch(context_, slot);
  const LaneLedger& ledger = context_.status.ledger(gone.stream, gone.lane);
  if (ledger.released.load(std::memory_order_acquire) >= gone.sequence) return true;
  // Stand-ins that an earlier leader made before it died.
  for (std::uint32_t other = context_.plan->slot_count; other < context_.segment.slot_count();
       ++other) {
    const SlotHeader& header = context_.segment.slot(other);
    const auto state = SlotState::from_word(header.state.load(std::memory_order_acquire));
    if (state.kind != SlotKind::kFree && header.stream == gone.stream && header.lane == gone.lane &&
        header.sequence == gone.sequence) {
      return true;
    }
  }
  return false;
}

void StandIns::stand_in_for(std::uint32_t slot) {
  const SlotHeader& gone = checked_batch(context_, slot);
  std::uint32_t place = context_.plan->slot_count;
  const auto is_free = [&](std::uint32_t number) {
    return context_.segment.slot(number).state.load(std::memory_order_acquire) == 0;
  };
  while (place < context_.segment.slot_count() && !is_free(place)) ++place;
  if (place == context_.segment.slot_count()) {
    tell_({Owner::from_word(gone.owner).actor, "no stand-in slot left: its stream stops", slot});
    return;
  }
  SlotHeader& header = context_.segment.slot(place);
  header.owner.store(context_.me.word(), std::memory_order_release);
  header.gpu_holder.store(0, std::memory_order_relaxed);
  ++header.generation;
  header.sequence = gone.sequence;
  header.received_total = gone.received_total;
  header.received_bytes_total = gone.received_bytes_total;
  header.position = gone.position;
  header.stream = gone.stream;
  header.lane = gone.lane;
  header.count = gone.count;
  header.flags = kSlotStandIn;
  header.time_first_tsc = gone.time_first_tsc;
  header.time_sealed_tsc = gone.time_sealed_tsc;
  const Batch batch = context_.segment.batch(place);
  for (std::uint32_t i = 0; i < batch.count; ++i) {
    batch.length[i] = 0;
    batch.drop(i, Reason::kQuarantined);
  }
  const SlotState state = checked_state(context_, gone);
  const bool worked = state.kind == SlotKind::kWorked;
  // A process with a pending SIGKILL never again runs code of its own.
  if (worked) undo_lane_state(context_, gone, state.stage);
  const std::uint8_t done = worked ? context_.plan->stages[state.stage].next : state.stage;
  const std::uint8_t stage = first_that_must_see(*context_.plan, done);
  context_.set_state(place, SlotKind::kHeld, stage);
  context_.status.header().quarantined_slots.fetch_add(1, std::memory_order_relaxed);
  outbox_.send(place, stage);
}

}  // namespace millrace
