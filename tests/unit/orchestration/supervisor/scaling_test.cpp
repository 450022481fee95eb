// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/scaling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "shared/base/error.hpp"
#include "tests/unit/orchestration/supervisor/scripts.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::ElementsAre;

class ScalingTest : public testing::Test {
 protected:
  ScalingTest() {
    char pattern[] = "/tmp/millrace-scaling-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    make_run_dir(folder_ + "/run");
    test::write_scripts(folder_);
    memory_ = Mapping::create_status(status_file_name(plan_.name), status_layout(plan_).bytes);
    view_ = StatusView::create(memory_.base(), plan_, 1'000'000'000);
    fleet_ = std::make_unique<Fleet>(plan_, FleetPlace{folder_, folder_ + "/run", {}},
                                     [](const Event&) {});
    fleet_->attach_status();
    scaling_ = std::make_unique<Scaling>(plan_, *fleet_, [this](std::uint32_t actor) {
      asked_.push_back(plan_.actors[actor].name);
    });
  }
  ~ScalingTest() override {
    fleet_->stop([](const Post&) { return true; }, milliseconds(0));
    destroy_shared_memory(plan_.name);
    fs::remove_all(folder_);
  }
  void set(std::uint32_t actor, ActorState state) {
    view_.actor(actor).state = static_cast<std::uint32_t>(state);
  }
  std::string error_of(const std::vector<GroupCount>& wanted) const {
    try {
      static_cast<void>(scaling_->check(wanted));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  Plan plan_ = test::small_plan("scaling-" + std::to_string(::getpid()));
  std::string folder_;
  Mapping memory_;
  StatusView view_;
  std::unique_ptr<Fleet> fleet_;
  std::vector<std::string> asked_;
  std::unique_ptr<Scaling> scaling_;
};

TEST_F(ScalingTest, RefusesWhatCannotBe) {
  EXPECT_EQ(error_of({{"frnt", 1}}),
            "no group 'frnt'; there are: front, gpu; did you mean 'front'?");
  EXPECT_EQ(error_of({{"gpu", 1}, {"front", 3}}), "group 'front' can have 1 to 2 workers, not 3");
  EXPECT_EQ(error_of({{"front", 0}}), "group 'front' can have 1 to 2 workers, not 0");
  EXPECT_EQ(error_of({{"front", 1}, {"front", 2}}), "group 'front' is named twice");
  plan_.fused = true;
  EXPECT_THAT(error_of({{"front", 2}}), testing::HasSubstr("does not scale"));
}

TEST_F(ScalingTest, UpIsDoneWhenAllAreAlive) {
  scaling_->begin(scaling_->check({{"front", 2}}));
  EXPECT_EQ(scaling_->wanted_count(0), 2u);
  fleet_->tend();
  EXPECT_FALSE(scaling_->tend(Scaling::Clock::now()));
  set(3, ActorState::kAlive);
  set(4, ActorState::kAlive);
  EXPECT_TRUE(scaling_->tend(Scaling::Clock::now()));
  EXPECT_FALSE(scaling_->idle());
  scaling_->forget();
  EXPECT_TRUE(scaling_->idle());
}

TEST_F(ScalingTest, ToTheSameNumberTriesAgainWhoWasGivenUp) {
  scaling_->begin(scaling_->check({{"front", 2}}));
  RestartPolicy* policy = nullptr;
  for (Post& post : fleet_->posts()) {
    if (post.name == "front.1") policy = &post.policy;
  }
  ASSERT_NE(policy, nullptr);
  const auto now = Scaling::Clock::now();
  while (!policy->given_up()) {
    policy->started(now);
    policy->ended(now);
  }
  scaling_->begin(scaling_->check({{"front", 2}}));
  EXPECT_FALSE(policy->given_up());
}

TEST_F(ScalingTest, DownAsksTheLeaderAndWaitsForTheEnd) {
  scaling_->begin(scaling_->check({{"front", 2}}));
  fleet_->tend();
  set(3, ActorState::kAlive);
  set(4, ActorState::kAlive);
  scaling_->begin(scaling_->check({{"front", 1}}));
  EXPECT_THAT(asked_, ElementsAre("front.1"));
  EXPECT_FALSE(scaling_->tend(Scaling::Clock::now()));
  EXPECT_FALSE(scaling_->tend(Scaling::Clock::now() + std::chrono::seconds(2)));
  EXPECT_THAT(asked_, ElementsAre("front.1", "front.1")) << "the leader may be another one";
  for (Post& one : fleet_->posts()) {
    if (one.name == "front.1") one.seat().child->signal(SIGTERM);
  }
  for (int i = 0; i < 500 && !scaling_->tend(Scaling::Clock::now()); ++i) {
    fleet_->reap();
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_TRUE(scaling_->tend(Scaling::Clock::now()));
}

TEST_F(ScalingTest, SaysThatItTakesTooLong) {
  scaling_->begin(scaling_->check({{"front", 2}}));
  EXPECT_THROW(scaling_->tend(Scaling::Clock::now() + std::chrono::minutes(1)), Error);
}

}  // namespace
}  // namespace millrace
