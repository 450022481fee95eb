// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/recovery/recovery.hpp"

#include <gtest/gtest.h>

#include "tests/unit/shared/recovery/recovery_fixture.hpp"

namespace millrace {
namespace {

using S = ActorState;
using Lanes = std::vector<int>;

class RecoveryTest : public test::RecoveryFixture {
 protected:
  using RecoveryFixture::RecoveryFixture;
  /// A new process of the actor wants in, as enrol() leaves the entry.
  void enters(const char* name, std::uint32_t incarnation) {
    world_.set(name, S::kStarting, incarnation);
    processes_.gone.erase(world_.pid_of(name));
  }
  Lanes lanes_of(const char* group_member) const {
    Lanes lanes;
    const std::uint32_t group = world_.plan.actors[world_.actor(group_member)].group;
    for (std::uint32_t lane = 0; lane < 6; ++lane) {
      const std::uint16_t worker = world_.status.lane_map(group).worker[lane];
      lanes.push_back(worker == kNoWorker ? -1 : worker);
    }
    return lanes;
  }
};

TEST_F(RecoveryTest, NothingHappensWhileAllAreWell) {
  tick();
  for (int i = 0; i < 30; ++i) EXPECT_EQ(tick(100), 4);
  EXPECT_TRUE(told_.empty());
  EXPECT_TRUE(processes_.killed.empty());
}

TEST_F(RecoveryTest, AProcessThatWantsInIsGrantedItsPlace) {
  enters("front.0", 1);
  const std::uint64_t epoch = totals().epoch;
  EXPECT_EQ(tick(), 0);
  EXPECT_EQ(world_.state_of("front.0"), S::kAlive);
  EXPECT_GT(totals().epoch, epoch) << "producers do not learn of it";
  EXPECT_EQ(world_.entry("front.0").crashes, 0u);
}

TEST_F(RecoveryTest, OnlyFurtherLivesCountAsRestarts) {
  enters("front.0", 2);
  tick();
  EXPECT_EQ(world_.entry("front.0").crashes, 1u);
}

TEST_F(RecoveryTest, ALifeThatFollowsOnAnEndAsItWasToldIsNoCrash) {
  world_.entry("front.0").ended = 1;  // the leader of that time may have ended since
  enters("front.0", 2);
  tick();
  EXPECT_EQ(world_.entry("front.0").was_asked, 1u);
  EXPECT_EQ(world_.entry("front.0").crashes, 0u);
}

TEST_F(RecoveryTest, ALifeThatFollowsOnAHangIsCountedAsSuch) {
  silent_.insert("front.0");
  tick_for(2500);
  EXPECT_TRUE(killed("front.0"));
  ends("front.0");
  tick_until("front.0", S::kVacant);
  enters("front.0", 2);
  tick();
  EXPECT_EQ(world_.entry("front.0").hangs, 1u);
  EXPECT_EQ(world_.entry("front.0").crashes, 0u);
}

TEST_F(RecoveryTest, ALifeThatFollowsOnTheOtherIncarnationOfAGpuWorkerIsARestart) {
  ends("gpu.0.a");
  tick_until("gpu.0.a", S::kFenced);
  EXPECT_EQ(world_.entry("gpu.0.b").crashes, 0u);
  enters("gpu.0.b", 1);
  tick_until("gpu.0.b", S::kAlive);
  EXPECT_EQ(world_.entry("gpu.0.b").crashes, 1u) << "no mark of a crash, no crash loop";
  EXPECT_EQ(world_.entry("gpu.0.a").crashes, 0u);
  tick_until("gpu.0.a", S::kVacant);
  silent_.insert("gpu.0.b");
  tick_for(1'300);
  ends("gpu.0.b");
  tick_until("gpu.0.b", S::kVacant);
  enters("gpu.0.a", 2);
  tick_until("gpu.0.a", S::kAlive);
  EXPECT_EQ(world_.entry("gpu.0.a").hangs, 1u) << "the last life was the twin's, which hung";
  EXPECT_EQ(world_.entry("gpu.0.a").crashes, 0u);
}

TEST_F(RecoveryTest, AGpuWorkerThatEndedAsItWasToldDidNotCrash) {
  world_.entry("gpu.0.a").ended = 1;
  ends("gpu.0.a");
  tick_until("gpu.0.a", S::kVacant);
  enters("gpu.0.b", 1);
  tick_until("gpu.0.b", S::kAlive);
  EXPECT_EQ(world_.entry("gpu.0.b").was_asked, 1u);
  EXPECT_EQ(world_.entry("gpu.0.b").crashes, 0u);
}

TEST_F(RecoveryTest, AGpuIncarnationThatIsReplacedInItsPlaceFollowsOnItself) {
  world_.entry("gpu.0.b").incarnation = 1;  // crashed long before
  world_.entry("gpu.0.a").ended = 1;
  ends("gpu.0.a");
  tick_until("gpu.0.a", S::kVacant);
  enters("gpu.0.a", 2);
  tick_until("gpu.0.a", S::kAlive);
  EXPECT_EQ(world_.entry("gpu.0.a").was_asked, 1u);
  EXPECT_EQ(world_.entry("gpu.0.a").crashes, 0u);
}

TEST_F(RecoveryTest, TheFirstLifeOfAGpuWorkerIsNoRestart) {
  enters("gpu.0.a", 1);
  tick_until("gpu.0.a", S::kAlive);
  EXPECT_EQ(world_.entry("gpu.0.a").crashes, 0u);
}

TEST_F(RecoveryTest, AProcessThatEndsBeforeItIsGrantedLeavesItsPlaceVacant) {
  enters("front.0", 1);
  ends("front.0");
  tick();
  EXPECT_EQ(world_.state_of("front.0"), S::kVacant);
}

TEST_F(RecoveryTest, EveryStepAwaitsTheAcknowledgementOfAllWhoLive) {
  deaf_ = {"deep.1"};
  ends("front.0");
  tick();
  EXPECT_EQ(world_.state_of("front.0"), S::kFenced);
  for (int i = 0; i < 5; ++i) tick();
  EXPECT_EQ(world_.state_of("front.0"), S::kFenced) << "deep.1 may still use its rings";
  deaf_.clear();
  tick();
  EXPECT_EQ(world_.state_of("front.0"), S::kReclaiming);
  deaf_ = {"ingress.a.0"};
  for (int i = 0; i < 5; ++i) tick();
  EXPECT_EQ(world_.state_of("front.0"), S::kReclaiming) << "ingress.a.0 may still take back";
  deaf_.clear();
  tick();
  EXPECT_EQ(world_.state_of("front.0"), S::kVacant);
  EXPECT_EQ(totals().recoveries, 1u);
  EXPECT_TRUE(told("front.0: exited"));
  EXPECT_TRUE(told("front.0: recovered"));
}

TEST_F(RecoveryTest, WhoIsNotRunningNeedNotAcknowledge) {
  ends("front.0");
  ends("front.1");
  ends("egress.0");
  tick_until("front.0", S::kVacant);
  tick_until("front.1", S::kVacant);
  tick_until("egress.0", S::kVacant);
}

TEST_F(RecoveryTest, WhoDoesNotAcknowledgeInTimeIsKilled) {
  deaf_ = {"deep.1"};
  ends("front.0");
  tick_for(1'000);
  EXPECT_FALSE(killed("deep.1"));
  tick_for(500);
  EXPECT_TRUE(killed("deep.1"));
  EXPECT_TRUE(told("deep.1: does not acknowledge a fence: killed"));
  tick_until("front.0", S::kVacant);
  tick_until("deep.1", S::kVacant);
  EXPECT_EQ(processes_.killed.size(), 1u);
}

TEST_F(RecoveryTest, ASilentActorIsKilledAfterTheLimitAndRecoveredAfterItsExit) {
  silent_ = {"front.2"};
  tick_for(1'000);
  EXPECT_FALSE(killed("front.2"));
  tick_for(300);
  EXPECT_TRUE(killed("front.2"));
  EXPECT_TRUE(told("front.2: hung: killed"));
  tick_until("front.2", S::kVacant);
  EXPECT_EQ(processes_.killed.size(), 1u) << "others were killed with it";
}

TEST_F(RecoveryTest, AnActorThatNoProcessorTakesIsNotKilled) {
  silent_ = {"front.2"};
  ThreadTimes& times = processes_.times_of[world_.pid_of("front.2")];
  times = {.ran_ns = 77, .ready = true};
  tick_for(5'000);
  EXPECT_FALSE(killed("front.2"));
  times.ready = false;  // it has run, and sleeps: it could give a sign of life
  times.ran_ns = 78;
  times.waited_ns = 4'000'000'000;
  tick_for(1'000);
  EXPECT_TRUE(killed("front.2"));
}

TEST_F(RecoveryTest, AnActorThatNoProcessorTakesMayAcknowledgeLater) {
  silent_ = deaf_ = {"front.2"};
  processes_.times_of[world_.pid_of("front.2")] = {.ready = true};
  tick_for(600);
  ends("deep.1");
  tick_for(3'000);
  EXPECT_FALSE(killed("front.2"));
  EXPECT_EQ(world_.state_of("deep.1"), S::kFenced);
  silent_ = deaf_ = {};
  tick_until("deep.1", S::kVacant);
}

TEST_F(RecoveryTest, ASingleHeartbeatStartsTheLimitAnew) {
  silent_ = {"front.2"};
  tick_for(900);
  ++world_.entry("front.2").heartbeat_tsc;
  tick_for(900);
  EXPECT_FALSE(killed("front.2"));
}

TEST_F(RecoveryTest, ALeaderThatWasStoppedItselfSuspectsNobody) {
  tick();
  silent_ = {"front.0", "front.1", "egress.0"};
  tick(60'000);
  EXPECT_TRUE(processes_.killed.empty());
  tick_for(1'300);
  EXPECT_EQ(processes_.killed.size(), 3u) << "from then on the limit counts";
}

TEST_F(RecoveryTest, WhatCannotBeKilledIsQuarantinedForGood) {
  silent_ = {"front.2"};
  processes_.unkillable = {world_.pid_of("front.2")};
  tick_for(1'300);
  EXPECT_TRUE(killed("front.2"));
  EXPECT_EQ(world_.state_of("front.2"), S::kAlive) << "it still may exit";
  tick_for(2'500);
  EXPECT_EQ(world_.state_of("front.2"), S::kQuarantined);
  ends("front.2");
  tick_for(1'000);
  EXPECT_EQ(world_.state_of("front.2"), S::kQuarantined);
}

TEST_F(RecoveryTest, AGpuThatBeginsToEndIsFencedAndAClassifierOnlyOnceItHasEnded) {
  processes_.dying = {world_.pid_of("gpu.0.a"), world_.pid_of("front.0")};
  tick_for(500);
  EXPECT_EQ(world_.state_of("front.0"), S::kAlive) << "it may still write its slot";
  EXPECT_EQ(world_.state_of("gpu.0.a"), S::kFenced);
  EXPECT_TRUE(told("gpu.0.a: batches redone by the stand-in"));
  ends("gpu.0.a");
  tick_until("gpu.0.a", S::kVacant);
  EXPECT_EQ(std::count(told_.begin(), told_.end(), "gpu.0.a: batches redone by the stand-in"), 1);
}

TEST_F(RecoveryTest, AHungGpuIsFencedBeforeItsExitAndVacantOnlyAfterIt) {
  silent_ = {"gpu.0.a"};
  processes_.unkillable = {world_.pid_of("gpu.0.a")};  // its exit takes long
  tick_for(1'300);
  EXPECT_EQ(world_.state_of("gpu.0.a"), S::kFenced);
  EXPECT_TRUE(told("gpu.0.a: batches redone by the stand-in"));
  tick_for(5'000);
  EXPECT_EQ(world_.state_of("gpu.0.a"), S::kFenced);
  ends("gpu.0.a");
  tick_until("gpu.0.a", S::kVacant);
  EXPECT_EQ(std::count(told_.begin(), told_.end(), "gpu.0.a: batches redone by the stand-in"), 1);
}

TEST_F(RecoveryTest, DrainingIsForTheLivingAndMovesTheirLanes) {
  EXPECT_EQ(lanes_of("deep.0"), (Lanes{0, 1, 0, 1, 0, 1}));
  leader_->drain(world_.actor("deep.1"));
  EXPECT_EQ(world_.state_of("deep.1"), S::kAlive) << "its lanes with state go first";
  tick_until("deep.1", S::kDraining);
  EXPECT_EQ(lanes_of("deep.0"), (Lanes{0, 0, 0, 0, 0, 0}));
  leader_->drain(world_.actor("gpu.0.b"));
  EXPECT_EQ(world_.state_of("gpu.0.b"), S::kVacant);
  ends("deep.1");
  tick_until("deep.1", S::kVacant);
}

TEST_F(RecoveryTest, LanesWithStateStayWithTheLivingWhenOneDiesAndWhenItReturns) {
  ends("deep.1");
  tick_until("deep.1", S::kVacant);
  EXPECT_EQ(lanes_of("deep.0"), (Lanes{0, 0, 0, 0, 0, 0}));
  enters("deep.1", 2);
  tick();
  EXPECT_EQ(world_.state_of("deep.1"), S::kAlive);
  EXPECT_EQ(lanes_of("deep.0"), (Lanes{0, 0, 0, 0, 0, 0}))
      << "state has one writer: a lane is not moved while its worker lives";
  ends("deep.0");
  tick_until("deep.0", S::kReclaiming);
  EXPECT_EQ(lanes_of("deep.0"), (Lanes{1, 1, 1, 1, 1, 1}));
}

TEST_F(RecoveryTest, LanesOfAGroupWithoutWorkersBelongToNobody) {
  ends("deep.0");
  ends("deep.1");
  tick_until("deep.0", S::kVacant);
  tick_until("deep.1", S::kVacant);
  EXPECT_EQ(lanes_of("deep.0"), (Lanes{-1, -1, -1, -1, -1, -1}));
  enters("deep.1", 2);
  tick();
  EXPECT_EQ(lanes_of("deep.0"), (Lanes{1, 1, 1, 1, 1, 1}));
}

TEST_F(RecoveryTest, EveryStepWakesWhoSleeps) {
  world_.entry("egress.0").sleeping = 1;
  ends("front.0");
  tick();
  EXPECT_EQ(world_.entry("egress.0").sleeping, 0u);
}

TEST_F(RecoveryTest, TheLeaderLooksAgainSoonWhileSomethingIsUnderWay) {
  deaf_ = {"deep.1"};
  ends("front.0");
  EXPECT_EQ(tick(), 0) << "something moved";
  EXPECT_EQ(tick(), 1) << "an acknowledgement is awaited";
  deaf_.clear();
  tick_until("front.0", S::kVacant);
  EXPECT_EQ(tick(), 4);
}

TEST_F(RecoveryTest, TheStandbyRecoversTheHubAndGoesOnWithWhatItHadBegun) {
  deaf_ = {"deep.1"};
  ends("front.0");
  tick();
  ASSERT_EQ(world_.state_of("front.0"), S::kFenced);
  hub_dies();
  deaf_.clear();
  tick_until("front.0", S::kVacant);
  tick_until("hub", S::kVacant);
  EXPECT_EQ(world_.state_of("standby"), S::kAlive);
}

// A group by flows whose functions keep nothing.
constexpr const char* kWithoutState = R"(
millrace: 1
name: flows
ports: { a: { device: "null" }, b: { device: "null" } }
workers: { deep: { kind: classifier, count: 2, max: 2, dispatch: flow } }
functions: { only: { type: pass, on: deep } }
paths: { one: { from: [a], run: [only], lanes: 6 } }
)";

class StatelessLanesTest : public RecoveryTest {
 protected:
  StatelessLanesTest() : RecoveryTest(kWithoutState) {}
};

TEST_F(StatelessLanesTest, LanesWithoutStateAreSharedOutAgainWhenAWorkerReturns) {
  ends("deep.1");
  tick_until("deep.1", S::kVacant);
  EXPECT_EQ(lanes_of("deep.0"), (Lanes{0, 0, 0, 0, 0, 0}));
  enters("deep.1", 2);
  tick();
  EXPECT_EQ(lanes_of("deep.0"), (Lanes{0, 1, 0, 1, 0, 1}));
}

}  // namespace
}  // namespace millrace
