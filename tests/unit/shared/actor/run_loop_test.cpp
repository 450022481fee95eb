// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/actor/run_loop.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <functional>
#include <thread>
#include <vector>

#include "shared/actor/wake.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using test::SmallWorld;

class FakeActor : public Actor {
 public:
  std::uint32_t do_work() noexcept override {
    ++turns;
    return work ? work() : 0;
  }
  bool has_work() noexcept override { return waiting; }
  void read_roster() noexcept override { ++rosters; }
  void stop() noexcept override { ++stops; }
  bool finished() noexcept override { return stops >= stops_needed; }
  bool may_leave() noexcept override { return leaving; }
  std::uint64_t idle_ns() const noexcept override { return idle; }
  void before_sleep() noexcept override { ++before_sleeps; }
  int wait_descriptor() noexcept override { return descriptor; }

  std::function<std::uint32_t()> work;
  std::atomic<bool> waiting{false};
  int stops_needed = 1;
  bool leaving = false;
  std::uint64_t idle = 1'000'000;
  int descriptor = -1;
  int turns = 0, rosters = 0, stops = 0, before_sleeps = 0;
};

class RunLoopTest : public ::testing::Test {
 protected:
  RunLoopTest() : context_(world_.context("front.0")), entry_(world_.entry("front.0")) {
    world_.start_all();
  }
  std::uint64_t counter(Counter id) const { return context_.counter(id); }
  void turn(RunLoop& loop, int times) {
    for (int i = 0; i < times; ++i) ASSERT_TRUE(loop.turn());
  }
  SmallWorld world_;
  ActorContext context_;
  ActorEntry& entry_;
  FakeActor actor_;
  std::atomic<bool> stop_{false};
};

TEST_F(RunLoopTest, EveryTurnBeats) {
  RunLoop loop(context_, actor_, stop_);
  turn(loop, 1);
  const std::uint64_t first = entry_.heartbeat_tsc;
  turn(loop, 1);
  EXPECT_GT(first, 0u);
  EXPECT_GT(entry_.heartbeat_tsc, first);
}

TEST_F(RunLoopTest, TheRosterIsReadAndThenAcknowledgedWhenTheEpochHasMoved) {
  RunLoop loop(context_, actor_, stop_);
  turn(loop, 2);
  EXPECT_EQ(actor_.rosters, 0);
  world_.status.header().epoch = 41;
  actor_.work = [&] {
    EXPECT_EQ(entry_.acked_epoch, 41u) << "works with links of the epoch before";
    return 1;
  };
  turn(loop, 3);
  EXPECT_EQ(actor_.rosters, 1);
}

TEST_F(RunLoopTest, AStoppedActorWorksOnUntilItHasFinished) {
  RunLoop loop(context_, actor_, stop_);
  actor_.stops_needed = 3;
  turn(loop, 1);
  EXPECT_EQ(actor_.stops, 0);
  stop_ = true;
  turn(loop, 2);
  EXPECT_EQ(actor_.turns, 3);
  EXPECT_FALSE(loop.turn());
  EXPECT_EQ(actor_.turns, 3) << "worked after it had finished";
}

TEST_F(RunLoopTest, AStoppedActorThatIsGivenMoreAndMoreLeavesWhenItMay) {
  RunLoop loop(context_, actor_, stop_);
  actor_.stops_needed = INT_MAX;
  actor_.work = [] { return 1; };
  stop_ = true;
  turn(loop, 3);
  ::usleep(600'000);
  turn(loop, 3);
  actor_.leaving = true;
  EXPECT_FALSE(loop.turn());
}

TEST_F(RunLoopTest, ADrainingActorDoesNotLeaveWhatItHas) {
  RunLoop loop(context_, actor_, stop_);
  actor_.stops_needed = INT_MAX;
  actor_.leaving = true;
  actor_.work = [] { return 1; };
  world_.set("front.0", ActorState::kDraining);
  turn(loop, 3);
  ::usleep(600'000);
  turn(loop, 3);
}

TEST_F(RunLoopTest, DrainingStopsItTo) {
  RunLoop loop(context_, actor_, stop_);
  world_.set("front.0", ActorState::kDraining);
  EXPECT_FALSE(loop.turn());
}

TEST_F(RunLoopTest, RunReturnsWhenTheActorHasFinished) {
  actor_.work = [&] {
    if (actor_.turns == 10) stop_ = true;
    return 1;
  };
  RunLoop(context_, actor_, stop_).run();
  EXPECT_EQ(actor_.turns, 10);
}

TEST_F(RunLoopTest, ABusyActorNeverSleeps) {
  RunLoop loop(context_, actor_, stop_);
  actor_.work = [] { return 5; };
  turn(loop, 1000);
  EXPECT_EQ(counter(Counter::kSleeps), 0u);
  EXPECT_EQ(counter(Counter::kLoops), 1000u);
  EXPECT_GT(counter(Counter::kBusyCycles), 0u);
  EXPECT_EQ(counter(Counter::kIdleCycles), 0u);
  EXPECT_GT(counter(Counter::kLongestLoopNs), 0u);
}

TEST_F(RunLoopTest, AnIdleActorSleepsAndHasWrittenOutBefore) {
  RunLoop loop(context_, actor_, stop_);
  for (int i = 0; i < 100'000 && counter(Counter::kSleeps) == 0; ++i) turn(loop, 1);
  EXPECT_EQ(counter(Counter::kSleeps), 1u);
  EXPECT_EQ(actor_.before_sleeps, 1);
  EXPECT_EQ(entry_.sleeping, 0u);
  EXPECT_EQ(counter(Counter::kBusyCycles), 0u);
}

TEST_F(RunLoopTest, WorkSeenAfterTheAnnouncementOfSleepPreventsIt) {
  RunLoop loop(context_, actor_, stop_);
  actor_.waiting = true;
  for (int i = 0; i < 100'000 && actor_.before_sleeps < 3; ++i) turn(loop, 1);
  EXPECT_EQ(actor_.before_sleeps, 3);
  EXPECT_EQ(counter(Counter::kSleeps), 0u);
  EXPECT_EQ(entry_.sleeping, 0u) << "the announcement still stands";
}

TEST_F(RunLoopTest, ASleepIsCutShortByAWake) {
  RunLoop loop(context_, actor_, stop_);
  actor_.idle = kSleepMaxNs;
  std::atomic<bool> ended{false};
  std::thread waker([&] {
    while (!ended) {
      wake(entry_);
      std::this_thread::yield();
    }
  });
  // Without wake-ups none is shorter than the longest; with them most are, where there is time for
  // the waker.
  int cut_short = 0;
  while (counter(Counter::kSleeps) < 400) {
    const std::uint64_t sleeps = counter(Counter::kSleeps), before = monotonic_ns();
    turn(loop, 1);
    const bool slept = counter(Counter::kSleeps) != sleeps;
    if (slept && monotonic_ns() - before < kSleepMaxNs / 2) ++cut_short;
  }
  ended = true;
  waker.join();
  EXPECT_GE(cut_short, 20);
}

TEST_F(RunLoopTest, ADescriptorIsSleptOnWithoutAnAnnouncement) {
  RunLoop loop(context_, actor_, stop_);
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  actor_.descriptor = ends[0];
  std::atomic<bool> ended{false}, announced{false};
  std::thread watcher([&] {
    while (!ended) announced = announced || entry_.sleeping != 0;
  });
  int cut_short = 0;
  while (counter(Counter::kSleeps) < 400) {
    const std::uint64_t sleeps = counter(Counter::kSleeps), before = monotonic_ns();
    turn(loop, 1);
    const bool slept = counter(Counter::kSleeps) != sleeps;
    if (slept && monotonic_ns() - before < kSleepMaxNs / 2) ++cut_short;
  }
  EXPECT_GE(cut_short, 20);
  ended = true;
  watcher.join();
  EXPECT_FALSE(announced);
  actor_.waiting = true;
  const int asked = actor_.before_sleeps;
  while (actor_.before_sleeps < asked + 3) turn(loop, 1);
  EXPECT_EQ(counter(Counter::kSleeps), 400u) << "slept with work at hand";
  close(ends[0]);
  close(ends[1]);
}

TEST_F(RunLoopTest, BusyAndIdleTimeTogetherAreNoMoreThanTheTimeThatPassed) {
  actor_.work = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return 0;
  };
  const std::uint64_t before = tsc_now();
  RunLoop loop(context_, actor_, stop_);  // its first turn counts from here on
  while (counter(Counter::kSleeps) < 5) turn(loop, 1);
  const std::uint64_t passed = tsc_now() - before;
  EXPECT_LE(counter(Counter::kIdleCycles) + counter(Counter::kBusyCycles), passed);
}

TEST(SpinNs, IsShortForWhoeverSharesACore) {
  Plan plan;
  plan.shared_cores = false;
  plan.actors = {{.name = "hub"},
                 {.name = "ingress.a.0", .kind = ActorKind::kIngress, .core = 1},
                 {.name = "c.0", .kind = ActorKind::kClassifier, .core = 2},
                 {.name = "c.1", .kind = ActorKind::kClassifier, .core = 2},
                 {.name = "c.2", .kind = ActorKind::kClassifier, .at_start = false, .core = 1}};
  EXPECT_LT(spin_ns(plan, 0), spin_ns(plan, 1)) << "bound to none";
  EXPECT_LT(spin_ns(plan, 2), spin_ns(plan, 1));
  EXPECT_EQ(spin_ns(plan, 3), spin_ns(plan, 2));
  EXPECT_EQ(spin_ns(plan, 4), spin_ns(plan, 2)) << "a spare one beside one that runs";
  plan.shared_cores = true;
  EXPECT_EQ(spin_ns(plan, 1), spin_ns(plan, 2));
}

}  // namespace
}  // namespace millrace
