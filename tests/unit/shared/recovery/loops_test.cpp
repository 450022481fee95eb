// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "shared/links/ledger.hpp"
#include "tests/unit/shared/recovery/recovery_fixture.hpp"
#include "tests/unit/support/loop_world.hpp"

/// What an egress had sent to a loop when it died comes in, and what it had not does not.

namespace millrace {
namespace {

using S = ActorState;

class LoopRecoveryTest : public test::RecoveryFixture {
 protected:
  LoopRecoveryTest() : RecoveryFixture(test::kLoopTopology) {}
  /// A batch of 3 that egress.0 is about to count as sent to the loop, in its first queue.
  std::uint32_t send_batch() {
    const std::uint32_t slot = world_.make(
        {.sequence = 1, .owner = "egress.0", .state = {SlotKind::kSending, kEgressStage}});
    const LoopRing ring = world_.segment.loop(0);
    for (std::uint64_t i = 0; i < 3; ++i) ring.put(i, world_.segment.batch(slot).bytes(0), 60);
    LaneLedger& ledger = world_.status.ledger(0, 0);
    begin_record(ledger, world_.segment.slot(slot)).transmitted[2] += 3;
    ring.intend(3, 0, 0, ledger.flips + 1);
    return slot;
  }
  LaneRecord record() const { return read_record(world_.status.ledger(0, 0)); }
};

TEST_F(LoopRecoveryTest, WhatItsLedgerSaysWasSentIsInTheRing) {
  send_batch();
  publish(world_.status.ledger(0, 0));
  dies_and_is_recovered_twice("egress.0");
  EXPECT_EQ(world_.segment.loop(0).head(), 3u);
  EXPECT_EQ(record().transmitted[2], 3u);
  EXPECT_EQ(dropped(0, Reason::kEgressLost), 0u);
}

TEST_F(LoopRecoveryTest, WhatItHadNotCountedIsLostWithItsBatch) {
  send_batch();
  dies_and_is_recovered_twice("egress.0");
  EXPECT_EQ(world_.segment.loop(0).head(), 0u) << "recovery flips the ledger, but did not send";
  EXPECT_EQ(record().transmitted[2], 0u);
  EXPECT_EQ(dropped(0, Reason::kEgressLost), 3u);
}

TEST_F(LoopRecoveryTest, RingsOfAnotherEgressAreLeftAlone) {
  const LoopRing other = world_.segment.loop(1);
  other.intend(5, 0, 0, 1);
  publish(world_.status.ledger(0, 0));
  ends("egress.0");
  tick_until("egress.0", S::kVacant);
  EXPECT_EQ(other.head(), 0u) << "its egress is alive, and about to commit";
}

}  // namespace
}  // namespace millrace
