// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/classifier/classifier_actor.hpp"

#include <algorithm>

#include "shared/links/completion.hpp"
#include "shared/links/fetch_ahead.hpp"
#include "shared/links/skipping.hpp"

namespace millrace {
namespace {

std::uint32_t stateful_stage_count(const Plan& plan) {
  std::uint32_t count = 0;
  for (const PlanStage& stage : plan.stages) count += stage.stateful ? 1 : 0;
  return count;
}

std::uint32_t window_depth(const Plan& plan) {
  std::uint32_t most = 0;
  for (const PlanStream& stream : plan.streams) most = std::max(most, stream.slot_count);
  return most + plan.stand_in_slot_count;
}

}  // namespace

ClassifierActor::ClassifierActor(const ActorContext& context, StageWork& work)
    : context_(context),
      work_(work),
      inbox_(context),
      outbox_(context),
      window_(
          std::max(1u, stateful_stage_count(*context.plan)) * context.segment.layout().stream_count,
          context.segment.layout().lane_count, window_depth(*context.plan)),
      bytes_read_(bytes_read(context)) {}

void ClassifierActor::read_roster() noexcept {
  inbox_.read_roster();
  outbox_.read_roster();
  rounds_to_recheck_ = 0;
}

std::uint32_t ClassifierActor::recheck_windows() noexcept {
  std::uint32_t done = 0;
  const SegmentLayout& layout = context_.segment.layout();
  for (std::uint32_t stage = 0; stage < context_.plan->stages.size(); ++stage) {
    if (!context_.plan->stages[stage].stateful) continue;
    for (std::uint32_t stream = 0; stream < layout.stream_count; ++stream) {
      const std::uint32_t row = layout.stateful_index[stage] * layout.stream_count + stream;
      for (std::uint32_t lane = 0; lane < layout.lane_count; ++lane) {
        const std::uint64_t next = released_in_window(context_.segment, stage, stream, lane) + 1;
        const std::uint32_t slot = window_.remove(row, lane, next);
        if (slot == OrderWindow::kNone) continue;
        enter_in_sequence(slot, stage);
        ++done;
      }
    }
  }
  return done;
}

std::uint32_t ClassifierActor::do_work() noexcept {
  outbox_.wake_consumers();
  std::uint32_t done = outbox_.pending() != 0 ? outbox_.flush() : 0;
  Taken taken;
  for (std::uint32_t i = 0; i < kBatchesPerRound && inbox_.take(taken); ++i, ++done) {
    std::uint32_t next = 0;
    if (inbox_.peek(next)) fetch_slot(context_, next, bytes_read_);
    process(taken);
  }
  // A batch of a lane may pass through another worker's hands, or recovery's, which were dealt it
  // before the lane came here: then nobody tells us that the next number has moved.
  if (window_.waiting() != 0 && (done == 0 || rounds_to_recheck_-- == 0)) {
    rounds_to_recheck_ = kRecheckRounds;
    done += recheck_windows();
  }
  return done;
}

void ClassifierActor::process(const Taken& taken) noexcept {
  std::uint8_t stage = taken.stage;
  if (taken.computed) stage = finish_completion(context_, taken, work_);
  MILLRACE_CHECK(stage < context_.plan->stages.size());
  if (context_.plan->stages[stage].stateful) {
    enter_in_sequence(taken.slot, stage);
  } else {
    run(taken.slot, stage);
  }
}

void ClassifierActor::enter_in_sequence(std::uint32_t slot, std::uint8_t stage) noexcept {
  const SlotHeader& header = context_.segment.slot(slot);
  const std::uint32_t lane = header.lane;
  const std::uint32_t stream = header.stream;
  LaneWindow& window = context_.segment.lane_window(stage, stream, lane);
  const std::uint32_t row =
      context_.segment.layout().stateful_index[stage] * context_.segment.layout().stream_count +
      stream;
  std::uint64_t next = released_in_window(context_.segment, stage, stream, lane) + 1;
  if (is_skipped(context_.segment, stage, header)) {  // by a producer that died before it said so
    pass_on(slot, context_.segment.batch(slot), stage);
    return;
  }
  if (header.sequence != next) {
    ++context_.counter(Counter::kBatchesOutOfOrder);
    window_.insert(row, lane, next, header.sequence, slot);
    std::uint64_t& high = context_.counter(Counter::kWindowHighWater);
    high = std::max<std::uint64_t>(high, window_.waiting());
    return;
  }
  while (slot != OrderWindow::kNone) {
    run_with_state(slot, stage, window);
    next = released_in_window(context_.segment, stage, stream, lane) + 1;
    slot = window_.waiting() != 0 ? window_.remove(row, lane, next) : OrderWindow::kNone;
  }
}

void ClassifierActor::run_with_state(std::uint32_t slot, std::uint8_t stage,
                                     LaneWindow& window) noexcept {
  hook(HookPoint::kWorkState);
  context_.set_state(slot, SlotKind::kWorked, stage);
  hook(HookPoint::kWorkDirty);
  window.dirty.store(1, std::memory_order_release);
  const Batch batch = context_.segment.batch(slot);
  work_.run(stage, batch);
  hook(HookPoint::kWorkNext);
  release_in_window(context_.segment, window, batch.header->sequence);
  window.dirty.store(0, std::memory_order_release);
  pass_on(slot, batch, stage);
}

void ClassifierActor::run(std::uint32_t slot, std::uint8_t stage) noexcept {
  hook(HookPoint::kWorkState);
  context_.set_state(slot, SlotKind::kWorked, stage);
  const Batch batch = context_.segment.batch(slot);
  fetch_slot(context_, slot, bytes_read_);
  work_.run(stage, batch);
  std::uint32_t next = 0;
  if (inbox_.peek(next)) fetch_first_packets(context_, next);
  pass_on(slot, batch, stage);
}

void ClassifierActor::pass_on(std::uint32_t slot, const Batch& batch, std::uint8_t stage) noexcept {
  const std::uint8_t next = context_.plan->stages[stage].next;
  batch.header->time_stage_tsc = tsc_now();
  hook(HookPoint::kCompleteState);
  context_.set_state(slot, SlotKind::kHeld, next);
  ++context_.counter(Counter::kBatches);
  context_.counter(Counter::kPackets) += batch.count;
  outbox_.send(slot, next);
}

}  // namespace millrace
