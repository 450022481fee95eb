// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/recovery/census.hpp"

#include "shared/recovery/laws.hpp"

namespace millrace {

bool is_sealed(const SlotHeader& header) {
  const SlotState state = SlotState::from_word(header.state.load(std::memory_order_acquire));
  return state.kind == SlotKind::kHeld || state.kind == SlotKind::kWorked;
}

bool is_gpu_holder(const ActorContext& context, std::uint64_t holder) {
  const std::uint32_t actor = owner_of_holder(holder).actor;
  return actor < context.plan->actors.size() && context.plan->actors[actor].kind == ActorKind::kGpu;
}

namespace {

/// A batch in a link, as the link describes it.
struct Announced {
  std::uint32_t slot;
  bool is_of_batch;  ///< the slot has the generation that the link says
  Owner holder;      ///< a GPU worker, or none
};

template <typename See>
void each_in_link(const ActorContext& context, std::uint32_t link, See see) {
  std::vector<std::uint64_t> words;
  context.segment.link(link).snapshot(words);
  for (const std::uint64_t word : words) {
    const Descriptor descriptor = Descriptor::from_word(word);
    if (descriptor.slot >= context.segment.slot_count()) continue;
    const SlotHeader& header = context.segment.slot(descriptor.slot);
    see(Announced{.slot = descriptor.slot,
                  .is_of_batch = (header.generation & kGenerationMask) == descriptor.generation,
                  .holder = owner_of_holder(header.gpu_holder.load(std::memory_order_acquire))});
  }
}

/// Marks the slots that are on their way back to an ingress.
void mark_returned(const ActorContext& context, Flags& found) {
  std::vector<std::uint64_t> words;
  for (std::uint32_t s = 0; s < context.plan->streams.size(); ++s) {
    for (std::uint32_t r = 0; r < kReturnerCount; ++r) {
      context.segment.slot_return(s, static_cast<Returner>(r)).snapshot(words);
    }
  }
  for (const std::uint64_t word : words) {
    const std::uint32_t slot = Descriptor::from_word(word).slot;
    MILLRACE_CHECK(slot < found.size());
    found[slot] = true;
  }
}

}  // namespace

Flags slots_in_rings(const ActorContext& context) {
  const Plan& plan = *context.plan;
  Flags found(context.segment.slot_count(), false);
  for (std::uint32_t i = 0; i < plan.links.size(); ++i) {
    // A GPU's announcement owns nothing: the slot's holder word decides.
    if (plan.actors[plan.links[i].producer].kind == ActorKind::kGpu) continue;
    const std::uint32_t consumer = plan.links[i].consumer;
    const bool to_gpu = plan.actors[consumer].kind == ActorKind::kGpu;
    each_in_link(context, i, [&](const Announced& one) {
      if (one.is_of_batch && (!to_gpu || one.holder.actor == consumer)) found[one.slot] = true;
    });
  }
  mark_returned(context, found);
  return found;
}

Flags slots_in_links_of(const ActorContext& context, std::uint32_t actor, bool with_gpus) {
  const Plan& plan = *context.plan;
  Flags found(context.segment.slot_count(), false);
  for (std::uint32_t i = 0; i < plan.links.size(); ++i) {
    const PlanLink& link = plan.links[i];
    if (link.producer != actor && link.consumer != actor) continue;
    const std::uint32_t other = link.producer == actor ? link.consumer : link.producer;
    if ((plan.actors[other].kind == ActorKind::kGpu) != with_gpus) continue;
    each_in_link(context, i, [&](const Announced& one) {
      // A GPU may announce late and twice: a batch is in the link only if the GPU still holds it.
      const bool is_held =
          one.is_of_batch && one.holder.incarnation != 0 && one.holder.actor == other;
      if (!with_gpus || is_held) found[one.slot] = true;
    });
  }
  return found;
}

Flags buffers_in_rings(const ActorContext& context) {
  Flags found(context.segment.buffer_count(), false);
  std::vector<std::uint32_t> buffers;
  for (std::uint32_t s = 0; s < context.plan->streams.size(); ++s) {
    for (std::uint32_t r = 0; r < kReturnerCount; ++r) {
      context.segment.buffer_return(s, static_cast<Returner>(r)).snapshot(buffers);
    }
  }
  for (const std::uint32_t buffer : buffers) {
    MILLRACE_CHECK(buffer < found.size());
    found[buffer] = true;
  }
  return found;
}

Census census_of(const ActorContext& context) {
  const Plan& plan = *context.plan;
  Census census{plan.slot_count, 0, plan.buffer_count, 0, 0, 0};
  Flags free_slot(plan.slot_count, false);
  mark_returned(context, free_slot);  // no stand-in: that is the leader's, and returns to none
  for (const PlanStream& stream : plan.streams) {
    for (std::uint32_t i = 0; i < stream.slot_count; ++i) {
      const SlotHeader& header = context.segment.slot(stream.slot_first + i);
      const bool with_ingress = Owner::from_word(header.owner).actor == stream.ingress &&
                                header.state.load(std::memory_order_acquire) == 0;
      if (with_ingress || free_slot[stream.slot_first + i]) ++census.slots_free;
      if (is_sealed(header)) census.in_slots += header.count;
    }
  }
  const Flags returned = buffers_in_rings(context);
  for (std::uint32_t buffer = 0; buffer < plan.buffer_count; ++buffer) {
    const Mark mark = Mark::from_word(context.segment.mark(buffer));
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
