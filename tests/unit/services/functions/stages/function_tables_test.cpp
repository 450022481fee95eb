// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/stages/function_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "services/functions/table.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

/// Functions without tables will do: which editions are made is all that counts here.
constexpr const char* kTablesTopology = R"(
millrace: 1
name: tables
ports: { a: { device: "null" }, b: { device: "null" } }
workers: { deep: { kind: classifier, dispatch: flow }, other: { kind: classifier } }
functions: { watch: { type: record, on: deep }, again: { type: record, on: deep } }
paths: { one: { from: [a], run: [watch, again], lanes: 2 } }
)";

class FunctionTablesTest : public ::testing::Test {
 protected:
  FunctionTablesTest()
      : plan_(make_plan(parse_topology(kTablesTopology, "t.yaml", known_functions()),
                        known_functions(), Host{})),
        memory_(Mapping::create_anonymous(status_layout(plan_).bytes)),
        status_(StatusView::create(memory_.base(), plan_, 1'000'000'000)) {}
  ActorContext context(const std::string& name) const {
    for (std::uint16_t i = 0; i < plan_.actors.size(); ++i) {
      if (plan_.actors[i].name == name) return {&plan_, {}, status_, {i, 1}};
    }
    std::abort();
  }
  /// `watch` has another edition beside the present one.
  Plan with_other(std::uint32_t edition) const {
    Plan plan = plan_;
    plan.others = {{0, plan.functions[0]}};
    plan.others[0].function.edition = edition;
    return plan;
  }

  Plan plan_;
  Mapping memory_;
  StatusView status_;
};

TEST_F(FunctionTablesTest, AStageHasARunnerForEachEdition) {
  const auto tables = make_function_tables(context("deep.0"), with_other(7), nullptr);
  ASSERT_EQ(tables->stages.size(), 1u);
  EXPECT_EQ(tables->runner(0, 0), &tables->runner(0));
  EXPECT_NE(tables->runner(0, 7), nullptr);
  EXPECT_NE(tables->runner(0, 7), tables->runner(0, 0));
  EXPECT_EQ(tables->runner(0, 6), nullptr);
  EXPECT_EQ(tables->functions[0].size(), 2u);
  EXPECT_EQ(tables->functions[1].size(), 1u) << "it is the same in both";
}

TEST_F(FunctionTablesTest, WhatIsThereAlreadyIsNotMadeAgain) {
  const auto before = make_function_tables(context("deep.0"), plan_, nullptr);
  const auto after = make_function_tables(context("deep.0"), with_other(7), before.get());
  EXPECT_EQ(after->functions[0][0].function, before->functions[0][0].function);
  EXPECT_EQ(after->functions[1][0].function, before->functions[1][0].function);
  EXPECT_NE(after->functions[0][1].function, before->functions[0][0].function);
}

/// By the plan of a build whose function declared less.
TEST(FunctionTables, AFunctionWhoseReasonsThePlanDoesNotNumberIsNotMade) {
  const std::string text =
      "{millrace: 1, name: t, ports: {a: {device: \"null\"}, b: {device: \"null\"}}, functions: "
      "{m: "
      "{type: match, rules: x}}, paths: {one: {from: [a], run: [m]}}}";
  Plan plan = make_plan(parse_topology(text, "t.yaml", known_functions()), known_functions(), {});
  ASSERT_EQ(plan.reasons.size(), 1u);
  EXPECT_EQ(plan.reasons[0].name, "rule");
  plan.reasons.clear();
  const Mapping memory = Mapping::create_anonymous(status_layout(plan).bytes);
  const StatusView status = StatusView::create(memory.base(), plan, 1'000'000'000);
  const auto at = std::ranges::find(plan.actors, ActorKind::kClassifier, &PlanActor::kind);
  const ActorContext context{
      &plan, {}, status, {static_cast<std::uint16_t>(at - plan.actors.begin()), 1}};
  try {
    make_function_tables(context, plan, nullptr);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("function m: drop reason 'rule' has no number"));
  }
}

TEST_F(FunctionTablesTest, WhoDoesNotNeedAStageMakesNothingOfIt) {
  const auto tables = make_function_tables(context("other.0"), with_other(7), nullptr);
  EXPECT_TRUE(tables->stages[0].empty());
  EXPECT_TRUE(tables->functions[0].empty());
}

}  // namespace
}  // namespace millrace
