// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/post.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>

#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

using std::chrono::milliseconds;

class PostTest : public testing::Test {
 protected:
  Post& post(const std::string& name) {
    for (Post& post : posts_) {
      if (post.name == name) return post;
    }
    throw std::out_of_range(name);
  }
  /// A process sits there.
  static void occupy(Seat& seat) {
    seat.child = Child::start({"/bin/sleep", {"100"}}, "/dev/null");
  }
  static void leave(Seat& seat) {
    seat.child->signal(SIGKILL);
    seat.child->wait(10'000);
    seat.child.reset();
  }
  std::optional<std::size_t> to_start(const Post& post) const {
    return seat_to_start(
        post, [&](const Seat& seat) { return states_.at(seat.actor); }, now_);
  }

  PostTest() {
    for (std::uint32_t actor = 0; actor < 8; ++actor) states_[actor] = ActorState::kVacant;
  }
  ~PostTest() override {
    for (Post& post : posts_) {
      for (Seat& seat : post.seats) {
        if (seat.child) leave(seat);
      }
    }
  }

  Plan plan_ = test::small_plan("post");
  std::vector<Post> posts_ = make_posts(plan_, RestartLimits{});
  std::map<std::uint32_t, ActorState> states_;
  RestartPolicy::Time now_{std::chrono::hours(1)};
};

TEST_F(PostTest, IsOneForEachPartAndTheTwoLivesOfAGpuWorkerShareOne) {
  std::vector<std::string> names;
  for (const Post& post : posts_) names.push_back(post.name);
  EXPECT_THAT(names, testing::ElementsAre("hub", "standby", "ingress.lan.0", "front.0", "front.1",
                                          "gpu.0.a", "egress.0", "telemetry"));
  ASSERT_EQ(post("gpu.0.a").seats.size(), 2U);
  EXPECT_EQ(post("gpu.0.a").seats[1].actor, 6U);
  EXPECT_EQ(post("telemetry").seats[0].actor, kNoActor);
  EXPECT_FALSE(post("telemetry").kind);
}

TEST_F(PostTest, EventsHaveOneWhereTheTopologyHasThem) {
  plan_.events = PlanEvents{};
  const std::vector<Post> posts = make_posts(plan_, RestartLimits{});
  ASSERT_EQ(posts.size(), posts_.size() + 1);
  EXPECT_EQ(posts[posts.size() - 2].name, "events");
  EXPECT_FALSE(posts[posts.size() - 2].kind);
  EXPECT_EQ(posts.back().name, "telemetry") << "starts last";
}

TEST_F(PostTest, AStandbyIsStartedAsItsSeatIsOnceTheHubHasGone) {
  Post& standby = post("standby");
  standby.wish = Wish::kUp;
  const auto starts = [&](bool hub_gone) {
    return seat_to_start(
               standby, [](const Seat&) { return ActorState::kAlive; }, now_, hub_gone)
        .has_value();
  };
  EXPECT_FALSE(starts(false)) << "the hub makes the seat vacant";
  EXPECT_TRUE(starts(true));
}

TEST_F(PostTest, PacketsCannotBeMovedOnceAnIngressOrEgressIsGivenUp) {
  const auto give_up = [&](const char* name) {
    post(name).wish = Wish::kUp;
    for (std::uint32_t i = 0; i <= RestartLimits{}.count_max; ++i) {
      post(name).policy.started(now_);
      post(name).policy.ended(now_);
    }
    ASSERT_TRUE(post(name).policy.given_up());
  };
  give_up("front.0");
  EXPECT_FALSE(cannot_move_packets(posts_));
  give_up("egress.0");
  EXPECT_TRUE(cannot_move_packets(posts_));
  post("egress.0").wish = Wish::kDown;
  EXPECT_FALSE(cannot_move_packets(posts_));
}

TEST_F(PostTest, IsNotStartedUnlessWanted) {
  EXPECT_FALSE(to_start(post("front.1")));
  post("front.1").wish = Wish::kDraining;
  EXPECT_FALSE(to_start(post("front.1")));
  post("front.1").wish = Wish::kUp;
  EXPECT_EQ(to_start(post("front.1")), 0U);
}

TEST_F(PostTest, WaitsUntilItsLastLifeIsRecovered) {
  post("front.0").wish = Wish::kUp;
  for (const ActorState state : {ActorState::kAlive, ActorState::kFenced, ActorState::kReclaiming,
                                 ActorState::kQuarantined, ActorState::kStarting}) {
    states_[3] = state;
    EXPECT_FALSE(to_start(post("front.0"))) << static_cast<int>(state);
  }
  states_[3] = ActorState::kVacant;
  EXPECT_TRUE(to_start(post("front.0")));
}

TEST_F(PostTest, WaitsForItsDelay) {
  Post& front = post("front.0");
  front.wish = Wish::kUp;
  front.policy.started(now_);
  front.policy.ended(now_);
  EXPECT_FALSE(to_start(front));
  now_ += milliseconds(50);
  EXPECT_TRUE(to_start(front));
}

TEST_F(PostTest, IsNotStartedWhileItsProcessLives) {
  Post& front = post("front.0");
  front.wish = Wish::kUp;
  occupy(front.seats[0]);
  EXPECT_FALSE(to_start(front));
  states_[3] = ActorState::kFenced;
  EXPECT_FALSE(to_start(front)) << "the hub kills it; its entry becomes vacant after its exit";
}

TEST_F(PostTest, NeverStartsTheHubAgain) {
  post("hub").wish = Wish::kUp;
  EXPECT_FALSE(to_start(post("hub")));
}

TEST_F(PostTest, StartsTelemetryWithoutAskingTheStatusFile) {
  post("telemetry").wish = Wish::kUp;
  EXPECT_EQ(to_start(post("telemetry")), 0U);
}

TEST_F(PostTest, PutsTheTwinInPlaceOfAGpuWorkerThatIsFencedAndStillExits) {
  Post& gpu = post("gpu.0.a");
  gpu.wish = Wish::kUp;
  gpu.policy.started(now_);
  occupy(gpu.seats[0]);
  states_[5] = ActorState::kAlive;
  EXPECT_FALSE(to_start(gpu));
  for (const ActorState state : {ActorState::kFenced, ActorState::kQuarantined}) {
    states_[5] = state;
    EXPECT_EQ(to_start(gpu), 1U) << static_cast<int>(state);
  }
  states_[6] = ActorState::kReclaiming;
  EXPECT_FALSE(to_start(gpu)) << "the twin's own last life is not recovered";
}

TEST_F(PostTest, StartsAGpuTwinWithoutDelayUnlessLivesAreShort) {
  Post& gpu = post("gpu.0.a");
  gpu.wish = Wish::kUp;
  gpu.policy.started(now_);
  now_ += milliseconds(2000);
  gpu.policy.ended(now_);
  EXPECT_EQ(to_start(gpu), 1U);
  gpu.current = 1;
  gpu.policy.started(now_);
  gpu.policy.ended(now_);
  EXPECT_FALSE(to_start(gpu));
  now_ += milliseconds(100);
  EXPECT_EQ(to_start(gpu), 0U);
}

TEST_F(PostTest, IsNotStartedOnceGivenUp) {
  Post& front = post("front.0");
  front.wish = Wish::kUp;
  front.policy = RestartPolicy({.count_max = 1});
  for (int life = 0; life < 2; ++life) {
    front.policy.started(now_);
    now_ += milliseconds(1000);
    front.policy.ended(now_);
  }
  now_ += std::chrono::hours(1);
  EXPECT_FALSE(to_start(front));
}

}  // namespace
}  // namespace millrace
