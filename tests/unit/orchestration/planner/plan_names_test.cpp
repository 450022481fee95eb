// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/plan_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

TEST(PlanNames, AFunctionIsFoundByItsName) {
  Plan plan;
  plan.functions.resize(2);
  plan.functions[0].name = "look";
  plan.functions[1].name = "route";
  EXPECT_EQ(function_named(plan, "route"), 1u);
  try {
    function_named(plan, "rout");
    FAIL() << "found";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("there are: look, route; did you mean 'route'?"));
  }
}

}  // namespace
}  // namespace millrace
