// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "shared/recovery/laws.hpp"
#include "shared/recovery/recovery.hpp"

/// A process that cannot be killed keeps what it has for good: its slots, and its rings with all
/// that is in them. For each sequence number that would be missing at the egress a stand-in slot
/// goes on in its place.

namespace millrace {
namespace {

bool sealed(const SlotHeader& header) {
  const SlotState state = SlotState::from_word(header.state.load(std::memory_order_acquire));
  return state.kind == SlotKind::kHeld || state.kind == SlotKind::kWorked;
}

}  // namespace

Recovery::Flags Recovery::slots_in_links_of(std::uint32_t actor, bool with_gpus) const {
  const Plan& plan = *context_.plan;
  Flags found(context_.segment.slot_count(), false);
  std::vector<std::uint64_t> words;
  for (std::uint32_t i = 0; i < plan.links.size(); ++i) {
    const PlanLink& link = plan.links[i];
    if (link.producer != actor && link.consumer != actor) continue;
    const std::uint32_t other = link.producer == actor ? link.consumer : link.producer;
    if ((plan.actors[other].kind == ActorKind::kGpu) != with_gpus) continue;
    words.clear();
    context_.segment.link(i).snapshot(words);
    for (const std::uint64_t word : words) {
      const Descriptor descriptor = Descriptor::from_word(word);
      if (descriptor.slot >= found.size()) continue;
      const SlotHeader& header = context_.segment.slot(descriptor.slot);
      // A GPU announces late and twice: only what it still holds is in the link.
      const Owner holder = owner_of_holder(header.gpu_holder.load(std::memory_order_acquire));
      const bool fits = (header.generation & kGenerationMask) == descriptor.generation;
      if (with_gpus && (!fits || holder.incarnation == 0 || holder.actor != other)) continue;
      found[descriptor.slot] = true;
    }
  }
  return found;
}

std::uint32_t Recovery::fill_holes(std::uint32_t actor) {
  const Flags in_ring = slots_in_rings();
  const Flags in_own_links = slots_in_links_of(actor, false);
  const Flags at_gpu = slots_in_links_of(actor, true);
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
    if (!sealed(header) || replaced(slot)) continue;
    if (holder == 0) {
      // Accepted since we looked into the links: the owner word was written before.
      if (!in_own_links[slot] && !is_owner()) continue;
    } else if (!accepting &&
               (!is_gpu(holder) || !header.gpu_holder.compare_exchange_strong(holder, 0))) {
      continue;  // the acceptor of its completion is quicker
    }
    stand_in_for(slot);
    ++filled;
  }
  return filled;
}

bool Recovery::replaced(std::uint32_t slot) const {
  const SlotHeader& gone = checked_batch(context_, slot);
  const LaneLedger& ledger = context_.status.ledger(gone.stream, gone.lane);
  if (ledger.released.load(std::memory_order_acquire) >= gone.sequence) return true;
  // By an earlier leader that died in between.
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

void Recovery::stand_in_for(std::uint32_t slot) {
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
  // A process that a SIGKILL waits for never again runs code of its own.
  if (worked) undo_lane_state(gone, state.stage);
  const std::uint8_t done = worked ? context_.plan->stages[state.stage].next : state.stage;
  const std::uint8_t stage = first_that_must_see(done);
  context_.set_state(place, SlotKind::kHeld, stage);
  context_.status.header().quarantined_slots.fetch_add(1, std::memory_order_relaxed);
  outbox_.send(place, stage);
}

Recovery::Census Recovery::census() const {
  const Plan& plan = *context_.plan;
  Census census{plan.slot_count, 0, plan.buffer_count, 0, 0, 0};
  Flags free_slot(plan.slot_count, false);
  std::vector<std::uint64_t> words;
  for (std::uint32_t s = 0; s < plan.streams.size(); ++s) {
    words.clear();
    for (std::uint32_t r = 0; r < kReturnerCount; ++r) {
      context_.segment.slot_return(s, static_cast<Returner>(r)).snapshot(words);
    }
    for (const std::uint64_t word : words) {
      const std::uint32_t slot = Descriptor::from_word(word).slot;
      MILLRACE_CHECK(slot < free_slot.size());  // a stand-in is the leader's, and returns to none
      free_slot[slot] = true;
    }
    const PlanStream& stream = plan.streams[s];
    for (std::uint32_t i = 0; i < stream.slot_count; ++i) {
      const SlotHeader& header = context_.segment.slot(stream.slot_first + i);
      const bool with_ingress = Owner::from_word(header.owner).actor == stream.ingress &&
                                header.state.load(std::memory_order_acquire) == 0;
      if (with_ingress || free_slot[stream.slot_first + i]) ++census.slots_free;
      if (sealed(header)) census.in_slots += header.count;
    }
  }
  const Flags returned = buffers_in_rings();
  for (std::uint32_t buffer = 0; buffer < plan.buffer_count; ++buffer) {
    const Mark mark = Mark::from_word(context_.segment.mark(buffer));
    if (returned[buffer] || mark.kind == MarkKind::kHand) {
      ++census.buffers_free;
    } else if (mark.kind == MarkKind::kRx || mark.kind == MarkKind::kTx) {
      ++census.buffers_held;
    }
  }
  MILLRACE_CHECK(census.slots_free <= census.slots);
  MILLRACE_CHECK(census.buffers_free + census.buffers_held <= census.buffers);
  return census;
}

}  // namespace millrace
