// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "tests/unit/shared/recovery/recovery_fixture.hpp"

namespace millrace {
namespace {

using S = ActorState;
using Lanes = std::vector<int>;

/// Lanes 0 to 3 of path `long` visit the stage with state of group deep.
class LaneMoves : public test::RecoveryFixture {
 protected:
  Lanes lanes() const {
    Lanes lanes;
    const std::uint32_t group = world_.plan.actors[world_.actor("deep.0")].group;
    for (std::uint32_t lane = 0; lane < 4; ++lane) {
      lanes.push_back(world_.status.lane_map(group).worker[lane]);
    }
    return lanes;
  }
  std::uint64_t held() const { return totals().held_lane.load(); }
  /// The ingress says that it had offered so many batches of the lane when that was held back.
  void offered(std::uint32_t lane, std::uint64_t sequence) const {
    world_.status.ingress_lane(0, lane).offered = sequence;
  }
  void released(std::uint32_t lane, std::uint64_t sequence) const {
    world_.status.ledger(0, lane).released = sequence;
  }
  void tick_until_moved(const Lanes& wanted) {
    for (int i = 0; i < 100 && (lanes() != wanted || held() != 0); ++i) tick();
    EXPECT_EQ(lanes(), wanted);
    EXPECT_EQ(held(), 0u);
  }
};

TEST_F(LaneMoves, ABalancedGroupIsLeftAlone) {
  for (int i = 0; i < 20; ++i) tick();
  EXPECT_EQ(lanes(), (Lanes{0, 1, 0, 1}));
  EXPECT_EQ(held(), 0u);
}

TEST_F(LaneMoves, AWorkerThatCameGetsItsShare) {
  assign_lanes("deep.0", 1);
  tick_until_moved({1, 1, 0, 0});
}

TEST_F(LaneMoves, ALaneIsHeldBackUntilNothingOfItIsUnderWay) {
  assign_lanes("deep.0", 1);
  offered(0, 5);
  released(0, 4);
  for (int i = 0; i < 20; ++i) tick();
  EXPECT_EQ(held(), 1u) << "one lane at a time";
  EXPECT_EQ(lanes(), (Lanes{0, 0, 0, 0}));
  released(0, 5);
  tick_until_moved({1, 1, 0, 0});
}

TEST_F(LaneMoves, ItGoesOnOnlyWhenEverybodyKnowsWhereTo) {
  assign_lanes("deep.0", 1);
  tick();
  ASSERT_EQ(held(), 1u);
  deaf_ = {"front.1"};
  for (int i = 0; i < 20; ++i) tick();
  EXPECT_EQ(lanes()[0], 1);
  EXPECT_EQ(held(), 1u) << "front.1 may still send it to deep.0";
  deaf_.clear();
  tick_until_moved({1, 1, 0, 0});
}

TEST_F(LaneMoves, AnIngressThatHasNotHeardIsWaitedFor) {
  deaf_ = {"ingress.a.0"};
  assign_lanes("deep.0", 1);
  for (int i = 0; i < 20; ++i) tick();
  EXPECT_EQ(lanes(), (Lanes{0, 0, 0, 0}));
}

TEST_F(LaneMoves, AnIngressThatSealsNothingAnyMoreIsNotWaitedFor) {
  for (const S state : {S::kReclaiming, S::kQuarantined}) {
    assign_lanes("deep.0", 1);
    deaf_ = {"ingress.a.0"};
    world_.entry("ingress.a.0").state = static_cast<std::uint32_t>(state);
    tick_until_moved({1, 1, 0, 0});
  }
}

TEST_F(LaneMoves, ALeaderThatComesGivesLanesToWorkersThatNobodyGaveAny) {
  const std::uint32_t group = world_.plan.actors[world_.actor("deep.0")].group;
  for (std::uint32_t lane = 0; lane < 4; ++lane) {
    world_.status.lane_map(group).worker[lane] = lane == 2 ? 1 : kNoWorker;
  }
  const std::uint64_t epoch = world_.status.header().epoch;
  hub_dies();
  leader_->take_the_lead();
  EXPECT_EQ(lanes()[2], 1) << "state has one writer";
  for (const int worker : lanes()) EXPECT_NE(worker, kNoWorker);
  EXPECT_GT(world_.status.header().epoch, epoch) << "everybody looks";
}

TEST_F(LaneMoves, WhoLeavesDrainsWhenItsLanesHaveGone) {
  offered(1, 3);
  leader_->drain(world_.actor("deep.1"));
  for (int i = 0; i < 20; ++i) tick();
  EXPECT_EQ(world_.state_of("deep.1"), S::kAlive) << "lane 1 is under way there";
  released(1, 3);
  tick_until_moved({0, 0, 0, 0});
  tick_until("deep.1", S::kDraining);
}

TEST_F(LaneMoves, AMoveThatTakesTooLongIsGivenUpAndTriedAgain) {
  assign_lanes("deep.0", 1);
  offered(0, 5);
  tick_for(2500);
  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(lanes(), (Lanes{0, 0, 0, 0}));
  released(0, 5);
  tick_for(2000);
  tick_until_moved({1, 1, 0, 0});
}

TEST_F(LaneMoves, ALeaderThatCameEndsTheMoveOfTheOneBefore) {
  assign_lanes("deep.0", 1);
  offered(0, 5);
  for (int i = 0; i < 3; ++i) tick();
  ASSERT_EQ(held(), 1u);
  hub_dies();
  released(0, 5);
  tick_until_moved({1, 1, 0, 0});
}

TEST_F(LaneMoves, ADeadWorkersLanesAreNotMovedButGivenAway) {
  offered(0, 5);
  ends("deep.0");
  tick_until("deep.0", S::kVacant);
  EXPECT_EQ(lanes(), (Lanes{1, 1, 1, 1}));
}

}  // namespace
}  // namespace millrace
