// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/links/skipping.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "shared/links/outbox.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using test::SmallWorld;

/// Stage 0: `look` and `mark`; stage 1: `state`, in order; then the egress.
const std::string kText = R"(
millrace: 1
name: skip
batch: { capacity: 8 }
ports: { a: { device: "null" }, b: { device: "null" } }
workers:
  front: { kind: classifier, max: 2 }
  deep: { kind: classifier, max: 1, dispatch: flow }
functions:
  look: { type: pass, on: front, classes: [hot], unavailable: pass, overload: pass, share: 4 }
  mark: { type: pass, on: front, when: class hot, unavailable: drop, overload: drop }
  state: { type: state, on: deep, unavailable: pass }
paths: { p: { from: a, to: b, run: [look, mark, state], lanes: 2 } }
)";

constexpr std::uint8_t kFront = 0, kDeep = 1;

class SkippingTest : public ::testing::Test {
 protected:
  SkippingTest() {
    world_.start_all();
    auto& worker = world_.status.lane_map(1).worker;
    for (std::uint32_t lane = 0; lane < 2; ++lane) worker[lane] = 0;
  }
  Outbox open() {
    Outbox outbox(world_.context("ingress.a.0"));
    outbox.read_roster();
    return outbox;
  }
  /// Three packets, of which the second is hot.
  std::uint32_t batch(std::uint64_t sequence, std::uint8_t stage = kFront, std::uint32_t lane = 0) {
    const std::uint32_t slot =
        world_.make({.lane = lane, .sequence = sequence, .state = {SlotKind::kHeld, stage}});
    const Batch made = world_.segment.batch(slot);
    for (std::uint32_t i = 0; i < made.count; ++i) made.classes[i] = i == 1 ? 1 : 0;
    return slot;
  }
  std::uint64_t dropped_for(std::uint32_t function, Reason reason) {
    const std::uint32_t me = world_.actor("ingress.a.0");
    return world_.status.drops(me, 0, function).dropped[static_cast<std::size_t>(reason)];
  }
  std::uint64_t skipped(std::uint32_t function, SkipReason why) {
    return world_.status.skipped(world_.actor("ingress.a.0"), function, why);
  }
  std::uint64_t released() const { return released_in_window(world_.segment, kDeep, 0, 0); }

  SmallWorld world_{kText};
};

TEST_F(SkippingTest, AGroupThatIsAliveIsVisited) {
  Outbox outbox = open();
  outbox.send(batch(1), kFront);
  EXPECT_EQ(world_.slots_in("ingress.a.0", "front.0").size(), 1u);
  EXPECT_EQ(skipped(0, SkipReason::kUnavailable), 0u);
}

TEST_F(SkippingTest, ADeadGroupIsGonePastAndEachFunctionHasItsWay) {
  world_.set("front.0", ActorState::kVacant);
  Outbox outbox = open();
  const std::uint32_t slot = batch(1);
  outbox.send(slot, kFront);
  EXPECT_EQ(world_.slots_in("ingress.a.0", "deep.0"), std::vector<std::uint32_t>{slot});
  EXPECT_EQ(world_.slot_state(slot), (SlotState{SlotKind::kHeld, kDeep}));
  const Batch batch = world_.segment.batch(slot);
  EXPECT_TRUE(batch.goes_on(0) && batch.goes_on(2));
  EXPECT_FALSE(batch.goes_on(1));
  EXPECT_EQ(batch.reason[1], static_cast<std::uint8_t>(Reason::kUnavailable));
  EXPECT_EQ(skipped(0, SkipReason::kUnavailable), 3u);
  EXPECT_EQ(skipped(1, SkipReason::kUnavailable), 1u);
  EXPECT_EQ(dropped_for(0, Reason::kUnavailable), 0u) << "it lets pass";
  EXPECT_EQ(dropped_for(1, Reason::kUnavailable), 1u);
  EXPECT_EQ(skipped(0, SkipReason::kOverload), 0u);
}

TEST_F(SkippingTest, WhatWaitedForAGroupThatDiedGoesPastItToo) {
  Outbox outbox = open();
  outbox.send(batch(1), kFront);
  world_.set("front.0", ActorState::kReclaiming);
  outbox.read_roster();
  EXPECT_EQ(outbox.pending(), 1u);
  EXPECT_EQ(outbox.flush(), 1u);
  EXPECT_EQ(world_.slots_in("ingress.a.0", "deep.0").size(), 1u);
}

TEST_F(SkippingTest, WhatTheShareHasNoRoomForGoesPast) {
  Outbox outbox = open();
  for (std::uint64_t sequence = 1; sequence <= 3; ++sequence) {
    for (const std::uint32_t lane : {0u, 1u}) outbox.send(batch(sequence, kFront, lane), kFront);
  }
  EXPECT_EQ(world_.slots_in("ingress.a.0", "front.0").size(), 4u);
  const auto past = world_.slots_in("ingress.a.0", "deep.0");
  ASSERT_EQ(past.size(), 2u);
  EXPECT_EQ(skipped(0, SkipReason::kOverload), 6u);
  EXPECT_EQ(dropped_for(0, Reason::kOverload), 0u) << "it lets pass";
  EXPECT_EQ(dropped_for(1, Reason::kOverload), 2u);
  EXPECT_EQ(world_.segment.batch(past[0]).reason[1], static_cast<std::uint8_t>(Reason::kOverload));
}

TEST_F(SkippingTest, OneLaneCannotUseUpTheShareOfAnother) {
  Outbox outbox = open();
  for (std::uint64_t sequence = 1; sequence <= 3; ++sequence) {
    outbox.send(batch(sequence, kFront, 0), kFront);
  }
  EXPECT_EQ(world_.slots_in("ingress.a.0", "deep.0").size(), 1u);
  outbox.send(batch(1, kFront, 1), kFront);
  EXPECT_EQ(world_.slots_in("ingress.a.0", "front.0").size(), 3u);
}

TEST_F(SkippingTest, APlaceIsFreeWhenTheBatchIsThroughTheStageWhereverItWas) {
  Outbox outbox = open();
  const std::uint32_t first = batch(1);
  const std::uint32_t second = batch(2);
  outbox.send(first, kFront);
  outbox.send(second, kFront);
  std::uint64_t words[2];
  ASSERT_EQ(world_.link("ingress.a.0", "front.0").take(words, [](std::uint64_t) {}), 2u);
  SlotHeader& header = world_.segment.slot(first);
  header.state = SlotState{SlotKind::kWorked, kFront}.word();
  outbox.send(batch(3), kFront);
  EXPECT_EQ(skipped(0, SkipReason::kOverload), 3u) << "both are in its hands";
  header.state = SlotState{SlotKind::kHeld, kDeep}.word();
  outbox.send(batch(4), kFront);
  EXPECT_EQ(skipped(0, SkipReason::kOverload), 3u) << "one has left";
  ++world_.segment.slot(second).generation;
  outbox.send(batch(5), kFront);
  EXPECT_EQ(skipped(0, SkipReason::kOverload), 3u) << "the slot holds another batch";
  outbox.send(batch(6), kFront);
  EXPECT_EQ(skipped(0, SkipReason::kOverload), 6u);
}

TEST(SkippingShare, OfManyBatchesAFewAreLookedAtForEachThatComes) {
  SmallWorld world(R"(
millrace: 1
name: wide
batch: { capacity: 8 }
ports: { a: { device: "null" }, b: { device: "null" } }
workers: { front: { kind: classifier, max: 1 } }
functions: { look: { type: pass, on: front, overload: pass, share: 40 } }
paths: { p: { from: a, to: b, run: look, slots: 60 } }
)");
  world.start_all();
  Outbox outbox(world.context("ingress.a.0"));
  outbox.read_roster();
  std::vector<std::uint32_t> slots;
  const auto send = [&] {
    slots.push_back(world.make({.sequence = slots.size() + 1, .state = {SlotKind::kHeld, 0}}));
    outbox.send(slots.back(), 0);
  };
  const auto in_stage = [&] { return world.slots_in("ingress.a.0", "front.0").size(); };
  for (int i = 0; i < 41; ++i) send();
  ASSERT_EQ(in_stage(), 40u);
  world.segment.slot(slots[0]).state = SlotState{SlotKind::kHeld, kEgressStage}.word();
  send();
  EXPECT_EQ(in_stage(), 41u) << "the oldest has left: the first look";
  world.segment.slot(slots[39]).state = SlotState{SlotKind::kHeld, kEgressStage}.word();
  int sent = 0;
  for (; in_stage() == 41 && sent < 6; ++sent) send();
  EXPECT_EQ(in_stage(), 42u) << "the looks go round";
  EXPECT_GT(sent, 1) << "but not at once";
}

TEST_F(SkippingTest, RecoveryHasNoShareOfItsOwn) {
  Outbox outbox(world_.context("hub"));
  outbox.read_roster();
  for (std::uint64_t sequence = 1; sequence <= 6; ++sequence) outbox.send(batch(sequence), kFront);
  EXPECT_EQ(world_.slots_in("hub", "front.0").size(), 6u);
}

TEST_F(SkippingTest, AWindowGoesOnBehindNumbersThatWereSkippedInAnyOrder) {
  world_.set("deep.0", ActorState::kVacant);
  Outbox outbox = open();
  outbox.send(batch(2, kDeep), kDeep);
  EXPECT_EQ(released(), 0u);
  outbox.send(batch(3, kDeep), kDeep);
  outbox.send(batch(1, kDeep), kDeep);
  EXPECT_EQ(released(), 3u);
  EXPECT_EQ(world_.slots_in("ingress.a.0", "egress.0").size(), 3u);
  EXPECT_EQ(skipped(2, SkipReason::kUnavailable), 9u);
}

TEST_F(SkippingTest, ANumberIsSkippedOnceAndNotAgainAfterTheNotesCameAround) {
  world_.set("deep.0", ActorState::kVacant);
  Outbox outbox = open();
  const std::uint32_t slot = batch(5, kDeep);
  outbox.send(slot, kDeep);
  EXPECT_TRUE(is_skipped(world_.segment, kDeep, world_.segment.slot(slot)));
  const std::uint32_t depth = world_.segment.layout().skip_depth;
  ASSERT_GT(depth, world_.plan.streams[0].slot_count);
  world_.segment.slot(slot).sequence += depth;
  EXPECT_FALSE(is_skipped(world_.segment, kDeep, world_.segment.slot(slot)));
}

TEST_F(SkippingTest, ProducersAndAWorkerTakeTurnsInOneWindow) {
  constexpr std::uint64_t kCount = 60'000;
  LaneWindow& window = world_.segment.lane_window(kDeep, 0, 0);
  const std::uint64_t depth = world_.segment.layout().skip_depth;
  // Three producers skip two numbers of three between them, the worker does the third.
  const auto skipper = [&](std::uint64_t first) {
    SlotHeader header{};
    for (std::uint64_t sequence = first; sequence <= kCount; sequence += 6) {
      while (sequence > window.released.load() + depth / 2) std::this_thread::yield();
      header.sequence = sequence;
      skip_in_window(world_.segment, kDeep, header);
    }
  };
  std::vector<std::thread> threads;
  for (const std::uint64_t first : {1u, 2u, 4u, 5u}) threads.emplace_back(skipper, first);
  for (std::uint64_t sequence = 3; sequence <= kCount; sequence += 3) {
    while (released() + 1 != sequence) std::this_thread::yield();
    window.released.store(sequence, std::memory_order_release);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(released(), kCount);
}

}  // namespace
}  // namespace millrace
