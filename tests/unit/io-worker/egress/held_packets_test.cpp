// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/egress/held_packets.hpp"

#include <gtest/gtest.h>

#include "tests/unit/io-worker/egress/side_fixture.hpp"

namespace millrace {
namespace {

using test::fill_of;
using test::kPeer;
using test::Ordinals;
using HeldPacketsTest = test::SideTest;

TEST_F(HeldPacketsTest, APacketWaitsUntilItsNeighbourAnswersAndLeavesBeforeLaterOnes) {
  const NeighbourHandle neighbour = asked(1);
  const Batch first = batch(1);
  hold(first, 1, neighbour);
  work();
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 2}));
  EXPECT_EQ(record().held(), 1u);
  answers(1);
  batch(2);
  work();
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 2, 1, 3, 4, 5}));
  EXPECT_TRUE(
      std::equal(kPeer.begin(), kPeer.end(), tx_[1]->frames[2].begin(),
                 [](std::uint8_t one, std::byte other) { return std::byte{one} == other; }));
  EXPECT_EQ(record().held(), 0u);
  EXPECT_EQ(generated(Reason::kHeld), 1u);
}

TEST_F(HeldPacketsTest, OnesThatWaitForOneNeighbourLeaveInTheirOrder) {
  const NeighbourHandle neighbour = asked(1);
  const Batch of = batch(1);
  for (std::uint16_t packet = 0; packet < 3; ++packet) hold(of, packet, neighbour);
  work();
  EXPECT_TRUE(tx_[1]->sent.empty());
  answers(1);
  work();
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 1, 2}));
}

TEST_F(HeldPacketsTest, ANeighbourThatAnswersWhileTheyAreLookedAtChangesNoOrder) {
  const NeighbourHandle one = asked(1), other = asked(2);
  const Batch of = batch(1);
  hold(of, 0, one);
  hold(of, 1, other);
  hold(of, 2, one);
  work();
  answers(2);
  tx_[1]->on_send = [&] { answers(1); };
  work();
  work();
  EXPECT_EQ(tx_[1]->sent, (Ordinals{1, 0, 2}));
}

TEST_F(HeldPacketsTest, OneNeighbourDoesNotHoldUpAnother) {
  const NeighbourHandle one = asked(1), other = asked(2);
  const Batch of = batch(1);
  hold(of, 0, one);
  hold(of, 1, other);
  work();
  answers(2);
  work();
  EXPECT_EQ(tx_[1]->sent, (Ordinals{2, 1}));
  answers(1);
  work();
  EXPECT_EQ(tx_[1]->sent, (Ordinals{2, 1, 0}));
}

TEST_F(HeldPacketsTest, ForANeighbourThatIsGoneThePacketIsReportedAndDropped) {
  const NeighbourHandle neighbour = asked(1);
  const Batch of = batch(1);
  hold(of, 0, neighbour, 28);
  work();
  ASSERT_TRUE(table().forget(key(1)));
  work();
  EXPECT_EQ(dropped(Reason::kNoNeighbour), 1u);
  EXPECT_EQ(generated(Reason::kReport), 1u);
  ASSERT_EQ(tx_[0]->frames.size(), 1u);
  EXPECT_EQ(tx_[0]->frames[0].size(), 48u + 28u);
  EXPECT_EQ(tx_[0]->frames[0][47], std::byte{0x5e});
}

TEST_F(HeldPacketsTest, OfTooManyTheOldestAreDropped) {
  const NeighbourHandle neighbour = asked(1);
  constexpr std::uint64_t kBatches = HeldPackets::kPerNeighbourMax / 3 + 2;
  for (std::uint64_t sequence = 1; sequence <= kBatches; ++sequence) {
    const Batch of = batch(sequence);
    for (std::uint16_t packet = 0; packet < 3; ++packet) hold(of, packet, neighbour);
    work();
  }
  work();
  const std::uint64_t over = 3 * kBatches - HeldPackets::kPerNeighbourMax;
  EXPECT_EQ(dropped(Reason::kHoldFull), over);
  answers(1);
  work();
  ASSERT_EQ(tx_[1]->sent.size(), std::size_t{HeldPackets::kPerNeighbourMax});
  EXPECT_EQ(tx_[1]->sent.front(), over);
}

/// With a pool of so many buffers.
class HeldInSmallPoolTest : public HeldPacketsTest {
 protected:
  HeldInSmallPoolTest() : plan_(world_.plan) {
    plan_.side_count = 24;
    context_.plan = &plan_;
    start();
  }

  /// The first packets of the batch wait for the neighbour.
  static void hold_first(const Batch& batch, std::uint16_t count, NeighbourHandle neighbour) {
    for (std::uint16_t packet = 0; packet < count; ++packet) hold(batch, packet, neighbour);
  }

  Plan plan_;
};

/// Three neighbours that never answer get twice as many packets as the pool has buffers.
TEST_F(HeldInSmallPoolTest, ThoseThatWaitLeaveHalfOfThePoolToOthers) {
  constexpr std::uint8_t kSilent = 3;
  constexpr std::uint32_t kPackets = 48, kOfBatch = 8;
  for (std::uint8_t last = 1; last <= kSilent; ++last) asked(last);
  for (std::uint32_t sent = 0; sent < kPackets; sent += kOfBatch) {
    const Batch of = batch(sent / kOfBatch + 1, kOfBatch);
    for (std::uint16_t packet = 0; packet < kOfBatch; ++packet) {
      hold(of, packet, table().find(key(static_cast<std::uint8_t>((sent + packet) % kSilent + 1))));
    }
    work();
    EXPECT_LE(record().held(), plan_.side_count / HeldPackets::kPoolShare);
  }
  work();
  EXPECT_EQ(record().held(), kSilent * HeldPackets::kPerNeighbourScarce);
  EXPECT_EQ(dropped(Reason::kHoldFull), kPackets - record().held());
  EXPECT_EQ(dropped(Reason::kNoBuffer), 0u);
  hold(batch(kPackets / kOfBatch + 1, kOfBatch), 0, asked(kSilent + 1));
  work();
  tx_[1]->sent.clear();
  answers(kSilent + 1);
  work();
  EXPECT_EQ(tx_[1]->sent.size(), 1u) << "one that is there has room";
}

TEST_F(HeldInSmallPoolTest, WhereTheyBecomeScarceANeighbourKeepsThree) {
  const NeighbourHandle first = asked(1), second = asked(2);
  const Batch early = batch(1, 8);
  hold_first(early, 5, first);
  work();
  const Batch more = batch(2, 8);
  hold_first(more, 3, second);
  hold(more, 3, first);
  work();
  EXPECT_EQ(dropped(Reason::kHoldFull), 3u) << "of six";
  EXPECT_EQ(record().held(), 6u);
}

TEST_F(HeldInSmallPoolTest, PacketsThatAreGivenUpTakeNoPlaceInTheirBatch) {
  const NeighbourHandle silent = asked(1), other = asked(2);
  const Batch early = batch(1, 8);
  hold_first(early, 6, silent);
  work();
  const Batch of = batch(2, 8);
  hold_first(of, 7, silent);
  hold(of, 7, other);
  work();
  tx_[1]->sent.clear();
  answers(2);
  work();
  EXPECT_EQ(tx_[1]->sent.size(), 1u);
}

/// The scan of a network: three packets each for many neighbours.
TEST_F(HeldInSmallPoolTest, OfTooManyNeighboursThePacketsOfTheLastAreDropped) {
  constexpr std::uint8_t kScanned = 8;
  for (std::uint8_t last = 1; last <= kScanned; ++last) {
    const Batch of = batch(last);
    const NeighbourHandle neighbour = asked(last);
    hold_first(of, 3, neighbour);
    work();
  }
  const std::uint32_t most = plan_.side_count / HeldPackets::kPoolShare;
  EXPECT_EQ(record().held(), most);
  EXPECT_EQ(dropped(Reason::kHoldFull), 3 * kScanned - most);
}

TEST_F(HeldPacketsTest, AnEgressThatStopsDropsWhatWaits) {
  const NeighbourHandle neighbour = asked(1);
  const Batch of = batch(1);
  hold(of, 0, neighbour);
  work();
  egress_->stop();
  work();
  EXPECT_EQ(dropped(Reason::kNoNeighbour), 1u);
  EXPECT_TRUE(egress_->finished());
}

}  // namespace
}  // namespace millrace
