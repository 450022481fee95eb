// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/plan_renumber.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shared/base/limits.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Plan plan_with_functions(std::vector<PlanFunction> functions,
                         std::vector<std::string> classes = {}) {
  Plan plan;
  plan.functions = std::move(functions);
  plan.classes = std::move(classes);
  return plan;
}

TEST(PlanRenumber, FunctionsKeepTheirNumbersAndNewOnesFollow) {
  const Plan now = plan_with_functions({{.name = "a", .counter_count = 3}, {.name = "b"}});
  Plan next = plan_with_functions({{.name = "c"}, {.name = "b", .type = "new"}});
  next.stages = {{.functions = {0, 1}}};
  const Renumbered found = renumbered(now, next);
  EXPECT_THAT(found.obstacles, IsEmpty());
  ASSERT_EQ(found.plan.functions.size(), 3u);
  EXPECT_TRUE(found.plan.functions[0].gone);
  EXPECT_EQ(found.plan.functions[0].counter_count, 3u);
  EXPECT_EQ(found.plan.functions[1].type, "new");
  EXPECT_EQ(found.plan.functions[2].name, "c");
  EXPECT_THAT(found.plan.stages[0].functions, ElementsAre(2u, 1u));
}

TEST(PlanRenumber, BitsOfClassesStayAndNewOnesFollow) {
  const Plan now = plan_with_functions({{.name = "a", .class_mask = 3}}, {"x", "y"});
  const Plan next = plan_with_functions(
      {{.name = "b", .when_class = 2, .class_mask = 1}, {.name = "a"}}, {"z", "y"});
  const Renumbered found = renumbered(now, next);
  EXPECT_THAT(found.plan.classes, ElementsAre("x", "y", "z"));
  EXPECT_EQ(found.plan.functions[1].class_mask, 4u);
  EXPECT_EQ(found.plan.functions[1].when_class, 2u);
  EXPECT_THAT(found.obstacles, IsEmpty());
}

TEST(PlanRenumber, ReasonsKeepTheirNumbersAndNewOnesFollow) {
  Plan now, next;
  now.reasons = {{"late", ReasonCause::kPacket, "x"}, {"rude", ReasonCause::kPolicy, ""}};
  next.reasons = {{"new", ReasonCause::kLoss, "y"}, {"rude", ReasonCause::kLoss, "other"}};
  const Renumbered found = renumbered(now, next);
  EXPECT_THAT(found.obstacles, IsEmpty());
  ASSERT_EQ(found.plan.reasons.size(), 3u);
  EXPECT_EQ(found.plan.reasons[0].name, "late");
  EXPECT_EQ(found.plan.reasons[1].name, "rude");
  EXPECT_EQ(found.plan.reasons[1].cause, ReasonCause::kPolicy) << "as long as it runs";
  EXPECT_EQ(found.plan.reasons[2].name, "new");
  EXPECT_EQ(found.plan.reasons[2].cause, ReasonCause::kLoss);
  for (std::size_t i = 0; i < kDeclaredReasonCountMax; ++i) {
    now.reasons.push_back({.name = "r" + std::to_string(i)});
  }
  EXPECT_THAT(renumbered(now, next).obstacles,
              ElementsAre("drop reasons of functions: more than 28 names since the start"));
}

TEST(PlanRenumber, WhatCannotFollowIsNamed) {
  const Plan now = plan_with_functions({{.name = "a", .class_mask = 3}}, {"x", "y"});
  const Plan turned = plan_with_functions({{.name = "a", .class_mask = 3}}, {"y", "x"});
  EXPECT_THAT(renumbered(now, turned).obstacles, ElementsAre(HasSubstr("function a: its classes")));
  Plan many, others;
  for (std::uint32_t i = 0; i < kFunctionPlaceMax; ++i) {
    many.functions.push_back({.name = "f" + std::to_string(i), .gone = true});
  }
  others.functions = {{.name = "f31"}};
  EXPECT_THAT(renumbered(many, others).obstacles, IsEmpty());
  others.functions = {{.name = "g"}};
  EXPECT_THAT(renumbered(many, others).obstacles,
              ElementsAre("functions: more than 32 names since the start"));
  many = plan_with_functions({}, std::vector<std::string>(kClassCountMax, "x"));
  EXPECT_THAT(renumbered(many, plan_with_functions({}, {"y"})).obstacles,
              ElementsAre("classes: more than 32 names since the start"));
}

}  // namespace
}  // namespace millrace
