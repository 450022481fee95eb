// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/autoscaling.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "orchestration/supervisor/following.hpp"
#include "shared/metrics/counter_ids.hpp"
#include "tests/unit/orchestration/supervisor/fleet_fixture.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

class AutoscalingTest : public test::FleetFixture {
 protected:
  AutoscalingTest() : FleetFixture(test::small_plan("autoscaling-" + std::to_string(::getpid()))) {
    plan_.groups[0].autoscale = {.min = 1, .max = 2, .up = 70, .down = 30};
    view_.actor(3).state = static_cast<std::uint32_t>(ActorState::kAlive);
    for (Post& post : fleet_->posts()) {
      if (post.name == "front.0") post.wish = Wish::kUp;
    }
  }
  /// A look a second later, in which the worker has been busy all the time.
  std::optional<ChangeRequest> look(bool busy = false) {
    view_.counters(3)[static_cast<std::size_t>(Counter::kBusyCycles)] += 1'000'000;
    now_ += std::chrono::seconds(2);
    return autoscaling_.look(now_, busy);
  }

  Scaling scaling_{plan_, *fleet_, [](std::uint32_t) {}, "test"};
  Autoscaling autoscaling_{plan_, *fleet_, scaling_};
  Autoscaling::Clock::time_point now_ = Autoscaling::Clock::now();
};

TEST_F(AutoscalingTest, AsksForOneMoreWhenAllAreBusyForSomeLooks) {
  std::optional<ChangeRequest> wanted;
  int looks = 0;
  for (; !wanted && looks < 10; ++looks) wanted = look();
  ASSERT_TRUE(wanted);
  EXPECT_EQ(looks, Autoscaler::kUpLooks + 1) << "the first one has nothing to compare with";
  EXPECT_EQ(wanted->what, "autoscale front=2");
  ASSERT_EQ(wanted->scale.size(), 1u);
  EXPECT_EQ(wanted->scale[0].count, 2u);
}

TEST_F(AutoscalingTest, WhileSomethingElseChangesItBeginsAnew) {
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(look(i % 3 == 2)) << i;
}

TEST_F(AutoscalingTest, TablesThatFollowNothingAreLeftAlone) {
  StateFile state(folder_ + "/run");
  TableSwitch tables(plan_, *fleet_, state, {folder_, folder_ + "/run", {}});
  RouteFollowing following(plan_, state, tables, [](const Event&) { FAIL(); });
  following.begin_due();
  EXPECT_FALSE(following.is_under_way());
  EXPECT_TRUE(tables.idle());
}

}  // namespace
}  // namespace millrace
