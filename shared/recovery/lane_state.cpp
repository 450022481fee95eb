// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/recovery/lane_state.hpp"

#include <algorithm>
#include <span>

#include "shared/layout/lane_undo_log.hpp"
#include "shared/recovery/laws.hpp"

namespace millrace {

void undo_lane_state(const ActorContext& context, const SlotHeader& header, std::uint8_t stage) {
  MILLRACE_CHECK(stage < context.plan->stages.size());
  const PlanStage& plan = context.plan->stages[stage];
  if (!plan.stateful) return;
  LaneWindow& window = context.segment.lane_window(stage, header.stream, header.lane);
  if (window.dirty.load(std::memory_order_relaxed) != 0) {
    bool discarded = false;
    for (const std::uint32_t function : plan.functions) {
      if (context.plan->functions[function].lane_state_bytes == 0) continue;
      const LaneUndoLog log = context.segment.lane_undo(*context.plan, function, header.lane);
      if (log.undo(header.stream, header.sequence) == LaneUndoLog::Undone::kAll) continue;
      const auto state = context.segment.lane_state(*context.plan, function, header.lane);
      std::fill(state.begin(), state.end(), std::byte{0});
      discarded = true;
    }
    if (discarded) {
      context.status.header().lane_states_discarded.fetch_add(1, std::memory_order_relaxed);
    }
  }
  // It may be past this batch already, over batches that were skipped.
  std::uint64_t released = window.released.load();
  while (released < header.sequence &&
         !window.released.compare_exchange_weak(released, header.sequence)) {
  }
  window.dirty.store(0, std::memory_order_release);
}

std::uint8_t first_that_must_see(const Plan& plan, std::uint8_t stage) {
  while (stage != kEgressStage && !plan.stages[stage].stateful) {
    stage = plan.stages[stage].next;
  }
  return stage;
}

}  // namespace millrace
