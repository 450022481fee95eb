// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/recovery/laws.hpp"

#include <gtest/gtest.h>

#include "tests/unit/shared/recovery/recovery_fixture.hpp"

namespace millrace {
namespace {

class LawsTest : public test::RecoveryFixture {
 protected:
  LawsTest() {
    slot_ = world_.make(
        {.lane = 2, .sequence = 7, .owner = "deep.0", .state = {SlotKind::kHeld, kEgressStage}});
  }
  SlotHeader& header() { return world_.segment.slot(slot_); }

  ActorContext context_ = world_.context("hub");
  std::uint32_t slot_ = 0;
};

TEST_F(LawsTest, ABatchAsItsIngressSealedItKeepsThemAll) {
  EXPECT_EQ(checked_state(context_, header()), (SlotState{SlotKind::kHeld, kEgressStage}));
  EXPECT_EQ(&checked_batch(context_, slot_), &header());
  const std::uint64_t word = world_.word_of(slot_, kEgressStage);
  EXPECT_EQ(checked_descriptor(context_, word).slot, slot_);
  EXPECT_EQ(checked_state(context_, world_.actor("deep.0")), ActorState::kAlive);
}

TEST_F(LawsTest, AStateThatNoStoreWritesEndsTheLeader) {
  header().state = kSlotKindCount;
  EXPECT_DEATH(checked_state(context_, header()), "CHECK");
  header().state = SlotState{SlotKind::kWorked, kEgressStage}.word();
  EXPECT_DEATH(checked_state(context_, header()), "CHECK") << "no function runs there";
  world_.entry("deep.0").state = kActorStateCount;
  EXPECT_DEATH(checked_state(context_, world_.actor("deep.0")), "CHECK");
}

TEST_F(LawsTest, AHeaderBeyondTheTablesEndsTheLeader) {
  EXPECT_DEATH(checked_batch(context_, world_.segment.slot_count()), "CHECK");
  header().lane = 60'000;
  EXPECT_DEATH(checked_batch(context_, slot_), "CHECK");
  header().lane = 2;
  header().count = static_cast<std::uint16_t>(world_.segment.capacity() + 1);
  EXPECT_DEATH(checked_batch(context_, slot_), "CHECK");
}

TEST_F(LawsTest, ADescriptorOfAnotherGenerationEndsTheLeader) {
  const std::uint64_t word = world_.word_of(slot_, kEgressStage);
  ++header().generation;
  EXPECT_DEATH(checked_descriptor(context_, word), "CHECK");
}

}  // namespace
}  // namespace millrace
