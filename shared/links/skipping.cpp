// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/links/skipping.hpp"

#include <algorithm>
#include <atomic>

#include "shared/layout/actor_states.hpp"
#include "shared/layout/descriptor.hpp"
#include "shared/layout/slot_state.hpp"

namespace millrace {
namespace {

/// Counts the packets that the function would have looked at, and drops them if it says so.
std::uint64_t skip_packets(const Batch& batch, std::uint32_t when_class, Fallback what,
                           Reason reason) noexcept {
  std::uint64_t count = 0;
  for (std::uint32_t packet = 0; packet < batch.count; ++packet) {
    const bool wanted = when_class == 0 || (batch.classes[packet] & when_class) != 0;
    if (!wanted || !batch.goes_on(packet)) continue;
    ++count;
    if (what == Fallback::kDrop) batch.drop(packet, reason);
  }
  return count;
}

}  // namespace

void skip_in_window(const SegmentView& segment, std::uint32_t stage,
                    const SlotHeader& batch) noexcept {
  segment.skip_note(stage, batch.stream, batch.lane, batch.sequence).store(batch.sequence);
  released_in_window(segment, stage, batch.stream, batch.lane);
}

std::uint64_t released_in_window(const SegmentView& segment, std::uint32_t stage,
                                 std::uint32_t stream, std::uint32_t lane) noexcept {
  std::atomic<std::uint64_t>& released = segment.lane_window(stage, stream, lane).released;
  std::uint64_t now = released.load();
  if (segment.layout().skip_depth == 0) return now;
  // In one order with skip_in_window(): of two that meet here, one sees what the other has stored.
  while (segment.skip_note(stage, stream, lane, now + 1).load() == now + 1) {
    if (released.compare_exchange_strong(now, now + 1)) ++now;
  }
  return now;
}

bool is_skipped(const SegmentView& segment, std::uint32_t stage, const SlotHeader& batch) noexcept {
  return segment.layout().skip_depth != 0 &&
         segment.skip_note(stage, batch.stream, batch.lane, batch.sequence).load() ==
             batch.sequence;
}

Skipping::Skipping(const ActorContext& context)
    : context_(context),
      goes_on_without_(context.plan->stages.size()),
      alive_(context.plan->groups.size(), false),
      shares_(context.plan->stages.size()) {
  const Plan& plan = *context_.plan;
  // Batches that recovery hands on have their place already.
  const bool has_shares = moves_packets(plan.actors[context_.me.actor]);
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const PlanStage& stage = plan.stages[i];
    goes_on_without_[i] = goes_on_without_group(plan, stage);
    possible_ = possible_ || may_be_skipped(plan, stage);
    if (stage.share == 0 || !has_shares) continue;
    shares_[i].words.resize(stage.share);
    shares_[i].lane.resize(stage.share);
    shares_[i].of_lane.resize(context_.segment.layout().lane_count);
  }
}

void Skipping::read_roster() noexcept {
  const Plan& plan = *context_.plan;
  std::fill(alive_.begin(), alive_.end(), false);
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
    const ActorKind kind = plan.actors[actor].kind;
    if (!is_of_group(kind)) continue;
    if (rule_of(context_.state_of(actor)).may_be_chosen) alive_[plan.actors[actor].group] = true;
  }
  for (std::size_t group = 0; group < plan.groups.size(); ++group) {
    const PlanGroup& gpu = plan.groups[group];
    if (gpu.kind == GroupKind::kGpu && alive_[gpu.stand_in]) alive_[group] = true;
  }
}

std::uint8_t Skipping::enter(std::uint32_t slot, std::uint8_t stage) noexcept {
  while (stage != kEgressStage) {
    if (unavailable(stage)) {
      stage = skip(slot, stage, SkipReason::kUnavailable);
    } else if (!admit(slot, stage)) {
      stage = skip(slot, stage, SkipReason::kOverload);
    } else {
      break;
    }
  }
  return stage;
}

std::uint8_t Skipping::enter_again(std::uint32_t slot, std::uint8_t stage) noexcept {
  if (stage == kEgressStage || !unavailable(stage)) return stage;
  return enter(slot, skip(slot, stage, SkipReason::kUnavailable));
}

bool Skipping::admit(std::uint32_t slot, std::uint8_t stage) noexcept {
  Share& share = shares_[stage];
  if (share.words.empty()) return true;
  const SlotHeader& header = context_.segment.slot(slot);
  const std::uint32_t lane_share = context_.plan->stages[stage].lane_share;
  const auto is_full = [&] {
    return share.count == share.words.size() || share.of_lane[header.lane] >= lane_share;
  };
  // Each look reads a cache line of another core, so they are bounded, and end with the first
  // place.
  if (is_full()) forget_if_left(share, stage, 0);
  for (std::uint32_t looks = std::min(share.count, kLooksMax); is_full() && looks != 0; --looks) {
    if (share.next >= share.count) share.next = 0;
    if (!forget_if_left(share, stage, share.next)) ++share.next;
  }
  if (is_full()) return false;
  share.words[share.count] =
      Descriptor{static_cast<std::uint16_t>(slot), stage, header.generation}.word();
  share.lane[share.count++] = header.lane;
  ++share.of_lane[header.lane];
  return true;
}

bool Skipping::is_in(std::uint64_t word, std::uint8_t stage) const noexcept {
  const Descriptor batch = Descriptor::from_word(word);
  SlotHeader& header = context_.segment.slot(batch.slot);
  const auto state = SlotState::from_word(header.state.load(std::memory_order_acquire));
  if (state.kind != SlotKind::kHeld && state.kind != SlotKind::kWorked) return false;
  // Its ingress may be giving the slot a new one just now.
  const std::uint64_t generation =
      std::atomic_ref(header.generation).load(std::memory_order_relaxed);
  return state.stage == stage && (generation & kGenerationMask) == batch.generation;
}

bool Skipping::forget_if_left(Share& share, std::uint8_t stage, std::uint32_t at) noexcept {
  if (is_in(share.words[at], stage)) return false;
  --share.of_lane[share.lane[at]];
  // The words behind move up, so that the oldest stays in front.
  const std::uint32_t behind = --share.count - at;
  std::copy_n(share.words.begin() + at + 1, behind, share.words.begin() + at);
  std::copy_n(share.lane.begin() + at + 1, behind, share.lane.begin() + at);
  return true;
}

std::uint8_t Skipping::skip(std::uint32_t slot, std::uint8_t stage, SkipReason why) noexcept {
  const PlanStage& skipped = context_.plan->stages[stage];
  const Batch batch = context_.segment.batch(slot);
  for (const std::uint32_t number : skipped.functions) {
    const PlanFunction& function = context_.plan->functions[number];
    const bool unavailable = why == SkipReason::kUnavailable;
    const Fallback fate = unavailable ? function.unavailable : function.overload;
    const Reason reason = unavailable ? Reason::kUnavailable : Reason::kOverload;
    const std::uint64_t count = skip_packets(batch, function.when_class, fate, reason);
    context_.status.skipped(context_.me.actor, number, why) += count;
    if (fate != Fallback::kDrop) continue;
    DropTally& drops = context_.status.drops(context_.me.actor, skipped.path, number);
    drops.dropped[static_cast<std::size_t>(reason)] += count;
  }
  if (skipped.stateful) skip_in_window(context_.segment, stage, *batch.header);
  context_.set_state(slot, SlotKind::kHeld, skipped.next);
  return skipped.next;
}

}  // namespace millrace
