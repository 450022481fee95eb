// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/ingress/ingress_actor.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "tests/unit/io-worker/ingress/ingress_fixture.hpp"

namespace millrace {
namespace {

using Ordinals = std::vector<std::uint64_t>;

Ordinals from_to(std::uint64_t first, std::uint64_t end) {
  Ordinals all(end - first);
  std::iota(all.begin(), all.end(), first);
  return all;
}

class IngressTest : public test::IngressFixture {
 protected:
  using IngressFixture::IngressFixture;
  /// Something of lane 0 is in flight, so that the next packets may wait for more.
  void put_something_in_flight() {
    rx_.offer(1);
    rounds(1);
    ASSERT_EQ(left().size(), 1u);
  }
};

TEST_F(IngressTest, ABatchLeavesAtOnceWhenNothingOfItsLaneIsInFlight) {
  rx_.offer(3);
  rounds(1);
  EXPECT_EQ(left(), (std::vector<Left>{{0, 1, 3, 3, {0, 1, 2}}}));
}

TEST_F(IngressTest, ABatchLeavesWhenItIsFull) {
  put_something_in_flight();
  rx_.offer(20);
  rounds(1);
  EXPECT_EQ(left(),
            (std::vector<Left>{{0, 2, 9, 9, from_to(1, 9)}, {0, 3, 17, 17, from_to(9, 17)}}));
}

TEST_F(IngressTest, AnOpenBatchLeavesAfterFourRounds) {
  put_something_in_flight();
  rx_.offer(2);
  rounds(3);
  EXPECT_TRUE(left().empty());
  rounds(1);
  EXPECT_EQ(left(), (std::vector<Left>{{0, 2, 3, 3, {1, 2}}}));
}

TEST_F(IngressTest, AnOpenBatchLeavesWhenTheLastOneInFlightIsReleased) {
  put_something_in_flight();
  rx_.offer(2);
  rounds(1);
  EXPECT_TRUE(left().empty());
  release_one();
  rounds(1);
  EXPECT_EQ(left().size(), 1u);
}

TEST_F(IngressTest, WithoutAFreeSlotNothingIsPolled) {
  rx_.offer(8 * 16);
  rounds(10);
  EXPECT_EQ(left().size(), 16u);
  const int polls = rx_.polls;
  const std::uint64_t exhausted = context_.counter(Counter::kSlotsExhausted);
  rx_.offer(1);
  rounds(5);
  EXPECT_EQ(rx_.polls, polls);
  EXPECT_EQ(context_.counter(Counter::kSlotsExhausted) - exhausted, 5u);
  release_one();
  rounds(1);
  EXPECT_GT(rx_.polls, polls);
}

TEST_F(IngressTest, TheBacklogKeepsItsOrderWhenSlotsRunOut) {
  rx_.offer(8 * 15);
  rounds(10);
  ASSERT_EQ(left().size(), 15u);
  rx_.offer(32);  // one poll, for which one slot is free
  rounds(3);
  Ordinals all = ordinals_of(left());
  EXPECT_EQ(all, from_to(120, 128));
  EXPECT_EQ(world_.entry("ingress.a.0").in_hand, 24u);
  EXPECT_FALSE(ingress_->has_work()) << "no slot for what it has";
  for (int i = 0; i < 10; ++i) {
    if (!in_flight_.empty()) release_one();
    rounds(1);
    for (const std::uint64_t ordinal : ordinals_of(left())) all.push_back(ordinal);
  }
  EXPECT_EQ(all, from_to(120, 152));
}

TEST_F(IngressTest, AnOversizePacketIsDroppedWithItsReason) {
  rx_.offer(2);
  rx_.offered[1].oversize = true;
  rounds(1);
  left();
  const Batch batch = world_.segment.batch(in_flight_[0]);
  EXPECT_TRUE(batch.goes_on(0));
  EXPECT_FALSE(batch.goes_on(1));
  EXPECT_EQ(batch.reason[1], static_cast<std::uint8_t>(Reason::kOversize));
}

TEST_F(IngressTest, EveryColumnIsSetAnewWhenASlotIsUsedAgain) {
  Plan with_classes = world_.plan;
  with_classes.classes = {"one"};
  context_.plan = &with_classes;
  begin_life();
  rx_.offer(1);
  rounds(1);
  left();
  const std::uint32_t slot = in_flight_[0];
  const Batch used = world_.segment.batch(slot);
  used.drop(0, Reason::kOverload);
  used.output[0] = 9;
  used.classes[0] = 0xff;
  world_.segment.slot(slot).flags = kSlotStandIn;
  const std::uint64_t generation = world_.segment.slot(slot).generation;
  release_one();
  rounds(1);  // with nothing else to do it collects slots
  rx_.offer(1);
  rounds(1);
  left();
  ASSERT_EQ(in_flight_[0], slot) << "the newest slot is used first";
  const Batch batch = world_.segment.batch(slot);
  EXPECT_TRUE(batch.goes_on(0));
  EXPECT_EQ(batch.output[0], kOutputDefault);
  EXPECT_EQ(batch.classes[0], 0u);
  EXPECT_EQ(batch.header->flags, 0u);
  EXPECT_EQ(batch.header->generation, generation + 1);
  ingress_.reset();
}

TEST_F(IngressTest, ObserversSeeWhatWasReceivedAndWhereToResume) {
  put_something_in_flight();
  rx_.offer(2);
  rounds(1);
  const IngressLane& lane = world_.status.ingress_lane(0, 0);
  EXPECT_EQ(lane.received, 3u);
  EXPECT_EQ(lane.sealed_sequence, 1u);
  EXPECT_EQ(world_.entry("ingress.a.0").resume_position, 1u) << "two packets are not sealed";
  EXPECT_EQ(world_.entry("ingress.a.0").in_hand, 2u);
  rounds(3);
  EXPECT_EQ(lane.sealed_sequence, 2u);
  EXPECT_EQ(world_.entry("ingress.a.0").resume_position, 3u);
}

TEST_F(IngressTest, WhatIsNotReadIsToldAtItsFirstAndAtTheEndOfTheSource) {
  std::vector<std::string> told;
  ingress_->tell_by([&](std::string_view text) { told.emplace_back(text); });
  const auto turn = [&] {
    ingress_->do_work();
    ingress_->take_stock(1);
  };
  turn();
  EXPECT_TRUE(told.empty());
  rx_.what = "in.pcap has others";
  rx_.error_count = 1;
  turn();
  EXPECT_EQ(told, std::vector<std::string>{"port 'a': in.pcap has others"});
  rx_.error_count = 2;
  turn();
  EXPECT_EQ(told.size(), 1u);
  rx_.what = "in.pcap is incomplete";
  rx_.ended = true;
  rounds(1);  // it may be asked to end at once
  EXPECT_EQ(told.size(), 2u);
  turn();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[1], "port 'a': in.pcap is incomplete");
  EXPECT_EQ(context_.counter(Counter::kRxErrors), 2u);
}

TEST_F(IngressTest, ErrorsOfWhichThePortKnowsNothingAreCountedOnly) {
  int told = 0;
  ingress_->tell_by([&](std::string_view) { ++told; });
  rx_.error_count = 3;
  ingress_->do_work();
  ingress_->take_stock(1);
  EXPECT_EQ(told, 0);
  EXPECT_EQ(context_.counter(Counter::kRxErrors), 3u);
}

TEST_F(IngressTest, ItIsExhaustedWhenTheSourceIsAndNothingIsInHand) {
  put_something_in_flight();
  rx_.offer(1);
  rx_.ended = true;
  rounds(1);
  EXPECT_EQ(world_.entry("ingress.a.0").exhausted, 0u);
  rounds(4);
  EXPECT_EQ(world_.entry("ingress.a.0").exhausted, 1u);
  EXPECT_EQ(ingress_->idle_ns(), 10'000'000u) << "sleeps until it is woken";
}

TEST_F(IngressTest, DrainedItHandsOnWhatItHasAndLeavesThePortAlone) {
  put_something_in_flight();
  rx_.offer(2);
  rounds(1);
  world_.status.header().drained = 1;
  rx_.offer(5);
  const int polls = rx_.polls;
  rounds(1);
  EXPECT_EQ(ordinals_of(left()), (Ordinals{1, 2}));
  EXPECT_EQ(world_.entry("ingress.a.0").exhausted, 1u);
  rounds(10);
  EXPECT_EQ(rx_.polls, polls);
  EXPECT_EQ(rx_.rests, 11) << "a source stands still in each of these rounds";
  rx_.descriptor = 7;
  EXPECT_EQ(ingress_->wait_descriptor(), -1) << "packets that wait at the port do not wake it";
  EXPECT_EQ(ingress_->idle_ns(), 10'000'000u);
  world_.status.header().drained = 0;
  release_all();
  rounds(1);
  EXPECT_EQ(world_.entry("ingress.a.0").exhausted, 0u);
  rounds(5);
  EXPECT_EQ(ordinals_of(left()), (Ordinals{3, 4, 5, 6, 7}));
}

TEST_F(IngressTest, DrainedItReadsALoopOnUntilNothingWaitsThere) {
  rx_.of_loop = rx_.ended = true;
  world_.status.header().drained = 1;
  rx_.offer(5);
  rounds(1);
  EXPECT_EQ(ordinals_of(left()), (Ordinals{0, 1, 2, 3, 4}));
  EXPECT_EQ(rx_.rests, 1);
  release_all();
  rounds(1);
  EXPECT_EQ(world_.entry("ingress.a.0").exhausted, 1u);
  rx_.offer(1);
  EXPECT_TRUE(ingress_->has_work()) << "it must not fall asleep now";
  rounds(1);
  EXPECT_EQ(ordinals_of(left()), (Ordinals{5}));
  EXPECT_FALSE(ingress_->has_work());
}

TEST_F(IngressTest, StartedWhileDrainedItReadsNothing) {
  world_.status.header().drained = 1;
  rx_.offer(3);
  begin_life();
  rounds(5);
  EXPECT_EQ(rx_.polls, 0);
  world_.status.header().drained = 0;
  rounds(5);
  EXPECT_EQ(ordinals_of(left()), (Ordinals{0, 1, 2}));
}

TEST_F(IngressTest, StoppedItTakesNothingMoreAndWaitsForWhatIsInFlight) {
  put_something_in_flight();
  rx_.offer(2);
  rounds(1);
  ingress_->stop();
  rx_.offer(5);
  rounds(2);
  EXPECT_EQ(ordinals_of(left()), (Ordinals{1, 2}));
  EXPECT_FALSE(ingress_->finished());
  release_all();
  EXPECT_TRUE(ingress_->finished());
}

TEST_F(IngressTest, ItSleepsUntilThePortIsReady) {
  EXPECT_EQ(ingress_->idle_ns(), 200'000u);
  rx_.ready_ns = 77'000;
  EXPECT_EQ(ingress_->idle_ns(), 77'000u);
}

TEST_F(IngressTest, ItSleepsOnThePortsDescriptorUnlessItWaitsForOthers) {
  EXPECT_EQ(ingress_->wait_descriptor(), -1) << "the port has none";
  rx_.descriptor = 7;
  EXPECT_EQ(ingress_->wait_descriptor(), 7);
  rx_.offer(2000);
  rounds(100);
  EXPECT_EQ(ingress_->wait_descriptor(), -1) << "no slot: the egress wakes it";
  release_all();
  rx_.offered.clear();
  rx_.next = 0;
  rounds(3);
  EXPECT_EQ(ingress_->wait_descriptor(), 7);
  rx_.ended = true;
  EXPECT_EQ(ingress_->wait_descriptor(), -1) << "nothing will come any more";
  rx_.ended = false;
  ingress_->stop();
  EXPECT_EQ(ingress_->wait_descriptor(), -1);
}

TEST_F(IngressTest, AReturnedSlotIsWork) {
  rx_.offer(1);
  rounds(1);
  left();
  EXPECT_FALSE(ingress_->has_work());
  release_one();
  EXPECT_TRUE(ingress_->has_work());
}

TEST_F(IngressTest, WhatWasOpenWhenItDiedIsReadAgain) {
  put_something_in_flight();
  rx_.offer(2);
  rounds(1);
  // Recovery has discarded the open slot.
  for (std::uint32_t slot = 0; slot < world_.plan.slot_count; ++slot) {
    if (world_.slot_state(slot).kind != SlotKind::kFilling) continue;
    for (std::uint32_t i = 0; i < 2; ++i) {
      world_.segment.mark(world_.segment.batch(slot, 2).buffer[i]) =
          Mark{MarkKind::kHand, context_.me.actor}.word();
    }
    context_.set_state(slot, SlotKind::kFree, 0);
  }
  begin_life();
  EXPECT_EQ(rx_.resumed, 1u);
  rounds(4);
  EXPECT_EQ(left(), (std::vector<Left>{{0, 2, 3, 3, {1, 2}}}));
}

class LanesTest : public IngressTest {
 protected:
  LanesTest() : IngressTest(4, 32) {}
};

TEST_F(LanesTest, AFlowHasOneLaneAndItsPacketsKeepTheirOrder) {
  for (std::uint64_t i = 0; i < 400; ++i) rx_.offer(1, i * 7919 % 37 + 1);
  std::map<std::uint64_t, std::set<std::uint32_t>> lanes_of_flow;
  std::map<std::uint64_t, std::uint64_t> last_of_flow;
  std::set<std::uint32_t> lanes;
  std::uint64_t seen = 0;
  for (int i = 0; i < 200 && seen < 400; ++i) {
    rounds(1);
    for (const Left& batch : left()) {
      for (const std::uint64_t ordinal : batch.ordinals) {
        const std::uint64_t flow = rx_.offered[ordinal].flow;
        lanes_of_flow[flow].insert(batch.lane);
        lanes.insert(batch.lane);
        EXPECT_GE(ordinal + 1, last_of_flow[flow]);
        last_of_flow[flow] = ordinal + 1;
        ++seen;
      }
    }
    while (!in_flight_.empty()) release_one();
  }
  EXPECT_EQ(seen, 400u);
  for (const auto& [flow, in] : lanes_of_flow) EXPECT_EQ(in.size(), 1u) << flow;
  EXPECT_EQ(lanes.size(), 4u);
}

TEST_F(LanesTest, HalfFullBatchesLeaveWhenSlotsRunShort) {
  const auto [busy, other] = test::flows_of_two_lanes(4);
  rx_.offer(1, other);
  rx_.offer(8 * 29, busy);
  rounds(8);
  left();  // 30 of 32 slots are in flight
  ASSERT_EQ(in_flight_.size(), 30u);
  rx_.offer(3, other);
  rounds(1);
  EXPECT_TRUE(left().empty()) << "less than half full";
  rx_.offer(1, other);
  rounds(1);
  EXPECT_EQ(left().size(), 1u);
}

TEST_F(LanesTest, ALaneThatWasAheadDoesNotReadItsPacketsTwice) {
  // Lane by lane the sealed packets end elsewhere; what one lane had open is read again.
  for (std::uint64_t i = 0; i < 60; ++i) rx_.offer(1, i % 13 + 1);
  rounds(1);
  std::vector<Left> before = left();
  const std::uint64_t resume = world_.entry("ingress.a.0").resume_position;
  world_.entry("ingress.a.0").resume_position = resume / 2;  // died before it told its progress
  begin_life();
  EXPECT_EQ(rx_.resumed, resume / 2);
  for (int i = 0; i < 10; ++i) rounds(1);
  for (const Left& batch : left()) before.push_back(batch);
  Ordinals all = ordinals_of(before);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, from_to(0, 60));
  // Running totals and sequences of every lane go on without a gap.
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> lanes;
  for (const Left& batch : before) {
    auto& [sequence, total] = lanes[batch.lane];
    EXPECT_EQ(batch.sequence, ++sequence);
    EXPECT_EQ(batch.received_total, total += batch.ordinals.size());
  }
}

}  // namespace
}  // namespace millrace
