// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "tests/unit/io-worker/ingress/ingress_fixture.hpp"

namespace millrace {
namespace {

/// Two queues of one port; that of `ingress_` was there first. Batches of 8 packets.
class IngressTurnTest : public test::IngressFixture {
 public:
  ~IngressTurnTest() override { ingress_.reset(); }

 protected:
  static constexpr std::uint64_t kAsked = 77;

  IngressTurnTest()
      : IngressFixture(
            "millrace: 1\nname: in\nbatch: { capacity: 8 }\n"
            "ports: { a: { device: afpacket, interface: x, queues: 2 }, b: { device: \"null\" } }\n"
            "paths: { one: { from: [a], run: [], lanes: 2, slots: 6 } }\n"),
        added_context_(world_.context("ingress.a.1")),
        added_pool_(added_context_, 1),
        added_(added_context_, 1, added_pool_, added_rx_) {
    added_.read_roster();
  }
  void ask() {
    world_.entry("ingress.a.1").turn_asked = kAsked;
    ingress_->take_stock(1);
  }
  std::uint64_t served() const { return world_.entry("ingress.a.0").turn_served; }
  void offer_some(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) rx_.offer(1, i * 0x010203);
  }

  test::FakeRx added_rx_;
  ActorContext added_context_;
  BufferPool added_pool_;
  IngressActor added_;
};

TEST_F(IngressTurnTest, ATurnIsServedWhenAllThatWaitedHasLeft) {
  offer_some(40);
  ask();
  for (int i = 0; i < 50 && !rx_.offered.empty() && rx_.next < rx_.offered.size(); ++i) {
    rounds(1);
    EXPECT_EQ(served(), 0u);
    left();
    if (!in_flight_.empty()) release_one();
  }
  ASSERT_EQ(rx_.next, 40u) << "all were polled";
  rounds(2);
  left();
  while (!in_flight_.empty()) {
    EXPECT_EQ(served(), 0u) << in_flight_.size() << " batches are under way";
    release_one();
    rounds(1);
    left();
  }
  rounds(1);
  EXPECT_EQ(served(), kAsked);
}

TEST_F(IngressTurnTest, WhatComesLaterIsNotWaitedFor) {
  rx_.ring = 16;
  offer_some(16);
  ask();
  std::uint32_t waits = 0;
  while (served() == 0 && waits < 100) {
    offer_some(4);  // the queue is never empty
    rounds(1);
    left();
    while (in_flight_.size() > 1) release_one();
    ++waits;
  }
  EXPECT_EQ(served(), kAsked);
  EXPECT_GE(rx_.next, 16u);
  EXPECT_FALSE(in_flight_.empty() && rx_.next == rx_.offered.size());
}

TEST_F(IngressTurnTest, TheNextLifeServesIt) {
  offer_some(8);
  rounds(2);
  ASSERT_FALSE(left().empty());
  ask();
  begin_life();
  ingress_->take_stock(2);
  rounds(3);
  EXPECT_EQ(served(), 0u);
  release_all();
  rounds(3);
  release_all();
  rounds(2);
  EXPECT_EQ(served(), kAsked);
}

TEST_F(IngressTurnTest, AnAddedQueueIsNotPolledBeforeItsTurn) {
  added_rx_.offer(8);
  added_.await_turn(2);
  const std::uint64_t asked = world_.entry("ingress.a.1").turn_asked;
  ASSERT_NE(asked, 0u);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(added_.do_work(), 0u);
  EXPECT_EQ(added_.wait_descriptor(), -1);
  EXPECT_EQ(added_rx_.polls, 0);
  world_.entry("ingress.a.0").turn_served = asked - 1;
  added_.do_work();
  EXPECT_EQ(added_rx_.polls, 0) << "that was an answer to somebody before";
  world_.entry("ingress.a.0").turn_served = asked;
  added_.do_work();
  EXPECT_NE(added_.do_work(), 0u);
  EXPECT_EQ(added_rx_.next, 8u);
}

TEST_F(IngressTurnTest, WhoIsGoneIsNotWaitedForOnceItsBatchesHaveLeft) {
  offer_some(8);
  rounds(6);
  left();
  ASSERT_FALSE(in_flight_.empty());
  added_rx_.offer(8);
  added_.await_turn(2);
  world_.set("ingress.a.0", ActorState::kVacant);
  for (int i = 0; i < 10; ++i) added_.do_work();
  EXPECT_EQ(added_rx_.polls, 0);
  while (!in_flight_.empty()) release_one();
  for (int i = 0; i < 2; ++i) added_.do_work();
  EXPECT_EQ(added_rx_.next, 8u);
}

TEST_F(IngressTurnTest, AllButTheLastWaitForItsQuestion) {
  added_.await_turn(1);  // the last is that of `ingress_`
  added_rx_.offer(8);
  for (int i = 0; i < 5; ++i) added_.do_work();
  EXPECT_EQ(added_rx_.polls, 0);
  world_.entry("ingress.a.0").turn_asked = kAsked;
  for (int i = 0; i < 2; ++i) added_.do_work();
  EXPECT_EQ(added_rx_.next, 8u) << "nobody else has to answer";
}

TEST_F(IngressTurnTest, OneThatWaitsAnswersAtOnce) {
  added_.await_turn(1);
  world_.entry("ingress.a.0").turn_asked = kAsked;
  added_.take_stock(1);
  added_.do_work();
  EXPECT_EQ(world_.entry("ingress.a.1").turn_served, kAsked);
}

TEST_F(IngressTurnTest, AStopIsNotHeldUp) {
  added_.await_turn(2);
  added_.stop();
  EXPECT_TRUE(added_.finished());
}

}  // namespace
}  // namespace millrace
