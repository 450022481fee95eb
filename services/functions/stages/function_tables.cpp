// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/stages/function_tables.hpp"

#include <utility>

#include "services/functions/table.hpp"
#include "shared/base/error.hpp"
#include "shared/config/plan_reasons.hpp"

namespace millrace {
namespace {

/// Whether compute runs in this actor for functions of `group`, not only finish.
bool computes(const Plan& plan, std::uint32_t actor, std::uint32_t group) {
  const PlanActor& me = plan.actors[actor];
  if (me.kind == ActorKind::kEgress) return false;
  const PlanGroup& at = plan.groups[group];
  return group == me.group || (at.kind == GroupKind::kGpu && at.stand_in == me.group);
}

class Maker {
 public:
  Maker(const ActorContext& context, const FunctionTables* before, FunctionTables& tables)
      : context_(context), before_(before), tables_(tables) {}

  void make_stage(std::uint32_t stage, bool other) {
    const Plan& plan = tables_.plan;
    const std::uint32_t edition = stage_edition(plan, stage, other);
    std::vector<StageFunction> members;
    for (const std::uint32_t number : functions_of(plan, stage, other)) {
      const PlanFunction& planned = edition_of(plan, number, other);
      const FunctionTraits& traits = function_type(planned.type).traits;
      std::vector<std::uint8_t> reasons = while_doing(
          "function " + planned.name, [&] { return reason_numbers(plan.reasons, traits.reasons); });
      const Reason drops_for =
          traits.drops_for_first ? static_cast<Reason>(reasons.at(0)) : Reason::kNone;
      members.push_back(
          {function(number, planned), planned.when_class, planned.class_mask, traits.regions,
           counters(number, planned), number,
           planned.unavailable == Fallback::kPass ? Fallback::kPass : Fallback::kDrop,
           &context_.status.skipped(context_.me.actor, number, SkipReason::kUnavailable), drops_for,
           &context_.status.drops(context_.me.actor, plan.stages[stage].path, number),
           std::move(reasons), traits.rewrites});
    }
    const StageWatch watch{&context_.my_entry().in_function,
                           &context_.status.header().functions_out};
    tables_.stages[stage].push_back({edition, std::make_unique<StageRunner>(members, watch)});
  }

 private:
  Function* function(std::uint32_t number, const PlanFunction& planned) {
    std::vector<FunctionTables::Made>& made = tables_.functions[number];
    for (const FunctionTables::Made& one : made) {
      if (one.edition == planned.edition) return one.function.get();
    }
    made.push_back({planned.edition, earlier(number, planned.edition)});
    if (!made.back().function) made.back().function = make(planned);
    return made.back().function.get();
  }

  std::shared_ptr<Function> earlier(std::uint32_t number, std::uint32_t edition) const {
    if (before_ == nullptr || number >= before_->functions.size()) return nullptr;
    for (const FunctionTables::Made& one : before_->functions[number]) {
      if (one.edition == edition) return one.function;
    }
    return nullptr;
  }

  std::shared_ptr<Function> make(const PlanFunction& planned) const {
    return while_doing("function " + planned.name, [&] {
      const Plan& plan = tables_.plan;
      const bool on_device = plan.actors[context_.me.actor].kind == ActorKind::kGpu;
      return std::shared_ptr<Function>(
          function_type(planned.type)
              .make({planned, plan.ports, computes(plan, context_.me.actor, planned.group),
                     on_device}));
    });
  }

  /// Rules are counted by the edition that computes now alone: numbers mean others elsewhere.
  FunctionCounters counters(std::uint32_t number, const PlanFunction& planned) const {
    const PlanFunction& now = tables_.plan.functions[number];
    const std::uint32_t count = planned.edition == now.edition ? now.counter_count : 0;
    return {context_.status.function_counters(context_.me.actor,
                                              function_counter_first(tables_.plan, number), count),
            &context_.status.tally(context_.me.actor, number)};
  }

  const ActorContext& context_;
  const FunctionTables* before_;
  FunctionTables& tables_;
};

}  // namespace

bool needs_stage(const Plan& plan, std::uint32_t actor, std::uint32_t number) {
  const PlanActor& me = plan.actors[actor];
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

std::unique_ptr<FunctionTables> make_function_tables(const ActorContext& context, const Plan& plan,
                                                     const FunctionTables* before) {
  auto tables = std::make_unique<FunctionTables>();
  tables->plan = plan;
  tables->functions.resize(plan.functions.size());
  tables->stages.resize(plan.stages.size());
  Maker maker(context, before, *tables);
  for (std::uint32_t stage = 0; stage < plan.stages.size(); ++stage) {
    if (!needs_stage(plan, context.me.actor, stage)) continue;
    maker.make_stage(stage, false);
    if (stage_edition(plan, stage, true) == stage_edition(plan, stage)) continue;
    maker.make_stage(stage, true);
  }
  return tables;
}

}  // namespace millrace
