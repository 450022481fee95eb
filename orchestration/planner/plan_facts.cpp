// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orchestration/planner/plan_printer.hpp"
#include "shared/base/limits.hpp"
#include "shared/layout/segment.hpp"

namespace millrace {

std::string link_name(const Plan& plan, const PlanLink& link) {
  return plan.actors[link.producer].name + "_" + plan.actors[link.consumer].name;
}

std::uint32_t producers_of(const Plan& plan, std::uint8_t stage) {
  const std::uint32_t path = plan.stages[stage].path;
  if (plan.paths[path].first_stage != stage) return plan.groups[plan.stages[stage - 1].group].count;
  std::uint32_t streams = 0;
  for (const PlanStream& stream : plan.streams) {
    for (const PlanStreamPath& at : stream.paths) streams += at.path == path ? 1 : 0;
  }
  return streams;
}

PlanMemory plan_memory(const Plan& plan) {
  const SegmentLayout at = segment_layout(plan);
  PlanMemory memory;
  memory.total = (at.bytes + kHugePage - 1) / kHugePage * kHugePage;
  memory.slots = std::uint64_t{at.slot_count} * at.columns.slot_bytes;
  memory.buffers = std::uint64_t{plan.buffer_count} * plan.buffer_stride;
  memory.links = at.marks;  // they lie in front of the marks
  memory.loops = at.loop_bytes;
  return memory;
}

std::string to_text(const TopologyWarning& warning) {
  return to_text(warning.mark) + ": warning: " + warning.text;
}

std::uint32_t started_count(const Plan& plan) {
  return static_cast<std::uint32_t>(
      std::count_if(plan.actors.begin(), plan.actors.end(),
                    [](const PlanActor& actor) { return actor.at_start; }));
}

}  // namespace millrace
