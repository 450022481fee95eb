// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "orchestration/planner/loader.hpp"
#include "orchestration/planner/planning.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

PlanTranslation translation_of(const Settings&, const std::vector<PlanPort>& ports) {
  return {.inside = {static_cast<std::uint32_t>(ports.size() - 1)}, .pool = {{5, 9}}};
}

const KnownFunction kFlowFunctions[] = {
    {.type = "finds",
     .stateful = true,
     .lane_needs =
         [](const LaneRequest& request) {
           return LaneNeeds{1000 / request.lanes, request.batch_capacity};
         },
     .flows = FlowUse::kGives,
     .settings = {}},
    {.type = "uses", .flows = FlowUse::kNeeds, .settings = {}},
    {.type = "changes", .flows = FlowUse::kNeeds, .translation = translation_of, .settings = {}},
    {.type = "fails",
     .lane_needs = [](const LaneRequest&) -> LaneNeeds { throw Error("inside: no port"); },
     .flows = FlowUse::kNeeds,
     .translation = [](const Settings&, const std::vector<PlanPort>&) -> PlanTranslation {
       throw Error("inside: no port");
     },
     .settings = {}},
    {.type = "plain", .settings = {}},
};

Plan plan_of_flows(const std::string& rest) {
  const std::string text = with_ports(rest);
  return make_plan(parse_topology(text, "t.yaml", kFlowFunctions), kFlowFunctions, {});
}

std::string problem_of(const std::string& rest) {
  try {
    plan_of_flows(rest);
    return "";
  } catch (const TopologyError& error) {
    return error.what();
  }
}

const std::string kFunctionsText =
    "functions:\n  f: {type: finds}\n  u: {type: uses}\n  c: {type: changes}\n  p: {type: plain}\n";

TEST(PlanFlows, NeedOrder) {
  const auto problem = [](const std::string& run) {
    return problem_of(kFunctionsText + "paths: {m: {from: [a, b], order: none, run: [" + run +
                      "]}}\n");
  };
  EXPECT_EQ(problem("p"), "");
  EXPECT_NE(problem("p, f, u").find("'order: none' of a path with 'f' of type 'finds', which has "
                                    "state of flows; allowed: 'order: kept', or functions without "
                                    "state"),
            std::string::npos);
}

TEST(PlanFlows, DecideWhatLanesAreBy) {
  const auto lanes_by = [](const std::string& run) {
    return plan_of_flows(kFunctionsText + "paths: {m: {from: [a, b], run: [" + run + "]}}\n")
        .paths[0];
  };
  EXPECT_EQ(lanes_by("p").lanes_by, LanesBy::kFlow);
  EXPECT_EQ(lanes_by("f, u").lanes_by, LanesBy::kAddresses);
  EXPECT_EQ(lanes_by("f, u").translation, PlanTranslation{});
  EXPECT_EQ(lanes_by("p, f, c").lanes_by, LanesBy::kInside);
  EXPECT_EQ(lanes_by("f, c").translation.inside, std::vector<std::uint32_t>{1});
}

TEST(PlanFlows, SizeTheStateByTheLanesOfThePath) {
  const Plan plan =
      plan_of_flows(kFunctionsText + "paths: {m: {from: [a, b], run: [f], lanes: 4}}\n");
  EXPECT_EQ(plan.functions[0].lane_state_bytes, 250u);
  EXPECT_EQ(plan.functions[0].lane_undo_lines, 64u);
}

TEST(PlanFlows, TellWhereSettingsAreWrong) {
  const std::string run = "paths: {m: {from: [a, b], run: [f, w]}}\n";
  EXPECT_EQ(problem_of("functions:\n  f: {type: finds}\n  w: {type: fails}\n" + run),
            "t.yaml:5:3: found function 'w' that cannot be used (inside: no port)");
}

TEST(PlanFlows, RefuseAFunctionThatNobodyFindsFlowsFor) {
  EXPECT_EQ(problem_of(kFunctionsText + "paths: {m: {from: [a, b], run: [u, f]}}\n"),
            "t.yaml:5:3: found 'u' of type 'uses' with no 'flow' in front of it; allowed: a "
            "function of type 'flow' earlier in the path, on the same workers");
}

TEST(PlanFlows, RefuseASecondFunctionThatTranslates) {
  EXPECT_EQ(
      problem_of("functions:\n  f: {type: finds}\n  c: {type: changes}\n  d: {type: changes}\n"
                 "paths: {m: {from: [a, b], run: [f, c, d]}}\n"),
      "t.yaml:6:3: found 'd' in a path that another function translates in; allowed: one "
      "function that translates in a path");
}

TEST(PlanFlows, RefuseOneThatSeesHalfOfItsConnections) {
  EXPECT_EQ(
      problem_of(kFunctionsText + "paths: {m: {from: a, run: [f]}, n: {from: b, run: [f]}}\n"),
      "t.yaml:4:3: found 'f' in the paths 'm' and 'n', which do not see each other's "
      "connections; allowed: one path that has all ports in its 'from'");
}

}  // namespace
}  // namespace millrace
