// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/links/sealed.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

class SealedTest : public ::testing::Test {
 protected:
  void put(std::uint64_t sequence, SlotKind kind, std::uint32_t lane = 0,
           std::uint32_t stream = 0) {
    world_.make({.stream = stream,
                 .lane = lane,
                 .sequence = sequence,
                 .owner = "front.0",
                 .state = {kind, 0}});
  }
  SealedLane of(std::uint32_t lane) const { return find_sealed(world_.context("hub"), 0)[lane]; }

  test::SmallWorld world_;
};

TEST_F(SealedTest, NothingIsSealedAtTheStart) {
  EXPECT_EQ(of(0).sequence, 0u);
  EXPECT_EQ(of(0).received, 0u);
}

TEST_F(SealedTest, TheLastBatchInASlotTellsHowFarItCame) {
  put(3, SlotKind::kHeld);
  put(5, SlotKind::kWorked);
  put(4, SlotKind::kHeld);
  put(9, SlotKind::kHeld, 1);
  const SlotHeader& last = world_.segment.slot(world_.plan.streams[0].slot_first + 1);
  EXPECT_EQ(of(0).sequence, 5u);
  EXPECT_EQ(of(0).received, last.received_total);
  EXPECT_EQ(of(0).received_bytes, last.received_bytes_total);
  EXPECT_EQ(of(0).position, last.position);
  EXPECT_EQ(of(1).sequence, 9u);
}

TEST_F(SealedTest, WhatIsOpenOrFreeIsNotSealed) {
  put(3, SlotKind::kHeld);
  put(4, SlotKind::kFilling);
  put(5, SlotKind::kFree);
  EXPECT_EQ(of(0).sequence, 3u);
}

TEST_F(SealedTest, WhatLeftItsSlotIsInTheLedger) {
  put(3, SlotKind::kHeld);
  LaneLedger& ledger = world_.status.ledger(0, 0);
  ledger.record[0].released_sequence = 7;
  ledger.record[0].received = 70;
  ledger.record[0].received_bytes = 4480;
  ledger.record[0].position = 71;
  EXPECT_EQ(of(0).sequence, 7u);
  EXPECT_EQ(of(0).received, 70u);
  EXPECT_EQ(of(0).received_bytes, 4480u);
  EXPECT_EQ(of(0).position, 71u);
}

TEST_F(SealedTest, AnotherStreamsLaneOfThatNumberIsAnother) {
  put(3, SlotKind::kHeld);
  put(8, SlotKind::kHeld, 0, 1);
  EXPECT_EQ(of(0).sequence, 3u);
}

}  // namespace
}  // namespace millrace
