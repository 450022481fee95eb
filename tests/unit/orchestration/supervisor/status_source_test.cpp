// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/status_source.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/metrics/counter_ids.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"
#include "tests/unit/support/loop_world.hpp"

namespace millrace {
namespace {

class StatusSourceTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kHz = 1'000'000'000;
  static Plan plan_with_function() {
    Plan plan = test::small_plan("status-source-" + std::to_string(::getpid()));
    plan.functions = {{.name = "ids", .type = "match"}};
    return plan;
  }
  Plan plan_ = plan_with_function();
  Mapping memory_ = Mapping::create_anonymous(status_layout(plan_).bytes);
  StatusView view_ = StatusView::create(memory_.base(), plan_, kHz);
  StatusSource source_{plan_, view_};
};

TEST_F(StatusSourceTest, TellsStateAndFactsOfAnActor) {
  EXPECT_EQ(source_.state(3), ActorState::kVacant);
  ActorEntry& entry = view_.actor(3);
  entry.state = static_cast<std::uint32_t>(ActorState::kReclaiming);
  entry.incarnation = 4;
  entry.pid = 123;
  entry.heartbeat_tsc = tsc_now() - 5 * kHz;
  view_.counters(3)[static_cast<std::size_t>(Counter::kPackets)] = 640;
  view_.counters(3)[static_cast<std::size_t>(Counter::kBatches)] = 10;
  EXPECT_EQ(source_.state(3), ActorState::kReclaiming);
  const StatusSource::Facts facts = source_.facts(3);
  EXPECT_EQ(facts.incarnation, 4U);
  EXPECT_EQ(facts.pid, 123);
  EXPECT_EQ(facts.packets, 640U);
  EXPECT_EQ(facts.batches, 10U);
  EXPECT_GE(facts.heartbeat_age_ms, 5000U);
  EXPECT_LT(facts.heartbeat_age_ms, 60'000U);
}

TEST_F(StatusSourceTest, KnowsNoAgeOfAHeartbeatThatNeverCame) {
  EXPECT_EQ(source_.facts(3).heartbeat_age_ms, 0U);
}

TEST_F(StatusSourceTest, CountsWhatIsInFlightInAllLanes) {
  view_.ingress_lane(0, 0).received = 100;
  view_.ingress_lane(0, 1).received = 7;
  LaneLedger& ledger = view_.ledger(0, 0);
  ledger.record[1].received = 90;
  ledger.flips = 1;
  EXPECT_EQ(source_.in_flight(), 17U);
  ledger.record[0].received = 100;
  ledger.flips = 2;
  EXPECT_EQ(source_.in_flight(), 7U);
}

TEST(StatusSourceOfLoops, CountsWhatIsInThemAsInFlight) {
  const test::SmallWorld world{test::kLoopTopology};
  const StatusSource source(world.plan, world.status);
  EXPECT_EQ(source.in_flight(), 0U);
  LaneLedger& ledger = world.status.ledger(0, 0);
  world.status.ingress_lane(0, 0).received = 9;
  ledger.record[1].received = 8;
  ledger.record[1].transmitted[2] = 8;
  ledger.flips = 1;
  EXPECT_EQ(source.in_flight(), 9U);
  world.status.ingress_lane(1, 1).received = 3;
  EXPECT_EQ(source.in_flight(), 9U) << "three of them are in a batch again";
}

TEST_F(StatusSourceTest, AddsUpWhatWasSkippedAndRefused) {
  view_.skipped(2, 0, SkipReason::kOverload) = 3;
  view_.skipped(3, 0, SkipReason::kOverload) = 4;
  view_.skipped(3, 0, SkipReason::kUnavailable) = 100;
  EXPECT_EQ(source_.skipped(0, SkipReason::kOverload), 7U);
  view_.ingress_lane(0, 0).refused.add(5, 300, 0);
  view_.ingress_lane(0, 1).refused.add(6, 360, 0);
  EXPECT_EQ(source_.refused(0), 11U);
}

TEST_F(StatusSourceTest, SeesWhichFunctionsAreOut) {
  view_.header().functions_out = 2;
  EXPECT_FALSE(source_.is_out(0));
  EXPECT_TRUE(source_.is_out(1));
}

TEST_F(StatusSourceTest, SeesThatIngressesLeavePortsAlone) {
  EXPECT_FALSE(source_.is_drained());
  view_.header().drained = 1;
  EXPECT_TRUE(source_.is_drained());
}

TEST_F(StatusSourceTest, IsExhaustedWhenEveryLivingIngressIs) {
  EXPECT_FALSE(source_.all_exhausted());
  view_.actor(2).exhausted = 1;
  EXPECT_FALSE(source_.all_exhausted()) << "what a dead ingress said does not count";
  view_.actor(2).state = static_cast<std::uint32_t>(ActorState::kAlive);
  EXPECT_TRUE(source_.all_exhausted());
  plan_.streams.clear();
  EXPECT_FALSE(source_.all_exhausted());
}

TEST_F(StatusSourceTest, AttachesToTheFileThatTheHubMade) {
  EXPECT_THROW(StatusSource{plan_}, Error);
  const Mapping file =
      Mapping::create_status(status_file_name(plan_.name), status_layout(plan_).bytes);
  const StatusView view = StatusView::create(file.base(), plan_, kHz);
  view.actor(7).state = static_cast<std::uint32_t>(ActorState::kAlive);
  const StatusSource attached(plan_);
  EXPECT_EQ(attached.state(7), ActorState::kAlive);
  destroy_shared_memory(plan_.name);
}

TEST_F(StatusSourceTest, SeesWhenAllThatWasUnderWayHasLeft) {
  view_.ingress_lane(0, 0).sealed_sequence = 3;
  view_.ingress_lane(0, 1).sealed_sequence = 5;
  const auto sealed = source_.sealed();
  EXPECT_EQ(sealed, (std::vector<std::uint64_t>{3, 5}));
  view_.ledger(0, 0).released = 9;
  view_.ledger(0, 1).released = 4;
  EXPECT_FALSE(source_.released(sealed));
  view_.ledger(0, 1).released = 5;
  EXPECT_TRUE(source_.released(sealed));
  EXPECT_TRUE(source_.released({}));
}

TEST_F(StatusSourceTest, TellsByWhichRevisionAnActorWorks) {
  EXPECT_EQ(source_.revision(3), 0U);
  view_.actor_tally(3).revision = 6;
  EXPECT_EQ(source_.revision(3), 6U);
}

}  // namespace
}  // namespace millrace
