// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ingress/lane_backlog.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

PlanGroup group(GroupKind kind, std::uint32_t max, Dispatch dispatch) {
  return {.kind = kind, .max = max, .dispatch = dispatch};
}

/// Path 0 has a stage in each of the groups; path 1 has none.
Plan plan_of(std::vector<PlanGroup> groups) {
  Plan plan;
  plan.paths.resize(2);
  plan.groups = std::move(groups);
  for (std::uint32_t i = 0; i < plan.groups.size(); ++i) {
    plan.stages.push_back({.path = 0, .group = i});
  }
  return plan;
}

TEST(LaneBacklog, IsFourForEachWorkerThatMayHaveBatchesOfTheLane) {
  const PlanGroup by_flow = group(GroupKind::kClassifier, 8, Dispatch::kFlow);
  const PlanGroup by_load = group(GroupKind::kClassifier, 3, Dispatch::kAny);
  EXPECT_EQ(lane_backlog(plan_of({by_flow}), 0), kBacklog);
  EXPECT_EQ(lane_backlog(plan_of({by_load}), 0), 3 * kBacklog);
  EXPECT_EQ(lane_backlog(plan_of({by_flow, by_load}), 0), 4 * kBacklog);
}

TEST(LaneBacklog, OfLanesInTurnIsThatOfAllWorkers) {
  Plan plan = plan_of({group(GroupKind::kClassifier, 8, Dispatch::kFlow)});
  plan.paths[0].ordered = false;
  EXPECT_EQ(lane_backlog(plan, 0), 8 * kBacklog);
}

TEST(LaneBacklog, IsThatOfOneWorkerWhereThePathRunsNothing) {
  EXPECT_EQ(lane_backlog(plan_of({group(GroupKind::kClassifier, 3, Dispatch::kAny)}), 1), kBacklog);
}

TEST(LaneBacklog, IsNeverReachedWithAGpu) {
  const PlanGroup gpu = group(GroupKind::kGpu, 1, Dispatch::kFlow);
  const PlanGroup stand_in = group(GroupKind::kClassifier, 1, Dispatch::kAny);
  EXPECT_EQ(lane_backlog(plan_of({gpu, stand_in}), 0), UINT32_MAX);
}

}  // namespace
}  // namespace millrace
