// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/stages/function_stages.hpp"

#include <algorithm>

#include "shared/base/turn_clock.hpp"

namespace millrace {

FunctionStages::FunctionStages(const ActorContext& context)
    : context_(context),
      scale_(context.status.header().tsc_hz),
      neighbours_(context.segment.neighbours()),
      events_(context.status.events(), event_ring_of(*context.plan, context.me.actor)),
      states_(kStageFunctionCountMax) {
  for (const PlanStage& stage : context_.plan->stages) {
    const PlanPath& path = context_.plan->paths[stage.path];
    lanes_.push_back({path.lane_first, path.lane_count});
  }
  for (const PlanStream& stream : context_.plan->streams) {
    ports_.push_back(static_cast<std::uint8_t>(stream.port));
  }
  made_.push_back(make_function_tables(context_, *context_.plan, nullptr));
  now_ = made_.back().get();
}

std::span<const LaneState> FunctionStages::states_of(std::uint8_t stage,
                                                     const Batch& batch) noexcept {
  const Plan& plan = now().plan;
  if (!plan.stages[stage].stateful) return {};
  const std::vector<std::uint32_t>& functions = plan.stages[stage].functions;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    // One that came later has none: nothing was laid out for it.
    states_[i] = {};
    if (plan.functions[functions[i]].lane_state_bytes == 0) continue;
    const SlotHeader& header = *batch.header;
    states_[i] = {context_.segment.lane_state(plan, functions[i], header.lane),
                  context_.segment.lane_undo(plan, functions[i], header.lane)};
    states_[i].undo.begin(header.stream, header.sequence);
  }
  return {states_.data(), functions.size()};
}

std::span<std::uint32_t> FunctionStages::words(const Batch& batch,
                                               std::uint32_t* results) const noexcept {
  return {results, std::size_t{batch.capacity} * kStageFunctionCountMax};
}

/// Shows what each function did with the packets that a watcher follows.
class FunctionStages::Follower : public StageListener {
 public:
  Follower(const ActorContext& context, const Batch& batch) : context_(context), batch_(batch) {
    if (!context_.watched()) return;
    slot_ = context_.segment.number_of(*batch.header);
    follows_ = context_.watch->follows(slot_, batch.header->generation);
  }
  StageListener* wanted() noexcept { return follows_ ? this : nullptr; }
  void ran(std::uint32_t function, Selection selected, std::span<const std::uint32_t> results,
           std::uint64_t since_tsc) noexcept override {
    context_.watch->step(context_.me.actor, slot_, batch_,
                         {TraceKind::kFunction, function, since_tsc, results, selected.packets});
  }

 private:
  const ActorContext& context_;
  const Batch& batch_;
  std::uint32_t slot_ = 0;
  bool follows_ = false;
};

BatchFacts FunctionStages::facts_of(const Batch& batch, std::uint8_t stage) noexcept {
  const std::uint64_t origin = context_.status.header().tsc_origin;
  const Lanes& lanes = lanes_[stage];
  return {.port_in = ports_[batch.header->stream],
          .now_ns = scale_.ns_between(origin, turn_clock::last()),
          .neighbours = &neighbours_,
          .events = events_.on() ? &events_ : nullptr,
          .lane = batch.header->lane - lanes.first,
          .lane_count = lanes.count};
}

void FunctionStages::run(std::uint8_t stage, const Batch& batch) noexcept {
  Follower follower(context_, batch);
  now().runner(stage).run(batch, states_of(stage, batch), facts_of(batch, stage),
                          follower.wanted());
  events_.publish();
}

void FunctionStages::compute(std::uint8_t stage, const Batch& batch,
                             std::uint32_t* results) noexcept {
  StageRunner* const runner = now().runner(stage, batch.edition);
  // Nothing waits for results of an edition that has been let go: a stale batch.
  if (runner != nullptr) runner->run_compute(batch, words(batch, results));
}

std::uint32_t FunctionStages::columns(std::uint8_t stage, std::uint32_t edition) const noexcept {
  return static_cast<std::uint32_t>(now().members(stage, edition).size());
}

void FunctionStages::finish(std::uint8_t stage, const Batch& batch) noexcept {
  StageRunner* const runner = now().runner(stage, batch.edition);
  if (runner == nullptr) [[unlikely]] {
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      if (batch.goes_on(i)) batch.drop(i, Reason::kWorkerLost);
    }
    return;
  }
  Follower follower(context_, batch);
  runner->run_finish(batch, words(batch, batch.result), {}, facts_of(batch, stage),
                     follower.wanted());
  events_.publish();
}

void FunctionStages::take_tables() noexcept {
  if (ready() != nullptr) take();
}

const Plan* FunctionStages::ready() noexcept {
  tell_revision();
  const FunctionTables* const next = ready_.load(std::memory_order_acquire);
  return next == nullptr ? nullptr : &next->plan;
}

void FunctionStages::take() noexcept {
  const FunctionTables* const next = ready_.load(std::memory_order_acquire);
  now_ = next;  // before it is no longer offered: one of both keeps it from being freed
  ready_ = nullptr;
  tell_revision();
}

void FunctionStages::tell_revision() noexcept {
  const std::uint32_t revision = now().plan.revision;
  if (revision == told_revision_) return;
  told_revision_ = revision;
  context_.status.actor_tally(context_.me.actor).revision.store(revision);
}

bool FunctionStages::wants(const Plan& plan) const noexcept {
  // What is offered may be in the data thread's hands; the caller will ask again.
  return ready_.load() == nullptr && plan.revision > now_.load()->plan.revision;
}

void FunctionStages::follow(const Plan& plan) {
  if (!wants(plan)) return;
  made_.push_back(make_function_tables(context_, plan, now_.load()));
  ready_ = made_.back().get();
}

void FunctionStages::tend() noexcept {
  const FunctionTables* const offered = ready_.load();  // first: see take()
  const FunctionTables* const used = now_.load();
  std::erase_if(made_, [&](const auto& one) { return one.get() != offered && one.get() != used; });
}

}  // namespace millrace
