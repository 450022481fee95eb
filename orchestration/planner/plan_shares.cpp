// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orchestration/planner/planning.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kBatchesInBurst = 8;  ///< that a port may bring at once, and they wait
constexpr std::uint32_t kBatchesOfWorker = 2;
constexpr std::uint32_t kBatchesOfGpu = 16;  ///< its rate times the time of a hand-over

const TopologyFunction& source_of(const Planning& planning, std::uint32_t function) {
  return planning.topology.functions[function];
}

/// What keeps its workers busy and takes a burst in.
std::uint32_t needed_share(const Planning& planning, const PlanStage& stage) {
  const PlanGroup& group = planning.plan.groups[stage.group];
  const std::uint32_t least = 2 * planning.plan.paths[stage.path].lane_count;
  const std::uint32_t each = group.kind == GroupKind::kGpu ? kBatchesOfGpu : kBatchesOfWorker;
  const std::uint32_t need = std::max({kBatchesInBurst, least, each * group.max});
  const auto& slots = planning.topology.paths[stage.path].slots;
  return slots ? std::min(need, std::max(least, slots->value / 2)) : need;
}

void check_share(Planning& planning, const PlanStage& stage, const Marked<std::uint32_t>& share) {
  const std::uint32_t lanes = planning.plan.paths[stage.path].lane_count;
  const auto& slots = planning.topology.paths[stage.path].slots;
  if (share.value >= 2 * lanes && (!slots || share.value < slots->value)) return;
  std::string found =
      std::to_string(share.value) + " batches as share, with " + std::to_string(lanes) + " lanes";
  std::string allowed = "at least " + std::to_string(2 * lanes) + " (two a lane)";
  if (slots) {
    found += " and " + std::to_string(slots->value) + " slots";
    allowed += ", less than the slots";
  }
  planning.problems.add(share.mark, std::move(found), std::move(allowed));
}

/// A GPU announces what it has computed; it owns nothing that it could let pass.
void refuse_behind_gpu(Planning& planning, const PlanStage& stage, const PlanGroup& before) {
  if (before.kind != GroupKind::kGpu) return;
  for (const std::uint32_t number : stage.functions) {
    const TopologyFunction& function = source_of(planning, number);
    const bool waits =
        function.unavailable == Fallback::kWait && function.overload == Fallback::kWait;
    if (waits) continue;
    planning.problems.add(
        function.name.mark,
        "'" + function.name.value + "' right behind gpu group '" + before.name +
            "' with 'unavailable' or 'overload'",
        "'wait' for both, or another place in path '" + planning.plan.paths[stage.path].name + "'");
  }
}

}  // namespace

std::uint32_t share_of_stream(const Planning& planning, const PlanStage& stage) {
  std::uint32_t asked = 0;
  for (const std::uint32_t function : stage.functions) {
    if (planning.plan.functions[function].overload == Fallback::kWait) return 0;
    asked = std::max(asked, planning.plan.functions[function].share);
  }
  return asked != 0 ? asked : needed_share(planning, stage);
}

void plan_shares(Planning& planning) {
  Plan& plan = planning.plan;
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i) {
    PlanStage& stage = plan.stages[i];
    std::uint32_t producers = 1;  // of the first stage: its ingress
    if (plan.paths[stage.path].first_stage != i) {
      const PlanGroup& before = plan.groups[plan.stages[i - 1].group];
      refuse_behind_gpu(planning, stage, before);
      producers = before.count;
    }
    for (const std::uint32_t function : stage.functions) {
      const auto& share = source_of(planning, function).share;
      if (share) check_share(planning, stage, *share);
    }
    const std::uint32_t share = share_of_stream(planning, stage);
    if (share == 0) continue;
    const bool many_lanes = plan.paths[stage.path].lane_count > 1;
    stage.share = std::max(2u, (share + producers - 1) / producers);
    stage.lane_share = many_lanes ? std::max(2u, (stage.share + 1) / 2) : stage.share;
  }
}

}  // namespace millrace
