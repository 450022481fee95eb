// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/upgrade_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "shared/base/error.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;

class UpgradePlanTest : public testing::Test {
 protected:
  UpgradePlanTest() : posts_(make_posts(plan_, {})) {
    for (Post& post : posts_) {
      post.wish = post.name == "front.1" ? Wish::kDown : Wish::kUp;
    }
    posts_[0].seat().child = Child::start({"/bin/sleep", {"60"}}, "/dev/null");
  }
  ~UpgradePlanTest() override { end_hub(); }
  void end_hub() {
    std::optional<Child>& hub = posts_[0].seat().child;
    if (hub) hub->signal(SIGKILL);
    if (hub) hub->wait(10'000);
    hub.reset();
  }
  Post& post(const std::string& name) { return *std::ranges::find(posts_, name, &Post::name); }
  std::vector<std::string> steps() const {
    std::vector<std::string> words;
    for (const UpgradeStep& step : plan_upgrade(plan_, posts_, "edge --run-dir /r").steps) {
      const char* kinds[] = {"replace ", "end ", "start ", "drain "};
      words.push_back(kinds[static_cast<int>(step.kind)] + posts_[step.post].name +
                      (step.drain ? " drained" : ""));
    }
    return words;
  }
  Plan plan_ = test::small_plan("upgrade-plan");
  std::vector<Post> posts_;
};

TEST_F(UpgradePlanTest, TheOnlyWorkerOfAGroupHasHelpMeanwhileWhereThereIsRoom) {
  EXPECT_THAT(steps(), ElementsAre("start front.1", "replace front.0 drained", "drain front.1",
                                   "replace gpu.0.a drained", "replace ingress.lan.0",
                                   "replace egress.0", "end standby", "replace hub",
                                   "start standby", "end telemetry", "start telemetry"));
}

TEST_F(UpgradePlanTest, SeveralWorkersHelpEachOther) {
  post("front.1").wish = Wish::kUp;
  EXPECT_THAT(steps(),
              testing::IsSupersetOf({"replace front.0 drained", "replace front.1 drained"}));
  EXPECT_THAT(steps(), testing::Not(testing::Contains(testing::StartsWith("start front"))));
}

TEST_F(UpgradePlanTest, LanesThatNobodyElseCouldTakeStayWithTheirWorker) {
  plan_.stages.push_back({.group = 0, .stateful = true});
  post("front.1").wish = Wish::kDraining;  // no room
  EXPECT_THAT(steps(), testing::Contains("replace front.0"));
  post("front.1").wish = Wish::kUp;
  EXPECT_THAT(steps(), testing::Contains("replace front.0 drained"));
}

TEST_F(UpgradePlanTest, WhoeverMovesPacketsIsOneProcessWhenFused) {
  plan_.fused = true;
  end_hub();
  posts_ = make_posts(plan_, {});
  for (Post& post : posts_) post.wish = Wish::kUp;
  posts_[0].seat().child = Child::start({"/bin/sleep", {"60"}}, "/dev/null");
  EXPECT_THAT(steps(), ElementsAre("replace ingress.lan.0", "end standby", "replace hub",
                                   "start standby", "end telemetry", "start telemetry"));
}

TEST_F(UpgradePlanTest, AHubThatOwnsDevicesStays) {
  plan_.ports[0].device = "dpdk";
  EXPECT_THAT(steps(), testing::Not(testing::Contains("replace hub")));
  EXPECT_THAT(plan_upgrade(plan_, posts_, "edge --run-dir /r").remarks,
              ElementsAre(testing::HasSubstr("dpdk")));
}

TEST_F(UpgradePlanTest, WithoutHubARestartIsDue) {
  end_hub();
  try {
    plan_upgrade(plan_, posts_, "edge --run-dir /r");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("millrace down edge --run-dir /r and"));
  }
}

}  // namespace
}  // namespace millrace
