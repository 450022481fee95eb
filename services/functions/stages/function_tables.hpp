// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "services/functions/stage_runner.hpp"
#include "shared/actor/context.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// What one actor needs of one revision of the plan: the functions of its stages, those that
/// compute now and those of the other edition, which batches under way may have met on a GPU.
struct FunctionTables {
  struct Made {
    std::uint32_t edition = 0;
    std::shared_ptr<Function> function;
  };
  struct Stage {
    std::uint32_t edition = 0;  ///< stage_edition()
    std::unique_ptr<StageRunner> runner;
  };

  Plan plan;
  std::vector<std::vector<Made>> functions;  ///< by function: now, other; empty: not needed here
  std::vector<std::vector<Stage>> stages;    ///< by stage, alike

  /// The runner of that edition; null when there is none.
  StageRunner* runner(std::uint8_t stage, std::uint32_t edition) const noexcept {
    for (const Stage& one : stages[stage]) {
      if (one.edition == edition) return one.runner.get();
    }
    return nullptr;
  }
  /// What the stage ran by that edition; empty when there is none.
  std::span<const std::uint32_t> members(std::uint8_t stage, std::uint32_t edition) const noexcept {
    for (std::size_t i = 0; i < stages[stage].size(); ++i) {
      if (stages[stage][i].edition == edition) return functions_of(plan, stage, i != 0);
    }
    return {};
  }
  /// The runner that computes now; the stage is one of the actor's.
  StageRunner& runner(std::uint8_t stage) const noexcept { return *stages[stage][0].runner; }
};

/// True when the actor runs the stage, stands in for it, or accepts its completions.
bool needs_stage(const Plan& plan, std::uint32_t actor, std::uint32_t stage);

/// Makes them for `context.me.actor`; functions of an edition that `before` has are shared with it
/// (null: none). Counters of rules are those of the edition that computes now. Throws Error (a
/// table that does not fit, a missing image).
std::unique_ptr<FunctionTables> make_function_tables(const ActorContext& context, const Plan& plan,
                                                     const FunctionTables* before);

}  // namespace millrace
