// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/classifier/classifier_actor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "tests/unit/support/fake_work.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using test::FakeWork;
using test::SmallWorld;
using Slots = std::vector<std::uint32_t>;

constexpr std::uint8_t kFirst = 0, kSecond = 1, kThird = 2;

class ClassifierTest : public ::testing::Test {
 protected:
  ClassifierTest() {
    world_.start_all();
    for (std::uint32_t lane = 0; lane < 4; ++lane) {
      world_.status.lane_map(world_.plan.actors[world_.actor("deep.0")].group).worker[lane] = 0;
    }
  }
  ClassifierActor open(const char* name) {
    ClassifierActor actor(world_.context(name), work_);
    actor.read_roster();
    return actor;
  }
  std::uint32_t arrives(const char* from, const char* to, std::uint8_t stage,
                        std::uint64_t sequence, std::uint32_t lane = 0) {
    return world_.send(
        from, to,
        {.lane = lane, .sequence = sequence, .owner = from, .state = {SlotKind::kHeld, stage}});
  }
  void work(ClassifierActor& actor) {
    while (actor.do_work() != 0) {
    }
  }
  std::vector<std::uint64_t> sequences_run() const {
    std::vector<std::uint64_t> all;
    for (const FakeWork::Call& call : work_.runs) all.push_back(call.sequence);
    return all;
  }
  LaneWindow& window(std::uint32_t lane) { return world_.segment.lane_window(kThird, 0, lane); }

  SmallWorld world_;
  FakeWork work_;
};

TEST_F(ClassifierTest, ABatchIsWorkedOnAndHandedToTheNextStage) {
  ClassifierActor front = open("front.0");
  const std::uint32_t slot = arrives("ingress.a.0", "front.0", kFirst, 1);
  world_.segment.slot(slot).time_stage_tsc = 1;  // its steps are timed
  EXPECT_TRUE(front.has_work());
  work(front);
  ASSERT_EQ(work_.runs.size(), 1u);
  EXPECT_EQ(work_.runs[0].stage, kFirst);
  EXPECT_EQ(work_.runs[0].state, (SlotState{SlotKind::kWorked, kFirst}))
      << "killed now it would not be found half changed";
  EXPECT_EQ(world_.slot_state(slot), (SlotState{SlotKind::kHeld, kSecond}));
  EXPECT_EQ(world_.slots_in("front.0", "gpu.0.a"), Slots{slot});
  EXPECT_GT(world_.segment.slot(slot).time_stage_tsc, 1u);
  EXPECT_EQ(world_.context("front.0").counter(Counter::kPackets), 3u);
  EXPECT_EQ(world_.context("front.0").counter(Counter::kPacketsOut), 3u);
}

TEST_F(ClassifierTest, WithoutStateBatchesAreWorkedInTheOrderOfArrival) {
  ClassifierActor front = open("front.0");
  for (const std::uint64_t sequence : {3u, 1u, 2u}) {
    arrives("ingress.a.0", "front.0", kFirst, sequence);
  }
  work(front);
  EXPECT_EQ(sequences_run(), (std::vector<std::uint64_t>{3, 1, 2}));
}

TEST_F(ClassifierTest, AStageWithStateSeesEveryLaneInSequence) {
  ClassifierActor deep = open("deep.0");
  for (unsigned seed = 1; seed <= 2; ++seed) {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> batches;
    for (std::uint64_t i = 0; i < 12; ++i) batches.push_back({i % 3, 4 * (seed - 1) + i / 3 + 1});
    std::shuffle(batches.begin(), batches.end(), std::mt19937(seed));
    for (const auto& [lane, sequence] : batches) {
      arrives("front.1", "deep.0", kThird, sequence, lane);
    }
    work(deep);
  }
  std::vector<std::uint64_t> last(4, 0);
  for (const FakeWork::Call& call : work_.runs) EXPECT_EQ(call.sequence, ++last[call.lane]);
  EXPECT_EQ(last, (std::vector<std::uint64_t>{8, 8, 8, 0}));
  EXPECT_EQ(window(0).released, 8u);
  EXPECT_EQ(world_.link("deep.0", "egress.0").size(), 24u);
}

TEST_F(ClassifierTest, TheLaneIsDirtyWhileItsStateIsChangedAndCleanAfterwards) {
  class Looking : public FakeWork {
   public:
    explicit Looking(LaneWindow& window) : window_(window) {}
    void run(std::uint8_t stage, const Batch& batch) noexcept override {
      dirty = window_.dirty;
      released = window_.released;
      FakeWork::run(stage, batch);
    }
    std::uint32_t dirty = 7;
    std::uint64_t released = 7;

   private:
    LaneWindow& window_;
  } looking(window(1));
  ClassifierActor deep(world_.context("deep.0"), looking);
  deep.read_roster();
  arrives("front.0", "deep.0", kThird, 1, 1);
  work(deep);
  EXPECT_EQ(looking.dirty, 1u);
  EXPECT_EQ(looking.released, 0u) << "released before it is done";
  EXPECT_EQ(window(1).dirty, 0u);
  EXPECT_EQ(window(1).released, 1u);
}

TEST_F(ClassifierTest, ABatchAheadOfItsTurnIsHeldUntouched) {
  ClassifierActor deep = open("deep.0");
  const std::uint32_t slot = arrives("front.0", "deep.0", kThird, 2);
  work(deep);
  EXPECT_TRUE(work_.runs.empty());
  EXPECT_EQ(world_.slot_state(slot), (SlotState{SlotKind::kHeld, kThird}));
  EXPECT_EQ(world_.owner_of(slot), world_.owner_word("deep.0"));
  EXPECT_EQ(world_.context("deep.0").counter(Counter::kBatchesOutOfOrder), 1u);
  deep.stop();
  EXPECT_FALSE(deep.finished());
}

TEST_F(ClassifierTest, WhatWaitsGoesOnWhenSomebodyElseHasMovedTheLane) {
  ClassifierActor deep = open("deep.0");
  arrives("front.0", "deep.0", kThird, 2);
  arrives("front.0", "deep.0", kThird, 3);
  work(deep);
  EXPECT_EQ(deep.do_work(), 0u);
  window(0).released = 1;  // recovery: batch 1 died in another worker's hands
  work(deep);
  EXPECT_EQ(sequences_run(), (std::vector<std::uint64_t>{2, 3}));
  deep.stop();
  EXPECT_TRUE(deep.finished());
}

TEST_F(ClassifierTest, TheNextNumberOfALaneIsTheLanesNotTheWorkers) {
  window(2).released = 41;  // another worker had the lane before
  ClassifierActor deep = open("deep.0");
  arrives("front.0", "deep.0", kThird, 42, 2);
  work(deep);
  EXPECT_EQ(sequences_run(), std::vector<std::uint64_t>{42});
}

TEST_F(ClassifierTest, ACompletionIsFinishedThenEntersTheStageInSequence) {
  ClassifierActor deep = open("deep.0");
  const std::uint32_t slot = world_.make({.owner = "front.0", .state = {SlotKind::kHeld, kSecond}});
  world_.segment.slot(slot).gpu_holder =
      holder_word(world_.owner_word("gpu.0.a"), world_.segment.slot(slot).generation);
  work_.compute(kSecond, world_.segment.batch(slot), world_.segment.gpu_results(0, slot));
  ASSERT_TRUE(world_.push("gpu.0.a", "deep.0", world_.word_of(slot, kSecond)));
  work(deep);
  ASSERT_EQ(work_.finished.size(), 1u);
  EXPECT_EQ(work_.finished[0].stage, kSecond);
  EXPECT_EQ(work_.finished[0].results, (std::vector<std::uint32_t>{0, 1, 2}));
  ASSERT_EQ(work_.runs.size(), 1u);
  EXPECT_EQ(work_.runs[0].stage, kThird);
  EXPECT_EQ(world_.slots_in("deep.0", "egress.0"), Slots{slot});
}

TEST_F(ClassifierTest, AStandInRunsTheGpusStage) {
  ClassifierActor front = open("front.0");
  const std::uint32_t slot = arrives("hub", "front.0", kSecond, 1);
  world_.segment.slot(slot).time_stage_tsc = tsc_now() - 1'000'000;
  work(front);
  ASSERT_EQ(work_.runs.size(), 1u);
  EXPECT_EQ(work_.runs[0].stage, kSecond);
  EXPECT_EQ(world_.context("front.0").counter(Counter::kStandInBatches), 1u);
  EXPECT_GE(world_.context("front.0").counter(Counter::kStandInTime), 1'000'000u);
  EXPECT_EQ(world_.slots_in("front.0", "deep.0"), Slots{slot});
}

TEST_F(ClassifierTest, ARoundIsBoundedAndWhatIsLeftIsWork) {
  ClassifierActor front = open("front.0");
  for (std::uint64_t i = 1; i <= 6; ++i) arrives("ingress.a.0", "front.0", kFirst, i);
  EXPECT_EQ(front.do_work(), 4u);
  EXPECT_TRUE(front.has_work());
  front.stop();
  EXPECT_FALSE(front.finished());
  work(front);
  EXPECT_TRUE(front.finished());
}

TEST_F(ClassifierTest, WhatNobodyTakesIsKeptAndSentLater) {
  world_.set("egress.0", ActorState::kVacant);
  ClassifierActor deep = open("deep.0");
  arrives("front.0", "deep.0", kThird, 1);
  work(deep);
  deep.stop();
  EXPECT_FALSE(deep.finished());
  world_.set("egress.0", ActorState::kAlive);
  deep.read_roster();
  EXPECT_EQ(deep.do_work(), 1u);
  EXPECT_EQ(world_.link("deep.0", "egress.0").size(), 1u);
  EXPECT_TRUE(deep.finished());
}

}  // namespace
}  // namespace millrace
