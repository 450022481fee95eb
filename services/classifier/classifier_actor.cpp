// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/classifier/classifier_actor.hpp"

#include <algorithm>

#include "shared/layout/all_pass.hpp"
#include "shared/links/completion.hpp"
#include "shared/links/skipping.hpp"

namespace millrace {
namespace {

std::vector<std::uint8_t> stateful_stages(const Plan& plan) {
  std::vector<std::uint8_t> stages;
  for (std::uint32_t stage = 0; stage < plan.stages.size(); ++stage) {
    if (plan.stages[stage].stateful) stages.push_back(static_cast<std::uint8_t>(stage));
  }
  return stages;
}

/// Rows of the window: a stream each for every stage with state.
std::uint32_t row_count(const ActorContext& context) {
  const auto stages = static_cast<std::uint32_t>(stateful_stages(*context.plan).size());
  return std::max(1u, stages) * context.segment.layout().stream_count;
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
      stateful_stages_(stateful_stages(*context.plan)),
      window_(row_count(context), context.segment.layout().lane_count, window_depth(*context.plan)),
      holes_(row_count(context), context.segment.layout().lane_count),
      window_high_(context.status.actor_tally(context.me.actor).window),
      steps_(context),
      fetcher_(context) {}

void ClassifierActor::read_roster() noexcept {
  inbox_.read_roster();
  outbox_.read_roster();
  rounds_to_recheck_ = 0;
}

std::uint32_t ClassifierActor::row_of(std::uint8_t stage, std::uint32_t stream) const noexcept {
  const SegmentLayout& layout = context_.segment.layout();
  return layout.stateful_index[stage] * layout.stream_count + stream;
}

void ClassifierActor::take_stock(std::uint64_t now_tsc) noexcept {
  work_.take_tables();
  inbox_.take_stock();
  context_.counter(Counter::kWindowBatches) = window_.waiting();
  const std::uint32_t streams = context_.segment.layout().stream_count;
  context_.counter(Counter::kOldestHole) =
      holes_.oldest(window_, now_tsc, [&](std::uint32_t row, std::uint32_t lane) {
        const std::uint8_t stage = stateful_stages_[row / streams];
        return released_in_window(context_.segment, stage, row % streams, lane) + 1;
      });
}

std::uint32_t ClassifierActor::recheck_windows() noexcept {
  std::uint32_t done = 0;
  std::uint32_t left = window_.waiting();  // ends the loop after the last batch that waits
  const SegmentLayout& layout = context_.segment.layout();
  for (std::uint32_t stage = 0; stage < context_.plan->stages.size(); ++stage) {
    if (!context_.plan->stages[stage].stateful) continue;
    for (std::uint32_t stream = 0; stream < layout.stream_count; ++stream) {
      const std::uint32_t row = row_of(static_cast<std::uint8_t>(stage), stream);
      for (std::uint32_t lane = 0; lane < layout.lane_count && left != 0; ++lane) {
        const std::uint32_t waiting = window_.waiting(row, lane);
        if (waiting == 0) continue;  // to read the next number costs a line of another core
        left -= waiting;
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
    fetcher_.taken(taken.slot);
    if (taken.slot == packets_ahead_) fetch_packets(context_, taken.slot, kPacketsAtATime);
    packets_ahead_ = next_ = kNoSlot;
    look_ahead();
    process(taken);
  }
  // Another worker, or recovery, may pass a batch of the lane that it got before the lane came
  // here: then no message says that the next number has moved.
  if (window_.waiting() != 0 && (done == 0 || rounds_to_recheck_-- == 0)) {
    rounds_to_recheck_ = kRecheckRounds;
    done += recheck_windows();
  }
  return done;
}

/// Fetches the slot of the next batch.
void ClassifierActor::look_ahead() noexcept {
  std::uint32_t next = 0;
  if (!inbox_.peek(next)) return;
  fetcher_.next(next);
  next_ = next;
}

/// Called when a batch is done: fetches the first packets of the next batch. They come while this
/// batch is handed on, further ones while the next batch is taken.
void ClassifierActor::fetch_next_packets() noexcept {
  if (next_ == kNoSlot) return look_ahead();
  if (packets_ahead_ == next_) return;
  fetch_packets(context_, next_, 0);
  packets_ahead_ = next_;
}

void ClassifierActor::process(const Taken& taken) noexcept {
  std::uint8_t stage = taken.stage;
  if (taken.computed) stage = finish_completion(context_, taken, work_, steps_);
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
  const std::uint32_t row = row_of(stage, stream);
  std::uint64_t next = released_in_window(context_.segment, stage, stream, lane) + 1;
  if (is_skipped(context_.segment, stage, header)) {  // by a producer that died
    pass_on(slot, context_.segment.batch(slot), stage);
    return;
  }
  if (header.sequence != next) {
    ++context_.counter(Counter::kBatchesOutOfOrder);
    window_.insert(row, lane, next, header.sequence, slot);
    context_.raise(Counter::kWindowHighWater, window_.waiting());
    window_high_.note(turn_clock::last(), window_.waiting());
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
  fetch_next_packets();
  hook(HookPoint::kWorkNext);
  release_in_window(context_.segment, window, batch.header->sequence);
  window.dirty.store(0, std::memory_order_release);
  pass_on(slot, batch, stage);
}

void ClassifierActor::run(std::uint32_t slot, std::uint8_t stage) noexcept {
  hook(HookPoint::kWorkState);
  context_.set_state(slot, SlotKind::kWorked, stage);
  const Batch batch = context_.segment.batch(slot);
  work_.run(stage, batch);
  fetch_next_packets();
  pass_on(slot, batch, stage);
}

void ClassifierActor::pass_on(std::uint32_t slot, const Batch& batch, std::uint8_t stage) noexcept {
  const std::uint8_t next = context_.plan->stages[stage].next;
  const std::uint64_t ticks = steps_.note_stage(*batch.header, stage);
  hook(HookPoint::kCompleteState);
  context_.set_state(slot, SlotKind::kHeld, next);
  ++context_.counter(Counter::kBatches);
  context_.counter(Counter::kPackets) += batch.count;
  if (metrics_kept()) {
    context_.counter(Counter::kPacketsOut) += batch.count - fates_of(batch).not_sent;
  }
  const Plan& plan = *context_.plan;
  const bool beside = plan.stages[stage].group != plan.actors[context_.me.actor].group;
  if (beside && !is_stand_in(*batch.header)) {
    ++context_.counter(Counter::kStandInBatches);
    if (ticks != 0) stand_in_ticks_ = ticks;  // batches that are not timed count the same
    context_.counter(Counter::kStandInTime) += stand_in_ticks_;
  }
  outbox_.send(slot, next);
}

}  // namespace millrace
