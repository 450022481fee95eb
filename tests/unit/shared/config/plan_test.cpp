// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/config/plan.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(Plan, TellsTheLanesOfAStreamPathByPath) {
  Plan plan;
  plan.paths = {{.name = "a", .lane_first = 0, .lane_count = 2},
                {.name = "b", .lane_first = 2, .lane_count = 1},
                {.name = "c", .lane_first = 3, .lane_count = 3}};
  PlanStream stream;
  stream.paths = {{.path = 2}, {.path = 0}};
  EXPECT_EQ(lanes_of(plan, stream), (std::vector<std::uint32_t>{3, 4, 5, 0, 1}));
}

TEST(Plan, UsesDpdkWhenOneOfItsPortsDoes) {
  Plan plan;
  EXPECT_FALSE(uses_dpdk(plan));
  plan.ports = {{.name = "a", .device = "null"}, {.name = "b", .device = "pcap"}};
  EXPECT_FALSE(uses_dpdk(plan));
  plan.ports[1].device = "dpdk";
  EXPECT_TRUE(uses_dpdk(plan));
}

TEST(Plan, AGroupHasStateWhenOneOfItsStagesHas) {
  Plan plan;
  plan.stages = {{.group = 0}, {.group = 1, .stateful = true}, {.group = 1}};
  EXPECT_FALSE(has_state(plan, 0));
  EXPECT_TRUE(has_state(plan, 1));
  EXPECT_FALSE(has_state(plan, 2));
}

TEST(Plan, KnowsWhichStagesMayBeSkipped) {
  Plan plan;
  plan.functions = {{.name = "waits"},
                    {.name = "passes", .unavailable = Fallback::kPass},
                    {.name = "drops", .unavailable = Fallback::kDrop}};
  EXPECT_FALSE(goes_on_without_group(plan, {.functions = {}}));
  EXPECT_FALSE(goes_on_without_group(plan, {.functions = {1, 0}}));
  EXPECT_TRUE(goes_on_without_group(plan, {.functions = {1, 2}}));
  EXPECT_FALSE(may_be_skipped(plan, {.functions = {0}}));
  EXPECT_TRUE(may_be_skipped(plan, {.functions = {0}, .share = 1}));
}

}  // namespace
}  // namespace millrace
