// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "orchestration/planner/planning.hpp"
#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

TEST(PlanFunctions, TakesTraitsFromTheKnownFunctions) {
  const Plan plan = plan_of(with_ports(
      "name: x\npaths: {p: {from: a}}\nworkers: {c: {kind: classifier}, d: {kind: classifier, "
      "dispatch: flow}}\nfunctions: {r: {type: route, table: t}, s: {type: record, on: d}}\n"));
  EXPECT_EQ(plan.functions[0].image, "/dev/shm/millrace-x.r.1.image");
  EXPECT_EQ(plan.functions[0].group, 0u);
  EXPECT_FALSE(plan.functions[0].stateful);
  EXPECT_EQ(plan.functions[1].image, "");
  EXPECT_EQ(plan.functions[1].group, 1u);
  EXPECT_TRUE(plan.functions[1].stateful);
  EXPECT_EQ(plan.functions[1].lane_state_bytes, 96u);
}

TEST(PlanFunctions, GivesEachClassABit) {
  const Plan plan = plan_of(with_ports(
      "paths: {p: {from: a}}\nfunctions:\n  f: {type: plain, classes: [x, y]}\n  g: {type: plain, "
      "classes: [y, z], when: class x}\n  h: {type: plain, when: [class x, class z], overload: "
      "pass}\n"));
  EXPECT_EQ(plan.classes, (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_EQ(plan.functions[0].class_mask, 0b011u);
  EXPECT_EQ(plan.functions[1].class_mask, 0b110u);
  EXPECT_EQ(plan.functions[0].when_class, 0u);
  EXPECT_EQ(plan.functions[1].when_class, 0b001u);
  EXPECT_EQ(plan.functions[2].when_class, 0b101u);
  EXPECT_EQ(plan.functions[2].overload, Fallback::kPass);
  EXPECT_EQ(plan.functions[1].settings, (Settings{{"classes", "y"}, {"classes", "z"}}));
}

std::vector<std::string> names_of(const std::vector<PlanReason>& reasons) {
  std::vector<std::string> names;
  for (const PlanReason& reason : reasons) names.push_back(reason.name);
  return names;
}

TEST(PlanFunctions, NumberTheReasonsOfAllFunctionsEachNameOnce) {
  const Plan plan = plan_of(with_ports(
      "paths: {p: {from: a}}\nfunctions:\n  m: {type: match, rules: x}\n  n: {type: match, rules: "
      "y}\n  r: {type: route, table: t}\n  q: {type: plain}\n"));
  EXPECT_EQ(names_of(plan.reasons), (std::vector<std::string>{"unwanted", "odd", "no_way"}));
  EXPECT_EQ(plan.reasons[0].summary, "a rule says drop");
  EXPECT_EQ(plan.reasons[1].cause, ReasonCause::kPacket);
  EXPECT_EQ(plan_of(with_ports("paths: {p: {from: a}}\n")).reasons.size(), 0u);
}

std::uint32_t stand_in(const std::string& rest) {
  const Plan plan = plan_of(with_ports("paths: {p: {from: a}}\n" + rest));
  for (const PlanGroup& group : plan.groups) {
    if (group.kind == GroupKind::kGpu) return group.stand_in;
  }
  return UINT32_MAX;
}

TEST(PlanFunctions, LetTheGroupWithTheSameTypeStandIn) {
  const std::string workers =
      "workers: {c: {kind: classifier}, g: {kind: gpu}, d: {kind: classifier}}\nfunctions:\n"
      "  m: {type: match, rules: x, on: g}\n";
  EXPECT_EQ(stand_in(workers), 0u);
  EXPECT_EQ(stand_in(workers + "  n: {type: match, rules: x, on: d}\n"), 2u);
  EXPECT_EQ(stand_in(workers + "  n: {type: route, table: x, on: d}\n"), 0u);
}

TEST(PlanFunctions, MakeAStandInWhereThereIsNone) {
  EXPECT_EQ(stand_in("workers: {g: {kind: gpu}}\nfunctions: {m: {type: match, rules: x, on: g}}\n"),
            1u);
}

}  // namespace
}  // namespace millrace
