// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/recovery/rescue.hpp"

#include "shared/links/ledger.hpp"
#include "shared/links/sealed.hpp"
#include "shared/recovery/census.hpp"
#include "shared/recovery/lane_state.hpp"
#include "shared/recovery/laws.hpp"

namespace millrace {

void SlotRescue::reset_links(std::uint32_t actor) {
  for (std::uint32_t i = 0; i < context_.plan->links.size(); ++i) {
    const PlanLink& link = context_.plan->links[i];
    if (link.producer == actor || link.consumer == actor) context_.segment.link(i).reset();
  }
}

std::uint32_t SlotRescue::rescue_slots_of(std::uint32_t actor, bool died_by_itself) {
  // Rings first, then owner words and marks: a slot that leaves a ring meanwhile has its new owner
  // already.
  const Flags in_ring = slots_in_rings(context_);
  const Flags returned_buffers = buffers_in_rings(context_);
  std::uint32_t rescued = 0;
  for (std::uint32_t slot = 0; slot < context_.segment.slot_count(); ++slot) {
    const SlotHeader& header = context_.segment.slot(slot);
    const Owner owner = Owner::from_word(header.owner.load(std::memory_order_acquire));
    const Owner holder = owner_of_holder(header.gpu_holder.load(std::memory_order_acquire));
    const bool claimed = holder.incarnation != 0 && holder.actor == actor;
    if (in_ring[slot] || (owner.actor != actor && !claimed)) continue;
    const SlotState state = checked_state(context_, header);
    const bool ingress = context_.plan->actors[actor].kind == ActorKind::kIngress;
    if (state.kind == SlotKind::kFree) {
      // An ingress finds its free slots itself. The hub's idle stand-ins have no generation.
      if (ingress || header.generation == 0 || slot >= context_.plan->slot_count) continue;
    }
    if (state.kind == SlotKind::kFilling) {
      discard_open(slot, returned_buffers);
      continue;
    }
    if (!take_over(slot, actor)) continue;
    rescue_slot(slot, {actor, died_by_itself}, returned_buffers);
    ++rescued;
  }
  context_.entry(actor).in_function.store(0, std::memory_order_relaxed);
  return rescued;
}

void SlotRescue::tell_sealed(std::uint32_t ingress) {
  for (std::uint32_t stream = 0; stream < context_.plan->streams.size(); ++stream) {
    const PlanStream& plan = context_.plan->streams[stream];
    if (plan.ingress != ingress) continue;
    const std::vector<SealedLane> sealed = find_sealed(context_, stream);
    for (const std::uint32_t lane : lanes_of(*context_.plan, plan)) {
      IngressLane& told = context_.status.ingress_lane(stream, lane);
      told.received.store(sealed[lane].received, std::memory_order_relaxed);
      told.sealed_sequence.store(sealed[lane].sequence, std::memory_order_relaxed);
    }
  }
}

bool SlotRescue::take_over(std::uint32_t slot, std::uint32_t dead_actor) {
  SlotHeader& header = context_.segment.slot(slot);
  std::uint64_t holder = header.gpu_holder.load(std::memory_order_acquire);
  if (holder == 0) {
    // Looked at while it was with a GPU, and accepted since: the owner word was written before.
    const Owner owner = Owner::from_word(header.owner.load(std::memory_order_acquire));
    if (owner.actor != dead_actor) return false;
  } else if (owner_of_holder(holder).actor != dead_actor) {
    // With a GPU: the acceptor of its completion may be quicker, and then it owns it. A claim of
    // it that is not through yet is left alone: should it die, the claim is found as its.
    if (!is_gpu_holder(context_, holder)) return false;
    if (!header.gpu_holder.compare_exchange_strong(holder,
                                                   holder_word(context_.me, header.generation)))
      return false;
  }
  header.owner.store(context_.me.word(), std::memory_order_release);
  header.gpu_holder.store(0, std::memory_order_release);
  return true;
}

void SlotRescue::show_lost(std::uint32_t slot, Dead dead) const {
  if (!look_at_lost_) return;
  const std::uint32_t word = context_.entry(dead.actor).in_function.load(std::memory_order_relaxed);
  const bool known = word != 0 && word <= kFunctionPlaceMax;
  const Batch batch = context_.segment.batch(slot);
  // The worker died while it wrote these columns: they may hold anything.
  for (std::uint32_t i = 0; i < batch.count; ++i) {
    const bool inside = batch.buffer[i] < context_.segment.buffer_count() &&
                        std::uint32_t{batch.offset[i]} + batch.length[i] <= batch.buffers.stride;
    if (!inside) return;
  }
  look_at_lost_({dead.actor, known ? word - 1 : kNoFunction, dead.by_itself, batch});
}

void SlotRescue::rescue_slot(std::uint32_t slot, Dead dead, const Flags& returned_buffers) {
  SlotHeader& header = context_.segment.slot(slot);
  StatusHeader& totals = context_.status.header();
  const SlotState state = checked_state(context_, header);
  if (state.kind != SlotKind::kFree) checked_batch(context_, slot);
  switch (rule_of(state.kind).rescue) {
    case Rescue::kGiveBack:
      returns_.give_back_empty(slot);
      break;
    case Rescue::kDiscard:
      break;  // never taken over: rescue_slots_of() deals with it
    case Rescue::kHandOn:
      totals.batches_handed_on.fetch_add(1, std::memory_order_relaxed);
      outbox_.send(slot, state.stage);
      break;
    case Rescue::kLose:
      totals.batches_worker_lost.fetch_add(1, std::memory_order_relaxed);
      show_lost(slot, dead);
      lose(slot, state.stage);
      break;
    case Rescue::kAccountAndFree:
      account_lost(slot);
      [[fallthrough]];
    case Rescue::kFreeRest:
      free_rest(slot, returned_buffers);
      break;
  }
}

void SlotRescue::discard_open(std::uint32_t slot, const Flags& returned_buffers) {
  SlotHeader& header = context_.segment.slot(slot);
  // The stream by position, not by header: an open header may be half written.
  MILLRACE_CHECK(slot < context_.plan->slot_count);
  for (const PlanStream& stream : context_.plan->streams) {
    if (slot < stream.slot_first || slot >= stream.slot_first + stream.slot_count) continue;
    for (std::uint32_t i = 0; i < stream.buffer_count; ++i) {
      const std::uint32_t buffer = stream.buffer_first + i;
      std::uint32_t& mark = context_.segment.mark(buffer);
      if (mark == Mark{MarkKind::kSlot, slot}.word() && !returned_buffers[buffer]) {
        mark = Mark{MarkKind::kHand, stream.ingress}.word();
      }
    }
  }
  header.sequence = 0;  // a number stamped but not sealed was never used
  context_.set_state(slot, SlotKind::kFree, 0);
}

void SlotRescue::lose(std::uint32_t slot, std::uint8_t stage) {
  const Batch batch = context_.segment.batch(slot);
  // It is not known which packets of the batch the dead egress has touched; so none of them is
  // sent, and none of its side records is executed.
  for (std::uint32_t i = 0; i < batch.count; ++i) {
    if (!batch.is_dropped(i)) batch.drop(i, Reason::kWorkerLost);
  }
  batch.header->side_count = batch.header->side_bytes = 0;
  undo_lane_state(context_, *batch.header, stage);
  const std::uint8_t next = first_that_must_see(*context_.plan, context_.plan->stages[stage].next);
  context_.set_state(slot, SlotKind::kHeld, next);
  outbox_.send(slot, next);
}

void SlotRescue::account_lost(std::uint32_t slot) {
  const Batch batch = context_.segment.batch(slot);
  LaneLedger& ledger = context_.status.ledger(batch.header->stream, batch.header->lane);
  const LaneRecord now = read_record(ledger);
  // One batch of a lane at a time is sent: it is the next one, or its end is published already.
  MILLRACE_CHECK(batch.header->sequence - now.released_sequence <= 1);
  if (now.released_sequence < batch.header->sequence) {
    LaneRecord& record = begin_record(ledger, *batch.header);
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      const auto lost = static_cast<std::uint8_t>(Reason::kEgressLost);
      count_end(record, record.dropped, batch.is_dropped(i) ? batch.reason[i] : lost);
    }
    publish(ledger);
  } else {  // amid publish(), perhaps
    ledger.released.store(now.released_sequence, std::memory_order_release);
  }
  context_.set_state(slot, SlotKind::kFreeing, 0);
}

void SlotRescue::free_rest(std::uint32_t slot, const Flags& returned_buffers) {
  const Batch batch = context_.segment.batch(slot);
  if (is_stand_in(*batch.header)) {
    context_.set_state(slot, SlotKind::kFree, 0);
    return;
  }
  std::vector<std::uint32_t> rest;
  for (const std::uint32_t buffer : batch.buffer) {
    // A column that a worker has overwritten says nothing; the buffer's mark stays.
    if (buffer >= returned_buffers.size()) continue;
    const bool still_ours = context_.segment.mark(buffer) == Mark{MarkKind::kSlot, slot}.word();
    if (still_ours && !returned_buffers[buffer]) rest.push_back(buffer);
  }
  returns_.give_back(slot, rest);
}

std::uint32_t SlotRescue::redo_gpu_slots(std::uint32_t actor) {
  std::uint32_t redone = 0;
  for (std::uint32_t slot = 0; slot < context_.segment.slot_count(); ++slot) {
    const Owner holder =
        owner_of_holder(context_.segment.slot(slot).gpu_holder.load(std::memory_order_acquire));
    if (holder.incarnation == 0 || holder.actor != actor) continue;
    // Acceptors have acknowledged: no other claims it. The claim is ours, so that it is found if
    // we die.
    if (!take_over(slot, kActorCountMax)) continue;
    const SlotState state = checked_state(context_, checked_batch(context_, slot));
    MILLRACE_CHECK(state.kind == SlotKind::kHeld);  // its results have met no CPU yet
    outbox_.send(slot, state.stage);
    ++redone;
  }
  context_.status.header().batches_redone.fetch_add(redone, std::memory_order_relaxed);
  return redone;
}

void SlotRescue::take_back_for_the_dead(std::uint32_t actor) {
  if (context_.plan->actors[actor].kind != ActorKind::kClassifier) return;
  for (std::uint32_t i = 0; i < context_.plan->links.size(); ++i) {
    const PlanLink& link = context_.plan->links[i];
    if (link.consumer != actor) continue;
    // A living producer has emptied it. A dead producer cannot, and may stay dead.
    if (context_.plan->actors[link.producer].kind == ActorKind::kGpu) continue;
    std::uint64_t word = 0;
    const auto stamp = [&](std::uint64_t taken) {
      context_.segment.slot(checked_descriptor(context_, taken).slot)
          .owner.store(context_.me.word(), std::memory_order_release);
    };
    while (context_.segment.link(i).take({&word, 1}, stamp) == 1) {
      const Descriptor descriptor = Descriptor::from_word(word);
      outbox_.send(descriptor.slot, descriptor.stage);
    }
  }
}

}  // namespace millrace
