// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/plan_equal.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

TEST(PlanEqual, LooksAtItemsInListsAndAtWhatMayBeMissing) {
  const Plan plan = test::plan_of_text(test::kTwoPaths);
  EXPECT_TRUE(same_plan_value(plan, plan));

  Plan other = plan;
  other.streams.back().paths.back().slots_max += 1;
  EXPECT_FALSE(same_plan_value(plan, other)) << "an item of an item";

  other = plan;
  other.groups.front().autoscale.max = 4;
  EXPECT_FALSE(same_plan_value(plan, other)) << "a struct in an item";

  other = plan;
  other.links.pop_back();
  EXPECT_FALSE(same_plan_value(plan, other)) << "one item fewer";

  other = plan;
  other.events.emplace();
  EXPECT_FALSE(same_plan_value(plan, other)) << "there is one";
  Plan third = other;
  EXPECT_TRUE(same_plan_value(third, other));
  third.events->ipfix.emplace();
  EXPECT_FALSE(same_plan_value(third, other)) << "in one that both have";
}

}  // namespace
}  // namespace millrace
