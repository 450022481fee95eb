// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <numeric>

#include "shared/actor/context.hpp"
#include "shared/actor/stage_work.hpp"
#include "shared/links/inbox.hpp"
#include "shared/links/step_times.hpp"

namespace millrace {

/// Called by an acceptor before it does anything else with a GPU's completion: copies the results
/// into the slot and runs the CPU part of the stage. Afterwards the batch is held for the following
/// stage, which is returned. `steps`: the acceptor's.
inline std::uint8_t finish_completion(const ActorContext& context, const Taken& taken,
                                      StageWork& work, StepTimes& steps) noexcept {
  const PlanStage& stage = context.plan->stages[taken.stage];
  hook(HookPoint::kWorkState);
  context.set_state(taken.slot, SlotKind::kWorked, taken.stage);
  Batch batch = context.segment.batch(taken.slot);
  batch.edition = context.segment.gpu_edition(taken.gpu, taken.slot);
  const std::uint32_t* results = context.segment.gpu_results(taken.gpu, taken.slot);
  const std::size_t columns = work.columns(taken.stage, batch.edition);
  for (std::size_t f = 0; f < columns; ++f) {
    std::memcpy(batch.result + f * batch.capacity, results + f * batch.capacity,
                batch.count * sizeof(std::uint32_t));
  }
  work.finish(taken.stage, batch);
  ++context.counter(Counter::kCompletions);
  context.counter(Counter::kDeviceBytes) +=
      std::accumulate(batch.length.begin(), batch.length.end(), std::uint64_t{0});
  steps.note_stage(*batch.header, taken.stage);
  hook(HookPoint::kCompleteState);
  context.set_state(taken.slot, SlotKind::kHeld, stage.next);
  return stage.next;
}

}  // namespace millrace
