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

}  // namespace
}  // namespace millrace
