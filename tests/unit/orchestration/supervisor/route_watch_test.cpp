// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/route_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RouteWatchTest : public test::VethTest {
 protected:
  RouteWatchTest() {
    plan_.functions = {{.name = "way", .type = "route", .settings = {{"routes", "kernel"}}},
                       {.name = "other", .type = "route", .settings = {{"table", "kernel"}}}};
  }
  /// Some seconds later each time.
  std::vector<std::string> look() {
    now_ += std::chrono::seconds(10);
    return watch_.due(now_);
  }
  /// Until nothing is due: the kernel tells of links and addresses on its own.
  void settle() {
    look();
    while (!look().empty()) watch_.done(now_, false);
  }

  Plan plan_;
  RouteWatch watch_{plan_};
  RouteWatch::Clock::time_point now_{};
};

TEST_F(RouteWatchTest, TheFirstBuildIsDueAtOnceThenAfterEachChange) {
  EXPECT_EQ(watch_.descriptor(), -1);
  EXPECT_THAT(look(), IsEmpty()) << "what comes together is built together";
  EXPECT_TRUE(watch_.pending());
  EXPECT_THAT(look(), ElementsAre("way"));
  watch_.done(now_, false);
  settle();
  EXPECT_GE(watch_.descriptor(), 0);
  EXPECT_FALSE(watch_.pending());
  for (const char* change : {"ip route add 10.7.0.0/16 dev here", "ip route del 10.7.0.0/16",
                             "ip -6 route add 2001:db8::/32 dev here", "ip link set here down"}) {
    shell(change);
    EXPECT_THAT(look(), IsEmpty()) << change;
    EXPECT_EQ(watch_.descriptor(), -1) << "it need not be read before the build";
    EXPECT_THAT(look(), ElementsAre("way")) << change;
    settle();
  }
}

TEST_F(RouteWatchTest, AChangeDuringABuildIsDueAfterIt) {
  settle();
  shell("ip route add 10.7.0.0/16 dev here");
  look();
  ASSERT_THAT(look(), ElementsAre("way"));
  shell("ip route add 10.8.0.0/16 dev here");
  watch_.done(now_, false);
  EXPECT_THAT(look(), IsEmpty());
  EXPECT_THAT(look(), ElementsAre("way"));
}

TEST_F(RouteWatchTest, BuildsLeaveEachOtherTheTimeThatTheyTake) {
  settle();
  shell("ip route add 10.7.0.0/16 dev here");
  look();
  ASSERT_THAT(look(), ElementsAre("way"));
  shell("ip route add 10.8.0.0/16 dev here");
  now_ += std::chrono::seconds(60);
  watch_.done(now_, false);
  for (int i = 0; i < 5; ++i) EXPECT_THAT(look(), IsEmpty());
  EXPECT_THAT(look(), ElementsAre("way"));
}

TEST_F(RouteWatchTest, WhatFailedIsTriedAgain) {
  settle();
  shell("ip route add 10.7.0.0/16 dev here");
  look();
  ASSERT_THAT(look(), ElementsAre("way"));
  watch_.done(now_, true);
  EXPECT_THAT(look(), ElementsAre("way"));
}

TEST_F(RouteWatchTest, ChangesThatTheKernelHasNoRoomToTellAreNoticed) {
  settle();
  shell(
      "for i in $(seq 0 249); do for j in $(seq 0 19); do echo route add 100.$((64+j)).$i.0/24 "
      "dev here; done; done | ip -batch -");
  look();
  EXPECT_THAT(look(), ElementsAre("way"));
  watch_.done(now_, false);
  EXPECT_THAT(look(), IsEmpty()) << "all of them were before the build";
}

TEST_F(RouteWatchTest, WithoutAFollowerNothingIsListenedTo) {
  plan_.functions[0].gone = true;
  EXPECT_THAT(look(), IsEmpty());
  EXPECT_THAT(look(), IsEmpty());
  EXPECT_EQ(watch_.descriptor(), -1);
  EXPECT_FALSE(watch_.pending());
  plan_.functions[0].gone = false;  // it comes back by a change of the topology
  look();
  EXPECT_THAT(look(), ElementsAre("way"));
}

}  // namespace
}  // namespace millrace
