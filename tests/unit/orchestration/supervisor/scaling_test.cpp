// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/scaling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "shared/base/error.hpp"
#include "tests/unit/orchestration/supervisor/fleet_fixture.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

class ScalingTest : public test::FleetFixture {
 protected:
  ScalingTest() : FleetFixture(test::small_plan("scaling-" + std::to_string(::getpid()))) {}
  void set(std::uint32_t actor, ActorState state) {
    view_.actor(actor).state = static_cast<std::uint32_t>(state);
  }
  std::string error_of(const std::vector<GroupCount>& wanted) const {
    try {
      static_cast<void>(scaling_.check(wanted));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  std::vector<std::string> asked_;
  Scaling scaling_{plan_, *fleet_,
                   [this](std::uint32_t actor) { asked_.push_back(plan_.actors[actor].name); },
                   "test"};
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
  scaling_.begin(scaling_.check({{"front", 2}}));
  EXPECT_EQ(scaling_.wanted_count(0), 2u);
  fleet_->tend();
  EXPECT_FALSE(scaling_.tend(Scaling::Clock::now()));
  set(3, ActorState::kAlive);
  set(4, ActorState::kAlive);
  EXPECT_TRUE(scaling_.tend(Scaling::Clock::now()));
  EXPECT_FALSE(scaling_.idle());
  scaling_.forget();
  EXPECT_TRUE(scaling_.idle());
}

TEST_F(ScalingTest, ToTheSameNumberTriesAgainWhoWasGivenUp) {
  scaling_.begin(scaling_.check({{"front", 2}}));
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
  scaling_.forget();
  scaling_.begin(scaling_.check({{"front", 2}}));
  EXPECT_FALSE(policy->given_up());
}

TEST_F(ScalingTest, FailsAtOnceWithTheReasonOfAWorkerThatCannotStart) {
  const auto post = std::ranges::find(fleet_->posts(), "front.1", &Post::name);
  post->failed_starts = 7;  // of before
  scaling_.begin(scaling_.check({{"front", 2}}));
  post->failed_starts += 2;
  post->seat().note = "exited with 1";
  const auto now = Scaling::Clock::now();
  EXPECT_FALSE(scaling_.tend(now));
  ++post->failed_starts;
  try {
    scaling_.tend(now);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "not all workers are where they should be: front.1 exited with 1 at its start, 3 "
              "times; see millrace logs test front.1");
  }
}

TEST_F(ScalingTest, DownAsksTheLeaderAndWaitsForTheEnd) {
  scaling_.begin(scaling_.check({{"front", 2}}));
  fleet_->tend();
  set(3, ActorState::kAlive);
  set(4, ActorState::kAlive);
  scaling_.forget();
  scaling_.begin(scaling_.check({{"front", 1}}));
  EXPECT_THAT(asked_, ElementsAre("front.1"));
  EXPECT_FALSE(scaling_.tend(Scaling::Clock::now()));
  EXPECT_FALSE(scaling_.tend(Scaling::Clock::now() + std::chrono::seconds(2)));
  EXPECT_THAT(asked_, ElementsAre("front.1", "front.1")) << "the leader may be another one";
  for (Post& one : fleet_->posts()) {
    if (one.name == "front.1") one.seat().child->signal(SIGTERM);
  }
  for (int i = 0; i < 500 && !scaling_.tend(Scaling::Clock::now()); ++i) {
    fleet_->reap();
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_TRUE(scaling_.tend(Scaling::Clock::now()));
}

TEST_F(ScalingTest, SaysThatItTakesTooLong) {
  scaling_.begin(scaling_.check({{"front", 2}}));
  auto now = Scaling::Clock::now() + std::chrono::minutes(1);
  EXPECT_FALSE(scaling_.tend(now)) << "what stands still meanwhile has no chance";
  const auto end = now + std::chrono::minutes(1);
  const auto wait = [&] {
    for (; now < end; now += Patience::kLook) scaling_.tend(now);
  };
  EXPECT_THROW(wait(), Error);
}

}  // namespace
}  // namespace millrace
