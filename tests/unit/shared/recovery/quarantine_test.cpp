// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "shared/links/inbox.hpp"
#include "shared/recovery/recovery.hpp"
#include "tests/unit/shared/recovery/recovery_fixture.hpp"

/// shared/recovery/quarantine.cpp: holes left by what cannot be killed.

namespace millrace {
namespace {

using S = ActorState;
using Numbers = std::vector<std::uint32_t>;

constexpr std::uint8_t kFirst = 0, kSecond = 1, kThird = 2;

class QuarantineTest : public test::RecoveryFixture {
 protected:
  void cannot_be_killed(const char* name) {
    silent_ = {name};
    processes_.unkillable = {world_.pid_of(name)};
    tick_for(4'000);
    ASSERT_EQ(world_.state_of(name), S::kQuarantined);
    tick_for(500);
  }
  std::uint32_t held(const char* owner, std::uint8_t stage, std::uint64_t sequence = 1) {
    return world_.make({.sequence = sequence, .owner = owner, .state = {SlotKind::kHeld, stage}});
  }
  /// Stand-in slots that are in use.
  Numbers stand_ins() const {
    Numbers all;
    for (std::uint32_t slot = world_.plan.slot_count; slot < world_.segment.slot_count(); ++slot) {
      if (world_.slot_state(slot).kind != SlotKind::kFree) all.push_back(slot);
    }
    return all;
  }
};

TEST_F(QuarantineTest, AStandInOfTheSameSequenceFillsTheHole) {
  const std::uint32_t slot = held("front.2", kFirst, 4);
  cannot_be_killed("front.2");
  ASSERT_EQ(stand_ins().size(), 1u);
  const SlotHeader& header = world_.segment.slot(stand_ins()[0]);
  EXPECT_EQ(header.sequence, 4u);
  EXPECT_EQ(header.received_total, 12u);
  EXPECT_EQ(header.count, 3u);
  EXPECT_EQ(header.flags, kSlotStandIn);
  const Batch batch = world_.segment.batch(stand_ins()[0]);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(batch.goes_on(i));
    EXPECT_EQ(batch.reason[i], static_cast<std::uint8_t>(Reason::kQuarantined));
  }
  EXPECT_EQ(handed_to(stand_ins()[0]), "deep.0") << "the stage with state must see it";
  EXPECT_EQ(world_.owner_of(slot), world_.owner_word("front.2")) << "what it has it keeps";
  EXPECT_EQ(totals().quarantined_slots, 1u);
}

TEST_F(QuarantineTest, AStandInBeyondTheLastStageWithStateGoesToTheEgress) {
  world_.make({.lane = 1, .owner = "deep.1", .state = {SlotKind::kWorked, kThird}});
  cannot_be_killed("deep.1");
  ASSERT_EQ(stand_ins().size(), 1u);
  EXPECT_EQ(handed_to(stand_ins()[0]), "egress.0");
}

TEST_F(QuarantineTest, ItsLaneGoesOnBehindTheBatchThatItHadInHand) {
  world_.make({.lane = 1, .sequence = 9, .owner = "deep.1", .state = {SlotKind::kWorked, kThird}});
  LaneWindow& window = world_.segment.lane_window(kThird, 0, 1);
  window.released = 8;
  window.dirty = 1;
  cannot_be_killed("deep.1");
  EXPECT_EQ(window.released, 9u) << "or the next worker waits for it for ever";
  EXPECT_EQ(window.dirty, 0u);
  EXPECT_EQ(totals().lane_states_discarded, 1u) << "the function has no log";
}

TEST_F(QuarantineTest, WhatLiesInItsRingsIsReplacedToo) {
  world_.send("ingress.a.0", "front.2", {.sequence = 1});
  world_.send("front.2", "deep.0",
              {.sequence = 2, .owner = "front.2", .state = {SlotKind::kHeld, kThird}});
  cannot_be_killed("front.2");
  EXPECT_EQ(stand_ins().size(), 2u);
  EXPECT_EQ(world_.link("ingress.a.0", "front.2").size(), 1u) << "its rings are never touched";
  EXPECT_EQ(world_.link("front.2", "deep.0").size(), 1u);
}

TEST_F(QuarantineTest, WhatHasLeftItsHandsIsNotReplaced) {
  const std::uint32_t slot = held("front.2", kFirst);
  ASSERT_TRUE(world_.push("hub", "front.0", world_.word_of(slot, kFirst)));
  world_.make({.sequence = 2, .owner = "front.2", .state = {SlotKind::kFree, 0}});
  held("front.1", kFirst, 3);
  cannot_be_killed("front.2");
  EXPECT_TRUE(stand_ins().empty());
}

TEST_F(QuarantineTest, WhatTheLedgerHasAlreadyIsNotReplaced) {
  held("front.2", kFirst, 4);
  world_.status.ledger(0, 0).released = 4;
  cannot_be_killed("front.2");
  EXPECT_TRUE(stand_ins().empty());
}

TEST_F(QuarantineTest, ASecondLeaderFillsNoHoleTwice) {
  held("front.2", kFirst, 4);
  cannot_be_killed("front.2");
  hub_dies();
  tick_for(1'000);
  EXPECT_EQ(stand_ins().size(), 1u);
  EXPECT_EQ(totals().quarantined_slots, 1u);
}

TEST_F(QuarantineTest, ItsBatchesAtAGpuAreClaimedBeforeTheyAreReplaced) {
  const std::uint32_t slot = held("front.2", kSecond);
  world_.segment.slot(slot).gpu_holder =
      holder_word(world_.owner_word("gpu.0.a"), world_.segment.slot(slot).generation);
  Inbox inbox(world_.context("deep.0"));
  inbox.read_roster();
  cannot_be_killed("front.2");
  EXPECT_EQ(stand_ins().size(), 1u);
  ASSERT_TRUE(world_.push("gpu.0.a", "deep.0", world_.word_of(slot, kSecond)));
  Taken taken;
  while (inbox.take(taken)) EXPECT_NE(taken.slot, slot) << "two batches of one sequence";
  EXPECT_EQ(world_.context("deep.0").counter(Counter::kCompletionsLate), 1u);
}

TEST_F(QuarantineTest, AnAcceptanceUnderWayIsTheLivingAcceptors) {
  const std::uint32_t slot = held("front.2", kSecond);
  world_.segment.slot(slot).gpu_holder =
      holder_word(world_.owner_word("deep.0"), world_.segment.slot(slot).generation);
  cannot_be_killed("front.2");
  EXPECT_TRUE(stand_ins().empty()) << "two batches of one sequence";
  EXPECT_EQ(owner_of_holder(world_.segment.slot(slot).gpu_holder), world_.owner_word("deep.0"));
}

TEST_F(QuarantineTest, AnAcceptanceThatItHadBegunIsReplaced) {
  const std::uint32_t slot = held("front.0", kSecond);
  world_.segment.slot(slot).gpu_holder =
      holder_word(world_.owner_word("deep.1"), world_.segment.slot(slot).generation);
  cannot_be_killed("deep.1");
  EXPECT_EQ(stand_ins().size(), 1u);
}

TEST_F(QuarantineTest, ACompletionThatItHasNotReadIsReplaced) {
  const std::uint32_t slot = held("front.0", kSecond);
  world_.segment.slot(slot).gpu_holder =
      holder_word(world_.owner_word("gpu.0.a"), world_.segment.slot(slot).generation);
  ASSERT_TRUE(world_.push("gpu.0.a", "deep.1", world_.word_of(slot, kSecond)));
  cannot_be_killed("deep.1");
  EXPECT_EQ(stand_ins().size(), 1u);
  EXPECT_EQ(world_.segment.slot(slot).gpu_holder, 0u);
}

TEST_F(QuarantineTest, LateCompletionsInItsLinksReplaceNothing) {
  const std::uint32_t accepted = held("egress.0", kEgressStage, 1);
  ASSERT_TRUE(world_.push("gpu.0.a", "deep.1", world_.word_of(accepted, kSecond)));
  const std::uint32_t used_again = held("front.0", kSecond, 2);
  ASSERT_TRUE(world_.push("gpu.0.a", "deep.1", world_.word_of(used_again, kSecond)));
  ++world_.segment.slot(used_again).generation;
  world_.segment.slot(used_again).gpu_holder =
      holder_word(world_.owner_word("gpu.0.a"), world_.segment.slot(used_again).generation);
  cannot_be_killed("deep.1");
  EXPECT_TRUE(stand_ins().empty()) << "two batches of one sequence";
  EXPECT_EQ(owner_of_holder(world_.segment.slot(used_again).gpu_holder),
            world_.owner_word("gpu.0.a"));
}

TEST_F(QuarantineTest, ItsLanesGoToTheLiving) {
  cannot_be_killed("deep.1");
  const std::uint32_t group = world_.plan.actors[world_.actor("deep.1")].group;
  for (std::uint32_t lane = 0; lane < 4; ++lane) {
    EXPECT_EQ(world_.status.lane_map(group).worker[lane], 0u);
  }
}

TEST_F(QuarantineTest, WithoutAStandInLeftTheStreamStopsAndSaysSo) {
  held("front.2", kFirst, 4);
  for (std::uint32_t slot = world_.plan.slot_count; slot < world_.segment.slot_count(); ++slot) {
    world_.segment.slot(slot).state = SlotState{SlotKind::kHeld, kThird}.word();
  }
  cannot_be_killed("front.2");
  EXPECT_TRUE(told("front.2: no stand-in slot left: its stream stops"));
  EXPECT_EQ(totals().quarantined_slots, 0u);
}

}  // namespace
}  // namespace millrace
