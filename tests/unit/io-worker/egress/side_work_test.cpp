// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/egress/side_work.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/io-worker/egress/side_fixture.hpp"

namespace millrace {
namespace {

using test::fill_of;
using test::kPeer;
using test::Ordinals;
using SideWorkTest = test::SideTest;
using test::SmallWorld;

constexpr std::byte kOne{0x11}, kTwo{0x22}, kThree{0x33};

TEST_F(SideWorkTest, ACopyLeavesInFrontOfItsPacketAndAmongTheOthers) {
  const Batch of = batch(1);
  copy(of, 1, 1);
  copy(of, 1, 0);
  work();
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 1, 1, 2}));
  EXPECT_EQ(tx_[0]->sent, (Ordinals{1}));
  EXPECT_EQ(generated(Reason::kCopy), 2u);
  EXPECT_EQ(record().transmitted[1], 4u);
  EXPECT_EQ(record().transmitted[0], 1u);
  EXPECT_EQ(record().transmitted_bytes[0], std::uint64_t{SmallWorld::kPacketBytes});
}

TEST_F(SideWorkTest, ACopyIsThePacketAsItIsAtTheEnd) {
  const Batch of = batch(1);
  copy(of, 0, 0);
  ASSERT_TRUE(of.grow_front(0, 4));
  std::ranges::fill(of.bytes(0).first(4), kOne);
  work();
  ASSERT_EQ(tx_[0]->frames.size(), 1u);
  EXPECT_EQ(tx_[0]->frames[0], tx_[1]->frames[0]);
  EXPECT_EQ(tx_[0]->frames[0].size(), SmallWorld::kPacketBytes + 4u);
}

TEST_F(SideWorkTest, ADroppedPacketsCopyLeavesAllTheSame) {
  const Batch of = batch(1);
  copy(of, 1, 0);
  of.drop(1, Reason::kOverload);
  work();
  EXPECT_EQ(tx_[0]->sent, (Ordinals{1}));
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 2}));
  EXPECT_EQ(dropped(Reason::kOverload), 1u);
}

/// Of four packets the last one is not marked, the second and third are dropped.
TEST_F(SideWorkTest, CopiesAreOfTheMarkedPacketsByTheirFate) {
  std::uint64_t sequence = 0;
  for (const CopyOf fate : {CopyOf::kAll, CopyOf::kNotDropped, CopyOf::kDropped}) {
    const Batch of = batch(++sequence, 4);
    copies(of, {0, 1, 2}, 0, fate);
    of.drop(1, Reason::kOverload);
    of.drop(2, Reason::kMalformed);
    work();
  }
  EXPECT_EQ(tx_[0]->sent, (Ordinals{0, 1, 2, 4, 9, 10}));
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 3, 4, 7, 8, 11}));
  EXPECT_EQ(generated(Reason::kCopy), 6u);
}

TEST_F(SideWorkTest, CopiesOfTwoTeesLeaveBesideOtherRecords) {
  const Batch of = batch(1);
  copies(of, {0, 2}, 0, CopyOf::kAll);
  copy(of, 2, 0);
  copies(of, {2}, 0, CopyOf::kNotDropped);
  work();
  EXPECT_EQ(tx_[0]->sent, (Ordinals{0, 2, 2, 2}));
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 1, 2}));
}

TEST_F(SideWorkTest, CopiesWithoutTheirBitsAreOfNoPacket) {
  const Batch of = batch(1);
  of.side.add({.packet = 0,
               .kind = static_cast<std::uint8_t>(SideKind::kCopies),
               .port = 0,
               .why = static_cast<std::uint8_t>(Reason::kCopy)});
  copies(of, {200}, 0, CopyOf::kAll);  // behind the last packet
  work();
  EXPECT_TRUE(tx_[0]->sent.empty());
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 1, 2}));
}

TEST_F(SideWorkTest, AFrameOfItsOwnIsCountedByItsReason) {
  const Batch of = batch(1);
  send(of, 0, 0, 70, kOne, Reason::kSolicit);
  send(of, 2, 0, 42, kTwo, Reason::kReport);
  work();
  ASSERT_EQ(tx_[0]->frames.size(), 2u);
  EXPECT_EQ(tx_[0]->frames[0], std::vector<std::byte>(70, kOne));
  EXPECT_EQ(tx_[0]->frames[1], std::vector<std::byte>(42, kTwo));
  EXPECT_EQ(generated(Reason::kSolicit), 1u);
  EXPECT_EQ(generated(Reason::kReport), 1u);
  EXPECT_EQ(record().transmitted_bytes[0], 112u);
}

TEST_F(SideWorkTest, RecordsOutOfOrderAreDoneByPacketAndThoseOfOnePacketAsTheyStand) {
  const Batch of = batch(1);
  send(of, 2, 1, 60, kThree);
  send(of, 0, 1, 60, kOne);
  send(of, 0, 1, 61, kTwo);
  work();
  ASSERT_EQ(tx_[1]->frames.size(), 6u);
  EXPECT_EQ(fill_of(tx_[1]->frames[0]), 0x11);
  EXPECT_EQ(fill_of(tx_[1]->frames[1]), 0x22);
  EXPECT_EQ(tx_[1]->sent[2], 0u);
  EXPECT_EQ(tx_[1]->sent[3], 1u);
  EXPECT_EQ(fill_of(tx_[1]->frames[4]), 0x33);
  EXPECT_EQ(tx_[1]->sent[5], 2u);
}

TEST_F(SideWorkTest, AnAnswerInPlaceIsConsumedAndGenerated) {
  const Batch of = batch(1);
  of.finish(0, 0, Reason::kReply);
  of.finish(1, 0);
  of.consume(2, Reason::kControl);
  work();
  EXPECT_EQ(tx_[0]->sent, (Ordinals{0, 1}));
  EXPECT_EQ(consumed(Reason::kAnswered), 1u);
  EXPECT_EQ(generated(Reason::kReply), 1u);
  EXPECT_EQ(consumed(Reason::kControl), 1u);
}

TEST_F(SideWorkTest, AnAnswerThatAFullPortDropsIsStillCountedOnBothSides) {
  tx_[0]->room = 0;
  const Batch of = batch(1);
  of.finish(0, 0, Reason::kReply);
  work();
  EXPECT_EQ(dropped(Reason::kTxFull), 1u);
  EXPECT_EQ(generated(Reason::kReply), 1u);
  EXPECT_EQ(record().transmitted[1], 2u);
}

TEST_F(SideWorkTest, AnAnswerToAPortThatIsNotThereIsDroppedAsThePacketThatItWas) {
  const Batch of = batch(1);
  of.finish(0, 9, Reason::kReply);
  work();
  EXPECT_EQ(dropped(Reason::kNoOutput), 1u);
  EXPECT_EQ(generated(Reason::kReply), 0u);
}

TEST_F(SideWorkTest, WhatGoesToNoPortIsGeneratedAndDropped) {
  const Batch of = batch(1);
  copy(of, 0, 7);
  copy(of, 0, kPortCountMax);
  copy(of, 0, kOutputDefault);
  work();
  EXPECT_EQ(generated(Reason::kCopy), 3u);
  EXPECT_EQ(dropped(Reason::kNoOutput), 3u);
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 1, 2}));
}

TEST_F(SideWorkTest, WithoutAFreeBufferACopyIsDroppedAndThePacketIsNot) {
  for (std::uint32_t i = 0; i < world_.plan.side_count; ++i) {
    world_.segment.mark(world_.plan.side_first + i) = Mark{MarkKind::kSide, 9}.word();
  }
  start();
  const Batch of = batch(1);
  copy(of, 1, 1);
  send(of, 2, 0, 60, kOne);
  work();
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 1, 2}));
  EXPECT_EQ(dropped(Reason::kNoBuffer), 2u);
  for (std::uint32_t i = 0; i < world_.plan.side_count; ++i) {
    world_.segment.mark(world_.plan.side_first + i) =
        Mark{MarkKind::kHand, context_.me.actor}.word();
  }
}

TEST_F(SideWorkTest, WhatWaitsToBeSentMakesRoomForMoreThanThePoolHolds) {
  std::vector<std::uint32_t> taken;
  for (std::uint32_t i = 2; i < world_.plan.side_count; ++i) taken.push_back(i);
  for (const std::uint32_t i : taken) {
    world_.segment.mark(world_.plan.side_first + i) = Mark{MarkKind::kSide, 9}.word();
  }
  start();
  const Batch of = batch(1);
  for (std::uint16_t i = 0; i < 3; ++i) {
    copy(of, i, 1);
    copy(of, i, 1);
  }
  work();
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 0, 0, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(dropped(Reason::kNoBuffer), 0u);
  for (const std::uint32_t i : taken) {
    world_.segment.mark(world_.plan.side_first + i) =
        Mark{MarkKind::kHand, context_.me.actor}.word();
  }
}

TEST_F(SideWorkTest, APacketThatWaitsLeavesBeforeLaterOnesOnceItsNeighbourHasAnswered) {
  const NeighbourHandle neighbour = asked(1);
  hold(batch(1), 1, neighbour);
  work();
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 2}));
  EXPECT_EQ(consumed(Reason::kHeld), 1u);
  EXPECT_EQ(record().held(), 1u);
  answers(1);
  batch(2);
  work();
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 2, 1, 3, 4, 5}));
  EXPECT_EQ(record().held(), 0u);
  EXPECT_TRUE(
      std::ranges::equal(std::span(tx_[1]->frames[2]).first(6), std::as_bytes(std::span(kPeer))));
}

TEST_F(SideWorkTest, APacketWhoseNeighbourHasAnsweredMeanwhileLeavesAtItsTurn) {
  const NeighbourHandle neighbour = asked(1);
  hold(batch(1), 1, neighbour);
  answers(1);
  work();
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 1, 2}));
  EXPECT_EQ(consumed(Reason::kHeld), 1u);
  EXPECT_EQ(generated(Reason::kHeld), 1u);
}

TEST_F(SideWorkTest, ANeighbourThatIsKnownAndOldIsAskedByWhatComesUponIt) {
  const NeighbourHandle neighbour = table().find_or_insert(key(1), 1, false);
  ASSERT_TRUE(table().learn(key(1), kPeer, 1, {.only_update = true, .overrides = true}));
  hold(batch(1), 1, neighbour);
  work();
  EXPECT_EQ(tx_[1]->sent.size(), 4u);
  EXPECT_EQ(generated(Reason::kSolicit), 1u) << "the table counts the question as asked";
  ASSERT_EQ(tx_[1]->frames[1].size(), 60u);
  EXPECT_TRUE(
      std::ranges::equal(std::span(tx_[1]->frames[1]).first(6), std::as_bytes(std::span(kPeer))));
  EXPECT_EQ(tx_[1]->frames[1][6], std::byte{0xa5});
}

TEST_F(SideWorkTest, APacketThatCannotWaitIsDropped) {
  const Batch of = batch(1);
  hold(of, 0, asked(1));
  of.length[0] = 10;  // no whole frame
  work();
  EXPECT_EQ(dropped(Reason::kNoBuffer), 1u);
  EXPECT_EQ(record().held(), 0u);
}

TEST_F(SideWorkTest, ARecordOfAPacketThatDoesNotWaitHoldsNothing) {
  const Batch of = batch(1);
  const NeighbourHandle neighbour = asked(1);
  hold(of, 0, neighbour);
  hold(of, 0, neighbour);  // twice
  hold(of, 1, neighbour);
  of.drop(1, Reason::kOverload);
  work();
  EXPECT_EQ(record().held(), 1u);
  EXPECT_EQ(dropped(Reason::kOverload), 1u);
}

TEST_F(SideWorkTest, APacketThatNoRecordHoldsIsDroppedAndNotInFlightForEver) {
  const Batch of = batch(1);
  of.consume(1, Reason::kHeld);
  work();
  EXPECT_EQ(record().held(), 0u);
  EXPECT_EQ(dropped(Reason::kSideFull), 1u);
}

TEST_F(SideWorkTest, AStandInAsksForNothing) {
  const std::uint32_t slot = arrives(1);
  const Batch of = world_.segment.batch(slot);
  copy(of, 0, 1);
  world_.segment.slot(slot).flags = kSlotStandIn;
  for (std::uint32_t i = 0; i < 3; ++i) of.drop(i, Reason::kQuarantined);
  work();
  EXPECT_TRUE(tx_[1]->sent.empty());
  EXPECT_EQ(generated(Reason::kCopy), 0u);
}

TEST_F(SideWorkTest, AFrameWhoseBytesLieOutsideIsDropped) {
  const Batch of = batch(1);
  send(of, 0, 0, 60, kOne);
  send(of, 1, 0, 60, kOne);
  send(of, 2, 0, 0, kOne);
  auto* const records = const_cast<SideRecord*>(of.side.records().data());
  records[0].bytes_at = kSideBytesMax - 59;
  records[1].bytes = UINT16_MAX;
  work();
  EXPECT_TRUE(tx_[0]->frames.empty());
  EXPECT_EQ(generated(Reason::kReply), 3u);
  EXPECT_EQ(dropped(Reason::kMalformed), 3u);
}

TEST_F(SideWorkTest, NonsenseInTheListNeitherCrashesNorBreaksTheLaw) {
  std::mt19937 random(7);
  for (std::uint64_t sequence = 1; sequence <= 12; ++sequence) {
    const std::uint32_t slot = arrives(sequence, 0, 3);
    const Batch of = world_.segment.batch(slot);
    for (std::uint32_t i = 0; i < of.capacity; ++i) {
      if (random() % 2 == 0) {
        hold(of, static_cast<std::uint16_t>(i % 4),
             {static_cast<std::uint32_t>(random() % 2000),
              static_cast<std::uint32_t>(random() % 3)});
        of.verdict[0] = 0;
      } else {
        copy(of, static_cast<std::uint16_t>(random() % 4), 1);
      }
    }
    for (const SideRecord& record : of.side.records()) {
      auto* const bytes = reinterpret_cast<std::uint8_t*>(const_cast<SideRecord*>(&record));
      for (int i = 0; i < 3; ++i)
        bytes[random() % sizeof record] = static_cast<std::uint8_t>(random());
    }
    world_.segment.slot(slot).side_count = random() % 2 == 0 ? UINT16_MAX : of.capacity;
    world_.segment.slot(slot).side_bytes = static_cast<std::uint16_t>(random());
    for (std::uint32_t i = 0; i < 3; ++i) {
      if (random() % 3 == 0) of.consume(i, static_cast<Reason>(random()));
      if (random() % 3 == 0) of.consume(i, Reason::kHeld);
    }
    work();
    expect_law();
  }
}

}  // namespace
}  // namespace millrace
