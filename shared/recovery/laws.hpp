// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/actor/context.hpp"
#include "shared/base/check.hpp"
#include "shared/layout/actor_states.hpp"

/// What recovery relies on when it reads shared memory. A process that is killed leaves each word
/// as one of its stores has written it, and never half of a word; so a word that no store of the
/// tree can write is a bug, and the leader ends before it acts on it. What a killed process may
/// leave (a column, a header of a slot that is being filled, a completion that is late) is none of
/// this: callers look at it and refuse it.

namespace millrace {

/// State of an actor's entry, CHECKed.
inline ActorState checked_state(const ActorContext& context, std::uint32_t actor) {
  MILLRACE_CHECK(actor < context.plan->actors.size());
  const ActorState state = context.state_of(actor);
  MILLRACE_CHECK(static_cast<std::size_t>(state) < kActorStateCount);
  return state;
}

/// True for what a batch can be meant for: a stage of the plan, or the egress.
inline bool is_stage(const Plan& plan, std::uint8_t stage) {
  return stage == kEgressStage || stage < plan.stages.size();
}

/// State of a slot, CHECKed: a kind of kSlotRules, and where it speaks of a stage, one of the plan.
inline SlotState checked_state(const ActorContext& context, const SlotHeader& header) {
  const std::uint32_t word = header.state.load(std::memory_order_acquire);
  MILLRACE_CHECK(is_slot_state(word));
  const SlotState state = SlotState::from_word(word);
  if (state.kind == SlotKind::kHeld) MILLRACE_CHECK(is_stage(*context.plan, state.stage));
  if (state.kind == SlotKind::kWorked) {
    MILLRACE_CHECK(state.stage != kEgressStage && is_stage(*context.plan, state.stage));
  }
  return state;
}

/// Header of a batch that was sealed, CHECKed. It stays as its ingress has written it until the
/// slot is free.
inline const SlotHeader& checked_batch(const ActorContext& context, std::uint32_t slot) {
  MILLRACE_CHECK(slot < context.segment.slot_count());
  const SlotHeader& header = context.segment.slot(slot);
  MILLRACE_CHECK(header.stream < context.plan->streams.size());
  MILLRACE_CHECK(header.lane < context.segment.layout().lane_count);
  MILLRACE_CHECK(header.count <= context.segment.capacity());
  MILLRACE_CHECK(header.sequence != 0);
  return header;
}

/// What a link of a CPU actor holds, CHECKed against the slot: a link is emptied before its slots
/// are used again.
inline Descriptor checked_descriptor(const ActorContext& context, std::uint64_t word) {
  const Descriptor descriptor = Descriptor::from_word(word);
  const SlotHeader& header = checked_batch(context, descriptor.slot);
  MILLRACE_CHECK((header.generation & kGenerationMask) == descriptor.generation);
  MILLRACE_CHECK(is_stage(*context.plan, descriptor.stage));
  return descriptor;
}

}  // namespace millrace
