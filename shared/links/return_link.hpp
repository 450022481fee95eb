// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shared/actor/context.hpp"
#include "shared/actor/wake.hpp"

/// egress_ingress, hub_ingress, standby_ingress: slots and buffers on their way back. Two rings for
/// each of the three returners; elements: Descriptor (slot) and buffer number. Depth: all slots and
/// all buffers of the stream, so a push cannot fail (CHECKed). After the push they belong to the
/// ring, then to the ingress.

namespace millrace {

/// The side of one returner, for all streams.
class ReturnLinks {
 public:
  ReturnLinks(const ActorContext& context, Returner from)
      : context_(context), wakes_(*context.plan) {
    for (std::uint32_t stream = 0; stream < context.segment.layout().stream_count; ++stream) {
      rings_.push_back(
          {context.segment.slot_return(stream, from), context.segment.buffer_return(stream, from)});
    }
  }

  /// Gives a batch's buffers and its slot back to its ingress. The slot is ours, in state freeing;
  /// its packets are accounted for. `buffers`: those still marked with the slot.
  void give_back(std::uint32_t slot, std::span<const std::uint32_t> buffers) noexcept {
    const std::uint32_t stream = context_.segment.slot(slot).stream;
    MILLRACE_CHECK(stream < rings_.size());
    if (!buffers.empty()) MILLRACE_CHECK(rings_[stream].buffers.push(buffers));
    hook(HookPoint::kFreeSlot);
    context_.set_state(slot, SlotKind::kFree, 0);
    give_back_empty(slot);
  }
  /// Gives back buffers that a transmit queue kept, each to the ingress that it belongs to. Until
  /// they are in its link their marks say where they are found.
  void give_back_buffers(std::span<const std::uint32_t> buffers) noexcept {
    while (!buffers.empty()) {
      if (is_side_buffer(*context_.plan, buffers[0])) {
        give_back_to_pool(buffers[0]);
        buffers = buffers.subspan(1);
        continue;
      }
      const std::uint32_t stream = stream_of(buffers[0]);
      const PlanStream& home = context_.plan->streams[stream];
      std::size_t count = 1;
      while (count < buffers.size() && buffers[count] - home.buffer_first < home.buffer_count) {
        ++count;
      }
      hook(HookPoint::kReclaim);
      MILLRACE_CHECK(rings_[stream].buffers.push(buffers.first(count)));
      wakes_.add(home.ingress);
      buffers = buffers.subspan(count);
    }
  }
  /// Gives back a slot that is free already.
  void give_back_empty(std::uint32_t slot) noexcept {
    const SlotHeader& header = context_.segment.slot(slot);
    MILLRACE_CHECK(header.stream < rings_.size());
    const std::uint64_t word =
        Descriptor{static_cast<std::uint16_t>(slot), 0, header.generation}.word();
    MILLRACE_CHECK(rings_[header.stream].slots.push({&word, 1}));
    wakes_.add(context_.plan->streams[header.stream].ingress);
  }
  /// Wakes those that got something since the last call: once a round, at its start.
  void wake_consumers() noexcept { wakes_.send(context_); }

 private:
  /// Of an egress's own pool, which looks for such when it is empty (SidePool).
  void give_back_to_pool(std::uint32_t buffer) const noexcept {
    const Plan& plan = *context_.plan;
    const std::uint32_t number = (buffer - plan.side_first) / plan.side_count;
    for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
      if (plan.actors[actor].kind != ActorKind::kEgress || plan.actors[actor].index != number)
        continue;
      context_.segment.mark(buffer) = Mark{MarkKind::kHand, actor}.word();
    }
  }
  std::uint32_t stream_of(std::uint32_t buffer) const noexcept {
    const auto& streams = context_.plan->streams;
    std::uint32_t stream = 0;
    while (buffer - streams[stream].buffer_first >= streams[stream].buffer_count) {
      MILLRACE_CHECK(++stream < streams.size());
    }
    return stream;
  }

  struct Rings {
    SpscRing<std::uint64_t> slots;
    SpscRing<std::uint32_t> buffers;
  };
  ActorContext context_;
  Wakes wakes_;
  std::vector<Rings> rings_;  ///< by stream
};

}  // namespace millrace
