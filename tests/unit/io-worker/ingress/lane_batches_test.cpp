// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// When a batch leaves of a lane that has a backlog (the others are in ingress_actor_test.cpp), the
// column of keys, and how a next life goes on.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "io-worker/ingress/ingress_actor.hpp"
#include "io-worker/ingress/lane_backlog.hpp"
#include "shared/base/flow_key.hpp"
#include "tests/unit/io-worker/ingress/ingress_fixture.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

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

namespace millrace::test {
namespace {

// The column of keys: filled for each packet where the path has keys, left alone elsewhere.

/// Frames of all kinds, each once.
class MixedRx : public RxQueue {
 public:
  MixedRx() {
    std::mt19937 random(11);
    for (int i = 0; i < 60; ++i) {
      Frame frame = random_frame(random);
      if (frame.size() <= 1500) frames.push_back(std::move(frame));
    }
    const std::string text(20, 'x');
    for (int i = 0; i < 20; ++i) {
      frames.push_back(FrameBuilder().ipv4(6, 40).tcp(5).text(text).build());
      frames.push_back(FrameBuilder().ipv4(17, 28).udp(20).text(text).build());
    }
  }
  std::uint32_t poll(BufferSource& pool, std::span<RxPacket> out) noexcept override {
    std::uint32_t count = 0, buffer = 0;
    while (count < out.size() && next < frames.size() && pool.take({&buffer, 1}) == 1) {
      const Frame& frame = frames[next];
      std::memcpy(pool.area().at(buffer) + kBufferHeadroom, frame.data(), frame.size());
      const auto bytes = static_cast<std::uint16_t>(frame.size());
      out[count++] = {buffer, kBufferHeadroom, bytes, bytes, false, false, next++, 0};
    }
    return count;
  }
  void resume(std::uint64_t first_wanted) noexcept override { next = first_wanted; }
  bool exhausted() const noexcept override { return next >= frames.size(); }
  std::uint64_t next_ready_ns() const noexcept override { return 0; }
  int wait_descriptor() noexcept override { return -1; }
  std::uint32_t held() const noexcept override { return 0; }

  std::vector<Frame> frames;
  std::uint64_t next = 0;
};

/// How many packets of all slots have been looked at, and how many of their keys say something.
struct Seen {
  std::uint32_t packets = 0, written = 0, usual = 0;
};

Seen keys_after_ingress(const std::string& path) {
  const test::SmallWorld world(
      "millrace: 1\nname: in\nbatch: { capacity: 8 }\n"
      "ports: { a: { device: \"null\" }, b: { device: \"null\" } }\n"
      "workers: { front: { kind: classifier }, gpu: { kind: gpu, device: software } }\n"
      "functions: { k: { type: keyed, on: gpu }, p: { type: pass, on: gpu } }\n"
      "paths: { one: { from: [a], slots: 64, " +
      path + " } }\n");
  world.start_all();
  ActorContext context = world.context("ingress.a.0");
  context.me.incarnation = 1;
  const PlanStream& stream = world.plan.streams[0];
  const auto all_of = [&](std::uint32_t slot) {
    return world.segment.batch(slot, world.segment.capacity()).key;
  };
  for (std::uint32_t i = 0; i < stream.slot_count; ++i) {
    for (FlowKey& key : all_of(stream.slot_first + i)) std::memset(&key, 0xee, sizeof key);
  }
  MixedRx rx;
  const std::size_t offered = rx.frames.size();
  BufferPool pool(context, 0);
  IngressActor ingress(context, 0, pool, rx);
  ingress.read_roster();
  for (int i = 0; i < 200; ++i) ingress.do_work();
  Seen seen;
  for (std::uint32_t i = 0; i < stream.slot_count; ++i) {
    const Batch batch = world.segment.batch(stream.slot_first + i);
    for (std::uint32_t packet = 0; packet < batch.count; ++packet, ++seen.packets) {
      const FlowKey expected = flow_key_of(batch.bytes(packet));
      seen.usual += expected.protocol != 0 ? 1 : 0;
      seen.written += std::memcmp(&batch.key[packet], &expected, sizeof expected) == 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(seen.packets, offered);
  return seen;
}

TEST(IngressKeys, AreWrittenWhereThePathHasThem) {
  for (const char* const lanes : {"1", "4"}) {
    const Seen seen = keys_after_ingress(std::string("run: [k], lanes: ") + lanes);
    EXPECT_EQ(seen.written, seen.packets) << lanes;
    EXPECT_GE(seen.usual, 40u) << lanes;
    EXPECT_LT(seen.usual, seen.packets) << lanes;
  }
}

TEST(IngressKeys, AreNotWrittenElsewhere) {
  EXPECT_EQ(keys_after_ingress("run: [p], lanes: 4").written, 0u);
  EXPECT_EQ(keys_after_ingress("run: [p], lanes: 1").written, 0u);
}

class NextLifeTest : public IngressFixture {};

TEST_F(NextLifeTest, TheNextLifeGoesOnWithSequenceTotalsAndPositionOfTheSlots) {
  rx_.offer(20);
  rounds(4);
  ASSERT_EQ(left().size(), 3u);
  release_one();
  begin_life();
  EXPECT_EQ(rx_.resumed, 20u);
  rx_.offer(2);
  rounds(4);
  EXPECT_EQ(left(), (std::vector<Left>{{0, 4, 22, 22, {20, 21}}}));
}

TEST_F(NextLifeTest, TheNextLifeGoesOnBehindTheLedgerWhenNothingIsInFlight) {
  rx_.offer(20);
  rounds(4);
  release_all();
  begin_life();
  rx_.offer(1);
  rounds(1);
  EXPECT_EQ(left(), (std::vector<Left>{{0, 4, 21, 21, {20}}}));
}

TEST_F(NextLifeTest, ANextLifeHasEverySlotOnceHoweverItWasReturned) {
  rx_.offer(8 * 16);
  rounds(5);
  left();
  release_one();
  release_one();
  begin_life();
  rx_.offer(8 * 20);
  rounds(20);
  EXPECT_EQ(left().size(), 2u);
  std::set<std::uint32_t> slots(in_flight_.begin(), in_flight_.end());
  EXPECT_EQ(slots.size(), 16u);
}

}  // namespace
}  // namespace millrace::test
