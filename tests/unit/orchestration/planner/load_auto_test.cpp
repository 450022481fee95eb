// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

/// What is refused (functions without a GPU version, several groups, a share that stays) is in
/// tests/golden/topology-errors/functions.txt.
Plan plan_on(const std::string& on, const std::string& workers) {
  return plan_of(with_ports(workers + "functions: {m: {type: match, rules: r, on: " + on +
                            "}}\npaths: {p: {from: a, to: b, run: [m]}}\n"));
}

TEST(LoadAuto, TakesTheOnlyGroupOfEachKind) {
  const Plan plan = plan_on("auto", "workers: {deep: {kind: classifier}, g: {kind: gpu}}\n");
  ASSERT_EQ(plan.groups.size(), 2u);
  EXPECT_EQ(plan.functions[0].group, 1u);
  EXPECT_EQ(plan.groups[1].stand_in, 0u);
  EXPECT_TRUE(is_balanced(plan.groups[1]));
}

TEST(LoadAuto, MakesTheGroupsWhereTheFileHasNone) {
  const Plan plan = plan_on("auto", "");
  ASSERT_EQ(plan.groups.size(), 2u);
  const PlanGroup& gpu = plan.groups[plan.functions[0].group];
  EXPECT_EQ(gpu.kind, GroupKind::kGpu);
  EXPECT_TRUE(is_balanced(gpu));
}

TEST(LoadAuto, IsTheShortFormOfAListAndAnOffload) {
  const std::string deep = "workers: {deep: {kind: classifier}, g: {kind: gpu";
  const Plan named = plan_on("[g, deep]", deep + ", offload: auto}}\n");
  const Plan chosen = plan_on("auto", deep + "}}\n");
  EXPECT_EQ(named.groups[1].offload, chosen.groups[1].offload);
  EXPECT_EQ(named.groups[1].spill, chosen.groups[1].spill);
  EXPECT_EQ(named.groups[1].stand_in, chosen.groups[1].stand_in);
  EXPECT_TRUE(is_balanced(plan_on("auto", deep + ", offload: auto}}\n").groups[1]));
}

TEST(LoadAuto, AGroupMayHaveThatNameWhereNoFunctionSaysIt) {
  const Plan plan = plan_on("deep", "workers: {deep: {kind: classifier}, auto: {kind: gpu}}\n");
  EXPECT_EQ(plan.groups[1].name, "auto");
}

}  // namespace
}  // namespace millrace
