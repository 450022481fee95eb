// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/classifier/function_stages.hpp"

#include "services/functions/table.hpp"
#include "shared/base/error.hpp"

namespace millrace {

FunctionStages::FunctionStages(const ActorContext& context)
    : context_(context),
      functions_(context.plan->functions.size()),
      runners_(context.plan->stages.size()),
      states_(kStageFunctionCountMax) {
  const Plan& plan = *context_.plan;
  for (std::uint32_t stage = 0; stage < plan.stages.size(); ++stage) {
    if (!needs(stage)) continue;
    std::vector<StageFunction> members;
    for (const std::uint32_t number : plan.stages[stage].functions) {
      const PlanFunction& planned = plan.functions[number];
      members.push_back(
          {&function(number),
           planned.when_class,
           planned.class_mask,
           function_type(planned.type).traits.regions,
           {context_.status.function_counters(
                context_.me.actor, function_counter_first(plan, number), planned.counter_count),
            &context_.status.tally(context_.me.actor, number)}});
    }
    runners_[stage] = std::make_unique<StageRunner>(std::move(members));
  }
}

bool FunctionStages::needs(std::uint32_t number) const {
  const Plan& plan = *context_.plan;
  const PlanActor& me = plan.actors[context_.me.actor];
  const PlanStage& stage = plan.stages[number];
  const PlanGroup& group = plan.groups[stage.group];
  const bool gpu_stage = group.kind == GroupKind::kGpu;
  if (me.kind == ActorKind::kEgress) return gpu_stage && stage.next == kEgressStage;
  if (me.kind == ActorKind::kGpu) return stage.group == me.group;
  if (stage.group == me.group) return true;
  if (!gpu_stage) return false;
  const bool accepts = stage.next != kEgressStage && plan.stages[stage.next].group == me.group;
  return group.stand_in == me.group || accepts;
}

bool FunctionStages::computes(std::uint32_t group) const {
  const PlanActor& me = context_.plan->actors[context_.me.actor];
  if (me.kind == ActorKind::kEgress) return false;
  const PlanGroup& at = context_.plan->groups[group];
  return group == me.group || (at.kind == GroupKind::kGpu && at.stand_in == me.group);
}

Function& FunctionStages::function(std::uint32_t number) {
  if (!functions_[number]) {
    const PlanFunction& planned = context_.plan->functions[number];
    functions_[number] = while_doing("function " + planned.name, [&] {
      const bool on_device = context_.plan->actors[context_.me.actor].kind == ActorKind::kGpu;
      return function_type(planned.type)
          .make({planned, context_.plan->ports, computes(planned.group), on_device});
    });
  }
  return *functions_[number];
}

std::span<const LaneState> FunctionStages::states_of(std::uint8_t stage,
                                                     const Batch& batch) noexcept {
  const PlanStage& plan = context_.plan->stages[stage];
  if (!plan.stateful) return {};
  for (std::size_t i = 0; i < plan.functions.size(); ++i) {
    states_[i] = {
        context_.segment.lane_state(*context_.plan, plan.functions[i], batch.header->lane)};
  }
  return {states_.data(), plan.functions.size()};
}

std::span<std::uint32_t> FunctionStages::words(const Batch& batch,
                                               std::uint32_t* results) const noexcept {
  return {results, std::size_t{batch.capacity} * kStageFunctionCountMax};
}

void FunctionStages::run(std::uint8_t stage, const Batch& batch) noexcept {
  runners_[stage]->run(batch, states_of(stage, batch));
}

void FunctionStages::compute(std::uint8_t stage, const Batch& batch,
                             std::uint32_t* results) noexcept {
  runners_[stage]->run_compute(batch, words(batch, results));
}

void FunctionStages::finish(std::uint8_t stage, const Batch& batch) noexcept {
  runners_[stage]->run_finish(batch, words(batch, batch.result), {});
}

}  // namespace millrace
