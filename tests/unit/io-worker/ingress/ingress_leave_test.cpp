// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// When a batch leaves of a lane that has a backlog; the others are in ingress_actor_test.cpp.

#include <gtest/gtest.h>

#include "io-worker/ingress/ingress_actor.hpp"
#include "io-worker/ingress/lane_backlog.hpp"
#include "tests/unit/io-worker/ingress/ingress_fixture.hpp"

namespace millrace {
namespace {

using Ordinals = std::vector<std::uint64_t>;

class BacklogTest : public test::IngressFixture {
 protected:
  using IngressFixture::IngressFixture;
  /// Four full batches of the flow's lane.
  void put_a_backlog_in_flight(std::uint64_t flow = 0) {
    rx_.offer(8 * kBacklog, flow);
    rounds(1);
    ASSERT_EQ(left().size(), kBacklog);
  }
};

TEST_F(BacklogTest, WithABacklogOfItsLaneABatchGoesOnFilling) {
  put_a_backlog_in_flight();
  rx_.offer(2);
  rounds(10);
  rx_.offer(3);
  rounds(10);
  EXPECT_TRUE(left().empty());
  EXPECT_EQ(world_.entry("ingress.a.0").in_hand, 5u);
  EXPECT_EQ(world_.entry("ingress.a.0").resume_position, 32u);
  rx_.offer(4);
  rounds(1);
  EXPECT_EQ(left(), (std::vector<Left>{{0, 5, 40, 40, {32, 33, 34, 35, 36, 37, 38, 39}}}))
      << "it is full";
}

TEST_F(BacklogTest, ABatchThatWasHeldBackLeavesWhenTheBacklogIsLess) {
  put_a_backlog_in_flight();
  rx_.offer(2);
  rounds(10);
  release_one();
  rounds(1);
  EXPECT_EQ(left(), (std::vector<Left>{{0, 5, 34, 34, {32, 33}}}));
}

TEST_F(BacklogTest, WithLessThanABacklogABatchLeavesAfterFourRounds) {
  put_a_backlog_in_flight();
  release_one();
  rx_.offer(2);
  rounds(3);
  EXPECT_TRUE(left().empty());
  rounds(1);
  EXPECT_EQ(ordinals_of(left()), (Ordinals{32, 33}));
}

TEST_F(BacklogTest, WhileABatchIsHeldBackItSleepsUntilTheEgressWakesIt) {
  rx_.descriptor = 7;
  put_a_backlog_in_flight();
  EXPECT_EQ(ingress_->wait_descriptor(), 7);
  rx_.offer(2);
  rounds(3);
  EXPECT_TRUE(ingress_->has_work()) << "its rounds are not over";
  rounds(1);
  EXPECT_FALSE(ingress_->has_work());
  EXPECT_EQ(ingress_->wait_descriptor(), -1);
  EXPECT_EQ(ingress_->idle_ns(), 200'000u) << "the port is looked at meanwhile";
  release_one();
  EXPECT_TRUE(ingress_->has_work());
  rounds(1);
  EXPECT_EQ(left().size(), 1u);
  EXPECT_EQ(ingress_->wait_descriptor(), 7);
}

TEST_F(BacklogTest, WhatIsHeldBackLeavesWhenItIsStoppedOrDrained) {
  put_a_backlog_in_flight();
  rx_.offer(2);
  rounds(10);
  world_.status.header().drained = 1;
  EXPECT_FALSE(ingress_->has_work());
  rounds(1);
  EXPECT_EQ(ordinals_of(left()), (Ordinals{32, 33}));
  world_.status.header().drained = 0;
  rx_.offer(2);
  rounds(10);
  EXPECT_TRUE(left().empty());
  ingress_->stop();
  EXPECT_TRUE(ingress_->has_work());
  rounds(1);
  EXPECT_EQ(ordinals_of(left()), (Ordinals{34, 35}));
}

TEST_F(BacklogTest, AnEndedSourceIsNotExhaustedWhileABatchIsHeldBack) {
  put_a_backlog_in_flight();
  rx_.offer(2);
  rx_.ended = true;
  rounds(10);
  EXPECT_EQ(world_.entry("ingress.a.0").exhausted, 0u);
  release_one();
  rounds(1);
  EXPECT_EQ(left().size(), 1u);
  EXPECT_EQ(world_.entry("ingress.a.0").exhausted, 1u);
}

class BacklogLanesTest : public BacklogTest {
 protected:
  BacklogLanesTest() : BacklogTest(4, 32) {}
};

TEST_F(BacklogLanesTest, ABacklogOfOneLaneHoldsNoOtherBack) {
  const auto [busy, other] = test::flows_of_two_lanes(4);
  put_a_backlog_in_flight(busy);
  rx_.offer(2, busy);
  rounds(10);
  EXPECT_TRUE(left().empty());
  rx_.offer(2, other);
  rounds(1);
  EXPECT_EQ(ordinals_of(left()), (Ordinals{34, 35}));
  EXPECT_EQ(world_.entry("ingress.a.0").resume_position, 32u) << "the busy lane's are not sealed";
}

/// Four lanes that have turns.
class TurnTest : public test::IngressFixture {
 protected:
  TurnTest()
      : IngressFixture(
            "millrace: 1\nname: in\nbatch: { capacity: 8 }\n"
            "ports: { a: { device: \"null\" }, b: { device: \"null\" } }\n"
            "paths: { one: { from: a, run: [], order: none, lanes: 4, slots: 16 } }\n") {}
};

TEST_F(TurnTest, EachBatchHasTheNextLaneWhateverFlowsItsPacketsAreOf) {
  rx_.offer(20, 7);
  rx_.offer(20, 8);
  rounds(2);
  const std::vector<Left> batches = left();
  ASSERT_EQ(batches.size(), 5u);
  for (std::uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(batches[i].lane, i % 4);
    EXPECT_EQ(batches[i].sequence, 1 + i / 4);
    EXPECT_EQ(batches[i].received_total, 8u * batches[i].sequence);
    ASSERT_EQ(batches[i].ordinals.size(), 8u);
    EXPECT_EQ(batches[i].ordinals.front(), 8u * i);
  }
}

TEST_F(TurnTest, WhatIsInFlightOfAnyLaneLetsABatchFill) {
  rx_.offer(2);
  rounds(1);
  EXPECT_EQ(left().size(), 1u) << "nothing is in flight";
  rx_.offer(2);
  rounds(3);
  EXPECT_TRUE(left().empty()) << "lane 0 has a batch in flight, lane 1 would leave";
  rounds(1);
  EXPECT_EQ(left(), (std::vector<Left>{{1, 1, 2, 4, {2, 3}}}));
  release_all();
  rx_.offer(1);
  rounds(1);
  EXPECT_EQ(left(), (std::vector<Left>{{2, 1, 1, 5, {4}}}));
}

TEST_F(TurnTest, ABacklogIsThatOfAllLanesTogether) {
  rx_.offer(8 * kBacklog);
  rounds(1);
  ASSERT_EQ(left().size(), kBacklog);
  rx_.offer(2);
  rounds(10);
  EXPECT_TRUE(left().empty());
  release_one();
  rounds(1);
  EXPECT_EQ(ordinals_of(left()), (Ordinals{32, 33}));
}

TEST_F(TurnTest, ANextLifeKnowsWhatWasSealedInAnyLane) {
  rx_.offer(16);
  rounds(1);
  ASSERT_EQ(left().size(), 2u);
  world_.entry("ingress.a.0").resume_position = 0;  // it came to tell none
  rx_.offer(8);
  begin_life();
  rounds(2);
  const std::vector<Left> batches = left();
  EXPECT_EQ(ordinals_of(batches), (Ordinals{16, 17, 18, 19, 20, 21, 22, 23}));
  EXPECT_EQ(batches.front().sequence, 2u) << "of lane 0";
}

}  // namespace
}  // namespace millrace
