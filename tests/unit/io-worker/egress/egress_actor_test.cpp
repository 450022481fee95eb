// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/egress/egress_actor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "shared/packet/tick.hpp"
#include "tests/unit/io-worker/egress/egress_fixture.hpp"

namespace millrace {
namespace {

using test::EgressTest;
using test::FakeTx;
using test::HandMade;
using test::kDone;
using test::Ordinals;
using test::SmallWorld;
using Buffers = std::vector<std::uint32_t>;

TEST_F(EgressTest, APacketThatThePortRefusesIsDroppedAloneAndTheOthersFollow) {
  tx_[1]->never = 1;
  const std::uint32_t slot = arrives(1, 0, 5);
  work();
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 2, 3, 4}));
  EXPECT_EQ(record().transmitted[1], 4u);
  EXPECT_EQ(record().transmitted_bytes[1], 4u * SmallWorld::kPacketBytes);
  EXPECT_EQ(dropped(Reason::kOversize), 1u);
  EXPECT_EQ(dropped(Reason::kTxFull), 0u);
  EXPECT_EQ(context_.counter(Counter::kPackets), 5u);
  EXPECT_EQ(context_.counter(Counter::kPacketsOut), 4u);
  EXPECT_EQ(world_.buffers_returned(0, Returner::kEgress), world_.buffers_of(slot));
}

TEST_F(EgressTest, ARefusedPacketsBufferDoesNotStayWithAQueueThatHoldsBuffers) {
  hold(1000);
  tx_[1]->never = 1;
  const std::uint32_t slot = arrives(1, 0, 4);
  const std::vector<std::uint32_t> buffers = world_.buffers_of(slot);
  work();
  EXPECT_EQ(tx_[1]->ring, (std::deque<std::uint32_t>{buffers[0], buffers[2], buffers[3]}));
  EXPECT_EQ(world_.buffers_returned(0, Returner::kEgress), std::vector<std::uint32_t>{buffers[1]});
}

TEST_F(EgressTest, WhyAPortHasFailedIsToldOnceEachTime) {
  std::vector<std::string> told;
  egress_->tell_by([&](std::string_view text) { told.emplace_back(text); });
  egress_->take_stock(1);
  tx_[1]->why = "No space left on device";
  for (int time = 0; time < 2; ++time) {
    tx_[1]->broken = true;
    egress_->take_stock(1);
    egress_->before_sleep();
    tx_[1]->broken = false;
    egress_->take_stock(1);
  }
  tx_[0]->broken = true;  // one that has nothing to say
  egress_->take_stock(1);
  const std::string failed = "port 'b': No space left on device";
  const std::string again = "port 'b': it takes packets again";
  EXPECT_EQ(told, (std::vector<std::string>{failed, again, failed, again}));
}

TEST_F(EgressTest, ABatchIsSentCountedAndGivenBack) {
  const std::uint32_t slot = arrives(1);
  work();
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 1, 2}));
  EXPECT_TRUE(tx_[0]->sent.empty());
  EXPECT_EQ(record().released_sequence, 1u);
  EXPECT_EQ(record().received, 3u);
  EXPECT_EQ(record().transmitted[1], 3u);
  EXPECT_EQ(record().transmitted_bytes[1], 3u * SmallWorld::kPacketBytes);
  EXPECT_EQ(record().position, 3u);
  EXPECT_EQ(record().unaccounted, 0u);
  EXPECT_EQ(world_.slots_returned(0, Returner::kEgress), std::vector<std::uint32_t>{slot});
  EXPECT_EQ(world_.buffers_returned(0, Returner::kEgress), world_.buffers_of(slot));
  EXPECT_EQ(world_.slot_state(slot), SlotState{});
  EXPECT_EQ(context_.counter(Counter::kPackets), 3u);
  EXPECT_EQ(context_.counter(Counter::kPacketsOut), 3u);
}

TEST_F(EgressTest, WhateverTheOrderOfArrivalTheOutputIsInSequence) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    std::vector<std::uint64_t> order(5);
    std::iota(order.begin(), order.end(), 1 + 5 * (seed - 1));
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    for (const std::uint64_t sequence : order) arrives(sequence);
    work();
  }
  Ordinals wanted(75);
  std::iota(wanted.begin(), wanted.end(), 0);
  EXPECT_EQ(tx_[1]->sent, wanted);
  EXPECT_EQ(record().unaccounted, 0u);
  EXPECT_EQ(record().batches, 25u);
}

TEST_F(EgressTest, NothingOfABatchAheadOfItsTurnIsSentCountedOrFreed) {
  const std::uint32_t early = arrives(2);
  work();
  EXPECT_TRUE(tx_[1]->sent.empty());
  EXPECT_EQ(record().batches, 0u);
  EXPECT_EQ(world_.slot_state(early), kDone);
  EXPECT_EQ(world_.owner_of(early), world_.owner_word("egress.0"));
  EXPECT_EQ(context_.counter(Counter::kBatchesOutOfOrder), 1u);
  EXPECT_EQ(context_.counter(Counter::kWindowHighWater), 1u);
  egress_->stop();
  EXPECT_FALSE(egress_->finished()) << "a batch waits for its turn";
  arrives(1);
  work();
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(egress_->finished());
}

TEST_F(EgressTest, LanesDoNotWaitForEachOther) {
  arrives(2, 1);
  arrives(1, 2);
  work();
  EXPECT_EQ(record(2).released_sequence, 1u);
  EXPECT_EQ(record(1).released_sequence, 0u);
}

TEST_F(EgressTest, TheNextLifeGoesOnBehindTheLedger) {
  arrives(1);
  arrives(2);
  work();
  start();
  arrives(4);
  arrives(3);
  work();
  EXPECT_EQ(tx_[1]->sent.size(), 12u);
  EXPECT_EQ(record().received, 12u);
  EXPECT_EQ(record().unaccounted, 0u);
}

TEST_F(EgressTest, DroppedPacketsAreCountedByTheirReasonAndNotSent) {
  const Batch batch = world_.segment.batch(arrives(1));
  batch.drop(0, Reason::kOverload);
  batch.drop(2, Reason::kNoPath);
  work();
  EXPECT_EQ(tx_[1]->sent, Ordinals{1});
  EXPECT_EQ(dropped(Reason::kOverload), 1u);
  EXPECT_EQ(dropped(Reason::kNoPath), 1u);
  EXPECT_EQ(record().transmitted[1], 1u);
}

TEST_F(EgressTest, AFunctionChoosesTheOutputAndAnUnknownOneDrops) {
  const Batch batch = world_.segment.batch(arrives(1));
  batch.output[0] = 0;
  batch.output[1] = 7;  // no queue there
  batch.output[2] = kPortCountMax;
  work();
  EXPECT_EQ(tx_[0]->sent, Ordinals{0});
  EXPECT_TRUE(tx_[1]->sent.empty());
  EXPECT_EQ(record().transmitted[0], 1u);
  EXPECT_EQ(dropped(Reason::kNoOutput), 2u);
}

TEST_F(EgressTest, AFullPortIsRetriedABoundedNumberOfTimes) {
  tx_[1]->room = 0;
  arrives(1);
  work();
  EXPECT_EQ(tx_[1]->calls, 64);
  EXPECT_EQ(dropped(Reason::kTxFull), 3u);
  EXPECT_EQ(record().transmitted[1], 0u);
  EXPECT_EQ(record().received, 3u);
}

TEST_F(EgressTest, APortThatTakesOnePacketAtATimeLosesNone) {
  tx_[1]->room = 1;
  arrives(1, 0, 8);
  work();
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(dropped(Reason::kTxFull), 0u);
  EXPECT_EQ(context_.counter(Counter::kTxRetries), 7u);
}

TEST_F(EgressTest, BuffersThatAQueueKeepsStayWhenTheirSlotGoesBack) {
  hold(1000);
  const std::uint32_t slot = arrives(1);
  const Buffers sent = world_.buffers_of(slot);
  const Batch batch = world_.segment.batch(slot);
  batch.drop(1, Reason::kOverload);
  work();
  EXPECT_EQ(world_.slots_returned(0, Returner::kEgress), (Buffers{slot}));
  EXPECT_EQ(world_.buffers_returned(0, Returner::kEgress), (Buffers{sent[1]}));
  EXPECT_EQ(mark(sent[0]), (Mark{MarkKind::kTx, 0}));
  EXPECT_EQ(mark(sent[2]), (Mark{MarkKind::kTx, 0}));
  EXPECT_EQ(record().transmitted[1], 2u) << "counted when it is sent";
  tx_[1]->kept = 0;
  work();
  EXPECT_EQ(world_.buffers_returned(0, Returner::kEgress), (Buffers{sent[1], sent[0], sent[2]}));
  work();
  EXPECT_EQ(world_.buffers_returned(0, Returner::kEgress).size(), 3u) << "each goes back once";
}

TEST_F(EgressTest, KeptBuffersOfTwoStreamsGoHomeEachToItsOwn) {
  hold(1000);
  const std::uint32_t slot = arrives(1);
  const std::uint32_t other =
      world_.send("deep.0", "egress.0",
                  {.stream = 1, .lane = 4, .sequence = 1, .owner = "deep.0", .state = kDone});
  for (auto& output : world_.segment.batch(other).output) output = 1;
  const Buffers of_a = world_.buffers_of(slot), of_b = world_.buffers_of(other);
  work();
  world_.entry("ingress.b.0").sleeping = 1;
  tx_[1]->kept = 0;
  work();
  EXPECT_EQ(world_.buffers_returned(0, Returner::kEgress), of_a);
  EXPECT_EQ(world_.buffers_returned(1, Returner::kEgress), of_b);
  EXPECT_EQ(world_.entry("ingress.b.0").sleeping, 0u) << "not woken";
}

TEST_F(EgressTest, AFullRingIsEmptiedBetweenTheTriesAndWhatIsDroppedGoesBackWithTheSlot) {
  hold(2);
  arrives(1);
  work();
  EXPECT_EQ(tx_[1]->ring.size(), 2u);
  tx_[1]->room = 0;
  tx_[1]->kept = 1;  // one leaves, so one finds room
  const std::uint32_t slot = arrives(2);
  const Buffers buffers = world_.buffers_of(slot);
  egress_->do_work();
  work();
  EXPECT_EQ(record().transmitted[1] + dropped(Reason::kTxFull), 6u);
  EXPECT_EQ(world_.buffers_returned(0, Returner::kEgress).size() + tx_[1]->ring.size(), 6u);
  EXPECT_EQ(world_.slots_returned(0, Returner::kEgress).size(), 2u);
}

TEST_F(EgressTest, AFileIsWaitedFor) {
  class SlowFile : public FakeTx {
    std::uint32_t send(std::span<const TxPacket> packets) noexcept override {
      room = calls < 500 ? 0 : 1000;
      return FakeTx::send(packets);
    }
  };
  auto file = std::make_unique<SlowFile>();
  file->waits = true;
  const FakeTx& seen = *file;
  ports_[1] = std::move(file);
  arrives(1);
  work();
  EXPECT_EQ(seen.sent.size(), 3u);
  EXPECT_EQ(dropped(Reason::kTxFull), 0u);
}

TEST_F(EgressTest, AFileThatFailsIsNotWaitedForAndDropsAsNoOutput) {
  tx_[1]->waits = true;
  tx_[1]->broken = true;
  tx_[1]->room = 2;
  arrives(1);
  work();
  EXPECT_EQ(tx_[1]->calls, 1);
  EXPECT_EQ(record().transmitted[1], 2u) << "what it took before it failed";
  EXPECT_EQ(dropped(Reason::kNoOutput), 1u);
}

TEST_F(EgressTest, AStandInIsCountedAndGoesToNoIngress) {
  const std::uint32_t slot = arrives(1);
  world_.segment.slot(slot).flags = kSlotStandIn;
  const Batch batch = world_.segment.batch(slot);
  for (std::uint32_t i = 0; i < 3; ++i) batch.drop(i, Reason::kQuarantined);
  work();
  EXPECT_EQ(dropped(Reason::kQuarantined), 3u);
  EXPECT_TRUE(tx_[1]->sent.empty());
  EXPECT_EQ(world_.slot_state(slot), SlotState{});
  EXPECT_TRUE(world_.slots_returned(0, Returner::kEgress).empty());
  EXPECT_TRUE(world_.buffers_returned(0, Returner::kEgress).empty());
}

TEST_F(EgressTest, ABatchWithACutPacketIsNoStandIn) {
  const std::uint32_t slot = arrives(1);
  const Batch batch = world_.segment.batch(slot);
  batch.begin_cut(3);
  batch.wire_lengths[1] = 900;
  work();
  EXPECT_EQ(tx_[1]->sent.size(), 3u);
  EXPECT_EQ(world_.slots_returned(0, Returner::kEgress).size(), 1u);
  EXPECT_EQ(world_.buffers_returned(0, Returner::kEgress).size(), 3u);
}

TEST_F(EgressTest, ACompletionOfAGpuIsFinishedHere) {
  const std::uint32_t slot =
      world_.make({.stream = 1, .lane = 4, .owner = "ingress.b.0", .state = {SlotKind::kHeld, 3}});
  world_.segment.slot(slot).gpu_holder =
      holder_word(world_.owner_word("gpu.0.a"), world_.segment.slot(slot).generation);
  work_.compute(3, world_.segment.batch(slot), world_.segment.gpu_results(0, slot));
  ASSERT_TRUE(world_.push("gpu.0.a", "egress.0", world_.word_of(slot, 3)));
  work();
  ASSERT_EQ(work_.finished.size(), 1u);
  EXPECT_EQ(work_.finished[0].results, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(tx_[0]->sent, (Ordinals{0, 1, 2}));
  EXPECT_EQ(read_record(world_.status.ledger(1, 4)).transmitted[0], 3u);
}

TEST_F(EgressTest, EachPacketAddsTheLatencyOfItsBatch) {
  const std::uint32_t arrived = arrives(1);
  world_.segment.slot(arrived).time_first_tsc = tsc_now() - 5'000'000;  // at 1 GHz: 5 ms
  world_.segment.slot(arrives(2)).time_first_tsc = UINT64_MAX;          // ahead of our clock
  const std::uint16_t late = world_.segment.slot(arrived).count;
  work();
  const LatencyHistogram& histogram = world_.status.latency(0);
  std::uint64_t counted = 0;
  for (const auto& bucket : histogram.count) counted += bucket;
  EXPECT_GT(late, 1u);
  EXPECT_EQ(counted, 2u * late);
  EXPECT_EQ(histogram.count[0], late);
  EXPECT_GE(histogram.sum_ns, late * 5'000'000u);
}

TEST_F(EgressTest, BeforeItSleepsEverythingIsWrittenOut) {
  arrives(2);
  work();
  egress_->before_sleep();
  EXPECT_EQ(tx_[0]->flushes, 1);
  EXPECT_EQ(tx_[1]->flushes, 1);
  EXPECT_EQ(world_.entry("egress.0").in_hand, 1u);
}

TEST_F(EgressTest, ARoundIsBoundedAndWhatIsLeftIsWork) {
  for (std::uint64_t i = 1; i <= 20; ++i) arrives(i, 0, 1);
  EXPECT_EQ(egress_->do_work(), 8u);
  EXPECT_TRUE(egress_->has_work());
  egress_->stop();
  EXPECT_FALSE(egress_->finished());
  work();
  EXPECT_FALSE(egress_->has_work());
  EXPECT_TRUE(egress_->finished());
}

/// A batch of three, the second of which is a tick.
class TicksTest : public EgressTest {
 protected:
  void arrives_with_tick(std::uint64_t sequence) {
    const Batch batch = world_.segment.batch(arrives(sequence));
    write_tick(batch.bytes(1), {2, 0, 0, 0, 0, 1}, {.number = 1, .time_ns = 1, .since_ns = 0});
  }
  Plan plan_ = world_.plan;
};

TEST_F(TicksTest, OfALoopEndHereIfNoFunctionHasConsumedThem) {
  plan_.ports[0].device = "loop";
  plan_.ports[0].settings = {{"tick", "1s"}};
  context_.plan = &plan_;
  start();
  arrives_with_tick(1);
  work();
  EXPECT_EQ(tx_[1]->sent, (Ordinals{0, 2}));
  EXPECT_EQ(record().consumed[static_cast<std::size_t>(Reason::kControl)], 1u);
  EXPECT_EQ(record().received, 3u);
}

TEST_F(TicksTest, WhatLooksLikeOneElsewhereIsAPacketLikeOthers) {
  arrives_with_tick(1);
  work();
  EXPECT_EQ(tx_[1]->sent.size(), 3u);
}

}  // namespace
}  // namespace millrace
