// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/egress/burst_sender.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/unit/io-worker/egress/side_fixture.hpp"

namespace millrace {
namespace {

using test::FakeTx;
using test::Ordinals;
using BurstSenderTest = test::SideTest;

constexpr std::byte kFill{0x42};

TEST_F(BurstSenderTest, MoreThanABurstForOnePortLeavesInOrder) {
  for (std::uint64_t sequence = 1; sequence <= 4; ++sequence) {
    const Batch of = batch(sequence);
    for (std::uint32_t i = 0; i + 3 < of.capacity; ++i) copy(of, 2, 1);
  }
  work();
  ASSERT_FALSE(tx_[1]->sent.empty());
  EXPECT_TRUE(std::ranges::is_sorted(tx_[1]->sent));
}

/// Batches whose packets all leave by one port, and mixed ones.
TEST_F(BurstSenderTest, AQueueThatReadsBatchesSendsWhatAnotherIsGiven) {
  constexpr std::uint32_t kCount = 8;
  for (const bool holds : {false, true}) {
    tx_[0]->holds = tx_[1]->holds = holds;
    tx_[0]->kept = tx_[1]->kept = 0;
    start();
    for (unsigned seed = 0; seed < 4; ++seed) {
      std::vector<Ordinals> sent;
      for (const bool reads : {false, true}) {
        const std::uint64_t sequence = record().released_sequence + 1;
        const Batch of = world_.segment.batch(arrives(sequence, 0, kCount));
        std::mt19937 random(seed);
        for (std::uint32_t i = 0; i < kCount && seed != 0; ++i) {
          of.output[i] = random() % 3 == 0 ? kOutputDefault : random() % 2;
          if (random() % 4 == 0) of.drop(i, Reason::kOversize);
          if (random() % 4 == 0) of.finish(i, 0);
        }
        for (FakeTx* const tx : tx_) {
          tx->reads = reads;
          tx->sent.clear();
          tx->batches_read = 0;
        }
        work();
        EXPECT_EQ(tx_[1]->batches_read != 0 || tx_[0]->batches_read != 0, reads);
        for (FakeTx* const tx : tx_) {
          for (std::uint64_t& ordinal : tx->sent) ordinal -= (sequence - 1) * kCount;
          sent.push_back(tx->sent);
        }
      }
      EXPECT_EQ(sent[0], sent[2]);
      EXPECT_EQ(sent[1], sent[3]);
    }
    EXPECT_EQ(record().unaccounted, 0u);
  }
  EXPECT_EQ(world_.buffers_returned(0, Returner::kEgress).size(), 16 * kCount);
}

TEST_F(BurstSenderTest, OfABatchThatLeavesWholeNothingIsLostWhenThePortTakesFewAtATime) {
  tx_[1]->room = 1;
  arrives(1, 0, 8);
  work();
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(record().transmitted_bytes[1], 8u * test::SmallWorld::kPacketBytes);
}

TEST_F(BurstSenderTest, AFullPortDropsFramesOfThePoolAndFreesThem) {
  tx_[0]->room = 0;
  const Batch of = batch(1);
  send(of, 0, 0, 60, kFill);
  copy(of, 1, 0);
  work();
  EXPECT_EQ(dropped(Reason::kTxFull), 2u);
  EXPECT_EQ(record().transmitted[0], 0u);
  EXPECT_EQ(record().transmitted[1], 3u);
}

TEST_F(BurstSenderTest, AFrameThatThePortCanNeverSendIsOversize) {
  tx_[0]->room = 0;
  tx_[0]->refusing = true;
  const Batch of = batch(1);
  send(of, 0, 0, 60, kFill);
  work();
  EXPECT_EQ(dropped(Reason::kOversize) + dropped(Reason::kTxFull), 1u);
}

/// Port b leads back into the topology.
class CommitTx : public test::FakeTx, public TxCommit {
 public:
  explicit CommitTx(const LaneLedger& ledger) : ledger_(ledger) {}
  TxCommit* commits() noexcept override { return this; }
  void intend(std::uint32_t stream, std::uint32_t lane, std::uint64_t flips) noexcept override {
    told.push_back("intend " + std::to_string(stream) + " " + std::to_string(lane) + ": " +
                   std::to_string(sent.size()) + " packets, " +
                   std::to_string(flips - ledger_.flips) + " flip more");
    flips_ = flips;
  }
  void commit() noexcept override {
    told.push_back(ledger_.flips == flips_ ? "commit" : "commit before the flip");
  }
  void wake_readers() noexcept override { ++wakes; }

  std::vector<std::string> told;
  int wakes = 0;

 private:
  const LaneLedger& ledger_;
  std::uint64_t flips_ = 0;
};

TEST_F(BurstSenderTest, WhatALoopTakesIsIntendedBeforeTheLedgersFlipAndCommittedBehindIt) {
  auto queue = std::make_unique<CommitTx>(world_.status.ledger(0, 0));
  CommitTx& loop = *queue;
  tx_[1] = &loop;
  ports_[1] = std::move(queue);
  start();
  batch(1);
  work();
  batch(2);
  work();
  EXPECT_EQ(loop.told, (std::vector<std::string>{"intend 0 0: 3 packets, 1 flip more", "commit",
                                                 "intend 0 0: 6 packets, 1 flip more", "commit"}));
  EXPECT_GE(loop.wakes, 2);
}

TEST_F(BurstSenderTest, APacketThatHasWaitedGoesIntoALoopWithItsOwnFlip) {
  auto queue = std::make_unique<CommitTx>(world_.status.ledger(0, 0));
  CommitTx& loop = *queue;
  tx_[1] = &loop;
  ports_[1] = std::move(queue);
  start();
  hold(batch(1), 1, asked(7));
  work();
  answers(7);
  loop.told.clear();
  work();
  EXPECT_EQ(loop.told, (std::vector<std::string>{"intend 0 0: 3 packets, 1 flip more", "commit"}));
}

/// Ports 2 and 3 are VLANs of port b.
class VlanSenderTest : public test::SideTest {
 protected:
  VlanSenderTest() {
    plan_.ports.push_back(
        {.name = "office", .device = "vlan", .settings = {{"link", "b"}, {"id", "10"}}});
    plan_.ports.push_back({.name = "customer",
                           .device = "vlan",
                           .settings = {{"id", "20"}, {"link", "b"}, {"outer", "100"}}});
    context_.plan = &plan_;
    start();
  }
  static test::Frame tagged(const test::Frame& frame, std::initializer_list<unsigned> tags) {
    test::Frame with = frame;
    for (auto at = with.begin() + 12; const unsigned byte : tags) {
      at = with.insert(at, static_cast<std::byte>(byte)) + 1;
    }
    return with;
  }

  Plan plan_ = world_.plan;
};

TEST_F(VlanSenderTest, FramesOfAVlanLeaveByItsLinkWithTags) {
  for (const bool holds : {false, true}) {
    SCOPED_TRACE(holds);
    if (holds) EgressTest::hold(0);
    tx_[1]->frames.clear();
    const Batch of = batch(holds ? 2 : 1);
    std::vector<test::Frame> plain;
    for (std::uint8_t i = 0; i < 3; ++i) {
      of.output[i] = i + 1;
      plain.emplace_back(of.bytes(i).begin(), of.bytes(i).end());
    }
    work();
    EXPECT_THAT(tx_[1]->frames, testing::UnorderedElementsAre(
                                    plain[0], tagged(plain[1], {0x81, 0, 0, 10}),
                                    tagged(plain[2], {0x88, 0xa8, 0, 100, 0x81, 0, 0, 20})));
  }
  EXPECT_EQ(record().transmitted[1], 2u);
  EXPECT_EQ(record().transmitted[2], 2u);
  EXPECT_EQ(record().transmitted[3], 2u);
}

TEST_F(VlanSenderTest, FramesOfThePoolHaveTagsToo) {
  const Batch of = batch(1);
  send(of, 0, 3, 60, kFill);
  copy(of, 1, 2);
  const test::Frame copied(of.bytes(1).begin(), of.bytes(1).end());
  work();
  ASSERT_EQ(tx_[1]->frames.size(), 5u);
  EXPECT_THAT(tx_[1]->frames,
              testing::IsSupersetOf(
                  {tagged(copied, {0x81, 0, 0, 10}),
                   tagged(test::Frame(60, kFill), {0x88, 0xa8, 0, 100, 0x81, 0, 0, 20})}));
}

TEST_F(VlanSenderTest, APortThatIsFullDropsThem) {
  tx_[1]->room = 0;
  const Batch of = batch(1);
  of.output[1] = 2;
  send(of, 0, 3, 60, kFill);
  work();
  EXPECT_EQ(dropped(Reason::kTxFull), 4u);
}

TEST_F(VlanSenderTest, WithoutRoomForTagsItIsDropped) {
  const Batch of = batch(1);
  of.output[0] = 3;
  of.offset[0] = 7;
  work();
  EXPECT_EQ(dropped(Reason::kOversize), 1u);
  EXPECT_EQ(record().transmitted[1], 2u);
}

}  // namespace
}  // namespace millrace
