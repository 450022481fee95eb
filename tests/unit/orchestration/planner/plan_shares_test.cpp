// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "orchestration/planner/plan_printer.hpp"
#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

/// `x` and `y` on group c, then `z` on group d; `keys` for x and y.
std::string shares(const std::string& x, const std::string& y, const std::string& z,
                   const std::string& path = "") {
  return with_ports(
      "workers: {c: {kind: classifier, count: 3}, d: {kind: classifier}, g: {kind: gpu}}\n"
      "functions:\n  x: {type: plain, on: c" +
      x + "}\n  y: {type: plain, on: c" + y + "}\n  z: {type: plain, on: d" + z +
      "}\n  m: {type: match, rules: r, on: g}\n"
      "paths: {p: {from: a, to: b, run: [x, y, z]" +
      path + "}}\n");
}

TEST(PlanShares, FollowNeedUnlessSaid) {
  const Plan plan = plan_of(shares(", overload: pass", ", overload: drop", ""));
  ASSERT_EQ(plan.stages.size(), 2u);
  EXPECT_EQ(plan.stages[0].share, 8u);
  EXPECT_EQ(plan.stages[0].lane_share, 8u);
  EXPECT_EQ(plan.stages[1].share, 0u);
  EXPECT_NE(plan_text(plan).find("c: share of 8 batches (8 a lane) from each in front of it, 8 in "
                                 "all, 512 packets: a packet waits at most 512 us at 1 Mpps"),
            std::string::npos);
  EXPECT_EQ(
      plan_of(shares(", overload: pass", ", overload: pass", "", ", lanes: 12")).stages[0].share,
      24u);
}

TEST(PlanShares, OfAGpuCoverItsHandOver) {
  std::string text = shares("", "", "");
  text.replace(text.find("rules: r"), 8, "rules: r, overload: drop");
  text.replace(text.find("[x, y, z]"), 9, "[m]");
  EXPECT_EQ(plan_of(text).stages[0].share, 16u);
}

TEST(PlanShares, AreNoneWhereOneFunctionOfTheStageWaits) {
  EXPECT_EQ(plan_of(shares(", overload: pass", "", "")).stages[0].share, 0u);
}

TEST(PlanShares, AreTheLargestThatIsSaidAndDividedAmongTheWorkersInFront) {
  const Plan plan = plan_of(shares(", overload: pass, share: 3", ", overload: pass, share: 5",
                                   ", overload: pass, share: 13"));
  EXPECT_EQ(plan.stages[0].share, 5u);
  EXPECT_EQ(plan.stages[1].share, 5u);  // 13 among three, rounded up
  EXPECT_NE(plan_text(plan).find("d: share of 5 batches (5 a lane) from each in front of it, 15 in "
                                 "all"),
            std::string::npos);
}

TEST(PlanShares, GiveOneLaneOfSeveralNoMoreThanHalf) {
  const PlanStage stage =
      plan_of(shares(", overload: pass, share: 9", ", overload: pass", "", ", lanes: 2")).stages[0];
  EXPECT_EQ(stage.share, 9u);
  EXPECT_EQ(stage.lane_share, 5u);
}

TEST(PlanShares, HaveTwoBatchesALaneAndLessThanTheSlots) {
  EXPECT_EQ(plan_of(shares(", overload: pass", ", overload: pass", "", ", lanes: 12, slots: 30"))
                .stages[0]
                .share,
            24u);
  EXPECT_EQ(
      plan_of(shares(", overload: pass", ", overload: pass", "", ", slots: 10")).stages[0].share,
      5u);
  EXPECT_EQ(wrong(shares(", overload: pass, share: 7", ", overload: pass", "", ", lanes: 4")),
            "5:50: found 7 batches as share, with 4 lanes; allowed: at least 8 (two a lane)");
  EXPECT_EQ(wrong(shares(", overload: pass, share: 16", ", overload: pass", "", ", slots: 16")),
            "5:50: found 16 batches as share, with 1 lanes and 16 slots; allowed: at least 2 (two "
            "a lane), less than the slots");
  EXPECT_EQ(wrong(shares(", share: 4", "", "")),
            "5:6: found no 'overload' in 'x'; allowed: 'overload: pass' or 'overload: drop' beside "
            "'share'");
}

TEST(PlanShares, MakeRoomForWhatGoesPast) {
  EXPECT_EQ(plan_of(shares("", "", "")).streams[0].slot_count, 16u);
  const auto slots = [](const std::string& share) {
    return plan_of(shares(", overload: pass" + share, ", overload: pass", ""))
        .streams[0]
        .slot_count;
  };
  EXPECT_EQ(slots(""), 32u);
  EXPECT_EQ(slots(", share: 20"), 80u);
}

TEST(PlanShares, LetAPathRefuseWhereItDropsOrIsNotAlone) {
  const auto slots_max = [](const std::string& text) {
    std::vector<std::uint32_t> all;
    const Plan plan = plan_of(text);
    for (const PlanStreamPath& at : plan.streams[0].paths) all.push_back(at.slots_max);
    return all;
  };
  using List = std::vector<std::uint32_t>;
  const std::string one = shares(", overload: pass", ", overload: pass", "");
  EXPECT_EQ(slots_max(one), List{0});
  EXPECT_EQ(slots_max(shares(", overload: pass", ", overload: drop", "")), List{31});
  std::string two = one;
  two.replace(two.find("p: {from"), 8, "q: {from: a, to: b, match: tcp, run: [z]}, p: {from");
  EXPECT_EQ(slots_max(two), (List{0, 31}));
  const Plan plan = plan_of(two);
  EXPECT_EQ(plan.streams[0].slot_count, 48u);
  EXPECT_NE(plan_text(plan).find("path p uses at most 31 slots; what comes then is refused"),
            std::string::npos);
}

TEST(PlanShares, CannotLetPassWhatAGpuAnnounces) {
  const std::string text = shares("", "", ", unavailable: pass");
  const std::size_t run = text.find("[x, y, z]");
  EXPECT_EQ(wrong(std::string(text).replace(run, 9, "[x, m, z]")),
            "7:3: found 'z' right behind gpu group 'g' with 'unavailable' or 'overload'; allowed: "
            "'wait' for both, or another place in path 'p'");
  EXPECT_EQ(wrong(std::string(text).replace(run, 9, "[m, x, z]")), "");
}

TEST(PlanShares, LinksLeadPastStagesThatMayBeSkipped) {
  const auto linked = [](const Plan& plan, const std::string& from, const std::string& to) {
    for (const PlanLink& link : plan.links) {
      if (link_name(plan, link) == from + "_" + to) return true;
    }
    return false;
  };
  const Plan first = plan_of(shares(", overload: pass", ", overload: pass", ""));
  EXPECT_TRUE(linked(first, "ingress.a.0", "d.0"));
  EXPECT_FALSE(linked(first, "ingress.a.0", "egress.0"));
  const Plan both =
      plan_of(shares(", unavailable: pass", ", unavailable: drop", ", overload: pass"));
  EXPECT_TRUE(linked(both, "ingress.a.0", "egress.0"));
  EXPECT_FALSE(linked(plan_of(shares("", "", "")), "ingress.a.0", "d.0"));
}

}  // namespace
}  // namespace millrace
