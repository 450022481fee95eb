// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/actor/enrol.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "shared/base/error.hpp"
#include "shared/base/process.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using test::SmallWorld;

constexpr std::uint64_t kLong = 20'000'000'000;
constexpr std::uint64_t kShort = 5'000'000;
const auto kNever = [] { return false; };

class EnrolTest : public ::testing::Test {
 protected:
  EnrolTest() : actor_(world_.actor("front.1")), entry_(world_.entry("front.1")) {}
  Owner enrol_for(std::uint64_t limit_ns) {
    return enrol(world_.plan, world_.status, actor_, limit_ns, kNever);
  }
  std::string error_of(std::uint64_t limit_ns, const std::function<bool()>& give_up = kNever) {
    try {
      enrol(world_.plan, world_.status, actor_, limit_ns, give_up);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  /// Grants the next process that wants in, as the leader does.
  std::thread leader() {
    return std::thread([this] {
      while (world_.state_of("front.1") != ActorState::kStarting) std::this_thread::yield();
      entry_.state = static_cast<std::uint32_t>(ActorState::kAlive);
    });
  }
  SmallWorld world_;
  std::uint32_t actor_;
  ActorEntry& entry_;
};

TEST_F(EnrolTest, TheFirstLifeIsNumberOneAndNamesItsProcess) {
  std::thread granting = leader();
  const Owner me = enrol_for(kLong);
  granting.join();
  EXPECT_EQ(me, (Owner{static_cast<std::uint16_t>(actor_), 1}));
  EXPECT_EQ(entry_.pid, getpid());
  EXPECT_EQ(entry_.start_time, process_start_time(getpid()));
  EXPECT_GT(entry_.heartbeat_tsc, 0u);
}

TEST_F(EnrolTest, WhatTheLastLifeLeftInTheEntryIsGone) {
  entry_.incarnation = 6;
  entry_.acked_epoch = 99;
  entry_.sleeping = 1;
  std::thread granting = leader();
  const Owner me = enrol_for(kLong);
  granting.join();
  EXPECT_EQ(me.incarnation, 7);
  EXPECT_EQ(entry_.acked_epoch, 0u) << "it would acknowledge what it has not seen";
  EXPECT_EQ(entry_.sleeping, 0u);
}

TEST_F(EnrolTest, LivesStartAgainAtOneBecauseZeroIsNobody) {
  entry_.incarnation = 0xffff;
  std::thread granting = leader();
  const Owner me = enrol_for(kLong);
  granting.join();
  EXPECT_EQ(me.incarnation, 1);
}

TEST_F(EnrolTest, AnEntryThatIsBeingRecoveredIsAwaitedAndNotTouched) {
  world_.set("front.1", ActorState::kFenced, 3);
  EXPECT_EQ(error_of(kShort), "actor front.1 awaits state vacant, it is fenced");
  EXPECT_EQ(entry_.incarnation, 3u);
  EXPECT_EQ(world_.state_of("front.1"), ActorState::kFenced);
}

TEST_F(EnrolTest, WithoutALeaderTheGrantIsAwaitedInVain) {
  EXPECT_EQ(error_of(kShort),
            "actor front.1 awaits state alive, it is starting (is the hub or its "
            "standby running?)");
}

TEST_F(EnrolTest, GivingUpEndsTheWaitAtOnce) {
  int asked = 0;
  const std::string error = error_of(kLong, [&] { return ++asked == 3; });
  EXPECT_EQ(error,
            "actor front.1 awaits state alive, it is starting (is the hub or its standby "
            "running?)");
  EXPECT_EQ(asked, 3);
}

/// A process that has gone, and that no other is.
void gone(ActorEntry& entry) {
  entry.pid = getpid();
  entry.start_time = process_start_time(getpid()) + 1;
}

TEST_F(EnrolTest, AStandbyWhoseHubHasGoneTakesItsPlaceAsItIs) {
  gone(world_.entry("hub"));
  for (const ActorState state : {ActorState::kAlive, ActorState::kFenced, ActorState::kVacant}) {
    world_.set("standby", state, 3);
    const Owner me = enrol(world_.plan, world_.status, world_.actor("standby"), kLong, kNever);
    EXPECT_EQ(me.incarnation, 4);
    EXPECT_EQ(world_.state_of("standby"), ActorState::kAlive);
  }
}

TEST_F(EnrolTest, AStandbyWhoseHubHasNotBegunWaitsForItsGrant) {
  for (const bool half : {false, true}) {  // between the two stores of its name
    world_.entry("hub").pid = half ? getpid() : 0;
    world_.entry("hub").start_time = 0;
    world_.set("standby", ActorState::kVacant, 0);
    EXPECT_THROW(enrol(world_.plan, world_.status, world_.actor("standby"), kShort, kNever), Error);
  }
}

TEST_F(EnrolTest, AStandbyWhoseHubLivesWaitsForItsGrant) {
  world_.entry("hub").pid = getpid();
  world_.entry("hub").start_time = process_start_time(getpid());
  world_.set("standby", ActorState::kAlive, 3);
  EXPECT_THROW(enrol(world_.plan, world_.status, world_.actor("standby"), kShort, kNever), Error);
}

TEST_F(EnrolTest, TheFirstHubTakesItsPlaceAtOnce) {
  world_.entry("hub").pid = 0;
  world_.entry("hub").incarnation = 0;
  const Owner me = enrol_hub(world_.plan, world_.status, 0, kNever);
  EXPECT_EQ(me.incarnation, 1);
  EXPECT_EQ(world_.entry("hub").pid, getpid());
  EXPECT_EQ(world_.state_of("hub"), ActorState::kAlive);
}

TEST_F(EnrolTest, AHubThatSucceedsAnotherWaitsForItsEnd) {
  gone(world_.entry("standby"));
  world_.entry("hub").incarnation = 1;
  world_.entry("hub").pid = getpid();
  world_.entry("hub").start_time = process_start_time(getpid());
  EXPECT_THROW(enrol_hub(world_.plan, world_.status, kShort, kNever), Error);
  gone(world_.entry("hub"));
  EXPECT_EQ(enrol_hub(world_.plan, world_.status, kLong, kNever).incarnation, 2);
  EXPECT_EQ(world_.entry("hub").start_time, process_start_time(getpid()));
}

TEST_F(EnrolTest, AHubWhoseStandbyLeadsDoesNotLeadToo) {
  world_.entry("hub").incarnation = 1;
  gone(world_.entry("hub"));
  world_.entry("standby").pid = getpid();
  world_.entry("standby").start_time = process_start_time(getpid());
  EXPECT_THROW(enrol_hub(world_.plan, world_.status, kLong, kNever), Error);
}

}  // namespace
}  // namespace millrace
