// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/actor/fused_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/unit/support/small_world.hpp"

namespace millrace::test {
namespace {

using testing::ElementsAre;

/// Notes its turns; has finished so many turns after it was asked to stop.
class Noting : public Actor {
 public:
  Noting(std::string name, std::vector<std::string>& story)
      : name_(std::move(name)), story_(story) {}
  std::uint32_t do_work() noexcept override {
    story_.push_back(name_);
    std::this_thread::sleep_for(takes);
    return work;
  }
  bool has_work() noexcept override { return false; }
  void read_roster() noexcept override { ++rosters; }
  void stop() noexcept override {
    if (!stopping_) story_.push_back("stop " + name_);
    stopping_ = true;
  }
  bool finished() noexcept override { return turns_to_finish-- == 0; }
  std::uint64_t idle_ns() const noexcept override { return 1'000'000; }

  std::uint32_t work = 1;
  std::chrono::milliseconds takes{0};
  int turns_to_finish = 0;
  int rosters = 0;

 private:
  std::string name_;
  std::vector<std::string>& story_;
  bool stopping_ = false;
};

class FusedLoopTest : public testing::Test {
 protected:
  FusedLoopTest() : world_(kTwoPaths) {}
  FusedLoop::Member member(const char* actor, Actor& plays) {
    return {world_.context(actor), &plays};
  }

  SmallWorld world_;
  std::vector<std::string> story_;
  std::atomic<bool> stop_{false};
};

TEST_F(FusedLoopTest, GivesEachATurnAndBeatsForEach) {
  Noting first("first", story_), second("second", story_);
  const FusedLoop::Member members[] = {member("ingress.a.0", first), member("egress.0", second)};
  FusedLoop loop(members, stop_);
  world_.status.header().epoch = 7;
  EXPECT_TRUE(loop.turn());
  EXPECT_TRUE(loop.turn());
  EXPECT_THAT(story_, ElementsAre("first", "second", "first", "second"));
  for (const FusedLoop::Member& member : members) {
    EXPECT_NE(member.context.my_entry().heartbeat_tsc.load(), 0U);
    EXPECT_EQ(member.context.my_entry().acked_epoch.load(), 7U);
  }
  EXPECT_EQ(first.rosters, 1);
}

TEST_F(FusedLoopTest, StopsEachWhenThoseBeforeItHaveFinished) {
  Noting first("first", story_), second("second", story_);
  first.turns_to_finish = 2;
  const FusedLoop::Member members[] = {member("ingress.a.0", first), member("egress.0", second)};
  FusedLoop loop(members, stop_);
  stop_ = true;
  loop.run();
  EXPECT_THAT(story_,
              ElementsAre("stop first", "first", "second", "first", "second", "stop second"));
}

TEST_F(FusedLoopTest, TheTimeOfATurnIsCountedForTheActorThatHadIt) {
  Noting slow("slow", story_), quick("quick", story_);
  slow.takes = std::chrono::milliseconds(5);
  const FusedLoop::Member members[] = {member("ingress.a.0", slow), member("egress.0", quick)};
  const std::uint64_t began = tsc_now();  // its first turn counts from its own start
  FusedLoop loop(members, stop_);
  for (int i = 0; i < 5; ++i) loop.turn();
  const std::uint64_t lasted = tsc_now() - began;
  const auto busy = [](const FusedLoop::Member& of) {
    return std::uint64_t{of.context.counter(Counter::kBusyCycles)};
  };
  EXPECT_LE(busy(members[0]) + busy(members[1]), lasted) << "no time is counted twice";
  EXPECT_GT(busy(members[0]), lasted / 2);
}

TEST_F(FusedLoopTest, SleepsWhenNobodyHasAnythingToDo) {
  Noting idle("idle", story_);
  idle.work = 0;
  const FusedLoop::Member members[] = {member("ingress.a.0", idle)};
  FusedLoop loop(members, stop_);
  const auto began = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - began < std::chrono::milliseconds(50)) loop.turn();
  EXPECT_LT(story_.size(), 40'000U) << "turns of 50 ms, each asleep for 1 ms but the first";
}

}  // namespace
}  // namespace millrace::test
