// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "orchestration/planner/plan_printer.hpp"
#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

/// A gpu group behind `front` (2 at start, 4 at most), beside `deep`; 64 slots.
Plan split(const std::string& keys, const std::string& on = "[g, deep]") {
  return plan_of(with_ports(
      "workers: {front: {kind: classifier, count: 2, max: 4}, deep: {kind: classifier}, g: {kind: "
      "gpu" +
      keys + "}}\nfunctions:\n  x: {type: plain, on: front}\n  m: {type: match, rules: r, on: " +
      on + "}\npaths: {p: {from: a, to: b, run: [x, m], slots: 64}}\n"));
}

TEST(PlanSplits, TheGroupBesideIsTheStandIn) {
  EXPECT_EQ(split("").groups[2].stand_in, 1u);
  EXPECT_EQ(split("", "g").groups[2].stand_in, 0u);
  EXPECT_FALSE(splits(split("", "g").groups[2]));
}

TEST(PlanSplits, HalfOfTheSlotsOfEachInFrontUnlessSaid) {
  const PlanGroup group = split("").groups[2];
  EXPECT_EQ(group.spill, 16u) << "64 slots, two workers in front at the start";
  EXPECT_EQ(group.offload, 100u);
  const PlanGroup said = split(", offload: 70, spill: 5").groups[2];
  EXPECT_EQ(said.spill, 5u);
  EXPECT_EQ(said.offload, 70u);
}

TEST(PlanSplits, ThePlanSaysSo) {
  EXPECT_NE(plan_text(split(", offload: 70, spill: 5"))
                .find("stand-in deep, which takes 30 % of the batches and what a producer has "
                      "beyond 5 batches at the GPU"),
            std::string::npos);
}

TEST(PlanSplits, AMeasuredShareHasNoOtherLimitUnlessSaid) {
  const Plan plan = split(", offload: auto");
  EXPECT_TRUE(is_balanced(plan.groups[2]));
  EXPECT_EQ(plan.groups[2].spill, plan.slot_count);
  EXPECT_EQ(split(", offload: auto, spill: 5").groups[2].spill, 5u);
  EXPECT_FALSE(is_balanced(split("").groups[2]));
  EXPECT_FALSE(is_balanced(split("", "g").groups[2]));
  const auto groups_of = [](const std::string& keys) {
    return nlohmann::json::parse(plan_json(split(keys)))["groups"];
  };
  EXPECT_EQ(groups_of(", offload: auto")[2]["offload"], "auto");
  EXPECT_EQ(groups_of(", offload: 70")[2]["offload"], 70);
  EXPECT_FALSE(groups_of(", offload: 70")[0].contains("offload"));
  EXPECT_NE(plan_text(plan).find("stand-in deep, which takes as many of the batches as both are "
                                 "measured to need"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace
