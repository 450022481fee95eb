// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shared/links/inbox.hpp"
#include "shared/recovery/recovery.hpp"
#include "tests/unit/shared/recovery/recovery_fixture.hpp"

/// Every rule of kSlotRules on hand-made slots, each recovered twice: by the hub, and once more by
/// the standby that cannot know how far the hub came.

namespace millrace {
namespace {

using S = ActorState;
using Numbers = std::vector<std::uint32_t>;

constexpr std::uint8_t kFirstRescued = 0, kSecond = 1, kThird = 2, kFourth = 3;

class RescueTest : public test::RecoveryFixture {
 protected:
  std::uint32_t held(const char* owner, std::uint8_t stage, std::uint64_t sequence = 1) {
    return world_.make({.sequence = sequence, .owner = owner, .state = {SlotKind::kHeld, stage}});
  }
  std::uint32_t in_state(const char* owner, SlotKind kind, std::uint8_t stage,
                         std::uint32_t lane = 0) {
    return world_.make({.lane = lane, .owner = owner, .state = {kind, stage}});
  }
  Numbers returned_slots() const {
    Numbers all;
    for (const Returner from : {Returner::kEgress, Returner::kHub, Returner::kStandby}) {
      for (const std::uint32_t slot : world_.slots_returned(0, from)) all.push_back(slot);
    }
    return all;
  }
  Numbers returned_buffers() const {
    Numbers all;
    for (const Returner from : {Returner::kEgress, Returner::kHub, Returner::kStandby}) {
      for (const std::uint32_t b : world_.buffers_returned(0, from)) all.push_back(b);
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  void at_gpu(std::uint32_t slot, const char* gpu, const char* producer) {
    world_.segment.slot(slot).gpu_holder =
        holder_word(world_.owner_word(gpu), world_.segment.slot(slot).generation);
    ASSERT_TRUE(world_.push(producer, gpu, world_.word_of(slot, kSecond)));
  }
  LaneWindow& window(std::uint32_t lane) { return world_.segment.lane_window(kThird, 0, lane); }
  std::span<std::byte> state(std::uint32_t lane) {
    return world_.segment.lane_state(world_.plan, 2, lane);
  }
};

TEST_F(RescueTest, AFreeSlotThatNeverGotIntoTheReturnLinkIsGivenBackOnce) {
  const std::uint32_t slot = in_state("egress.0", SlotKind::kFree, 0);
  dies_and_is_recovered_twice("egress.0");
  EXPECT_EQ(returned_slots(), Numbers{slot});
}

TEST_F(RescueTest, AFreeSlotInTheReturnLinkStaysThere) {
  const std::uint32_t slot = in_state("egress.0", SlotKind::kFree, 0);
  const std::uint64_t word = world_.word_of(slot, 0);
  ASSERT_TRUE(world_.segment.slot_return(0, Returner::kEgress).push({&word, 1}));
  dies_and_is_recovered_twice("egress.0");
  EXPECT_EQ(world_.slots_returned(0, Returner::kEgress), Numbers{slot});
  EXPECT_EQ(returned_slots().size(), 1u);
}

TEST_F(RescueTest, FreeSlotsOfAnIngressAreLeftToItsNextLife) {
  const std::uint32_t slot = in_state("ingress.a.0", SlotKind::kFree, 0);
  dies_and_is_recovered_twice("ingress.a.0");
  EXPECT_TRUE(returned_slots().empty());
  EXPECT_EQ(world_.owner_of(slot).actor, world_.actor("ingress.a.0"));
}

TEST_F(RescueTest, AnOpenSlotIsDiscardedAndItsBuffersAreTheIngressesAgain) {
  const std::uint32_t slot = in_state("ingress.a.0", SlotKind::kFilling, 0);
  const Numbers buffers = world_.buffers_of(slot);
  const std::uint32_t in_ring = buffers[1];
  ASSERT_TRUE(world_.segment.buffer_return(0, Returner::kEgress).push({&in_ring, 1}));
  dies_and_is_recovered_twice("ingress.a.0");
  EXPECT_EQ(world_.slot_state(slot), SlotState{});
  EXPECT_EQ(world_.segment.slot(slot).sequence, 0u);
  const Mark hand{MarkKind::kHand, world_.actor("ingress.a.0")};
  EXPECT_EQ(Mark::from_word(world_.segment.mark(buffers[0])), hand);
  EXPECT_EQ(Mark::from_word(world_.segment.mark(buffers[2])), hand);
  EXPECT_EQ(Mark::from_word(world_.segment.mark(in_ring)), (Mark{MarkKind::kSlot, slot}))
      << "what a link holds belongs to the link";
}

TEST_F(RescueTest, WhatADeadIngressHadNotSealedIsNoLongerUnderWay) {
  const std::uint32_t slot = held("egress.0", kFourth, 2);
  in_state("ingress.a.0", SlotKind::kFilling, 0);
  const SlotHeader& sealed = world_.segment.slot(slot);
  IngressLane& told = world_.status.ingress_lane(0, sealed.lane);
  told.received = sealed.received_total + 3;  // those of the open slot
  told.sealed_sequence = 1;                   // it died before it had told the second
  dies_and_is_recovered_twice("ingress.a.0");
  EXPECT_EQ(told.received, sealed.received_total);
  EXPECT_EQ(told.sealed_sequence, 2u) << "a lane is moved when all of it has left";
}

TEST_F(RescueTest, AHeldBatchIsHandedOnOnceAndUntouched) {
  const std::uint32_t slot = held("front.0", kFirstRescued);
  dies_and_is_recovered_twice("front.0");
  EXPECT_EQ(handed_to(slot), "front.1");
  EXPECT_EQ(world_.slot_state(slot), (SlotState{SlotKind::kHeld, kFirstRescued}));
  EXPECT_TRUE(world_.segment.batch(slot).goes_on(0));
  EXPECT_EQ(totals().batches_handed_on, 1u);
  EXPECT_EQ(totals().batches_worker_lost, 0u);
}

TEST_F(RescueTest, AHeldBatchThatALinkHoldsStaysInThatLink) {
  const std::uint32_t slot = held("front.0", kThird);
  ASSERT_TRUE(world_.push("front.0", "deep.0", world_.word_of(slot, kThird)));
  dies_and_is_recovered_twice("front.0");
  EXPECT_EQ(places_of(slot), std::vector<std::string>{"front.0 -> deep.0"});
  EXPECT_EQ(totals().batches_handed_on, 0u);
}

TEST_F(RescueTest, ABatchTakenHalfIsOfferedAgainAndNeitherLostNorDoubled) {
  const std::uint32_t slot = held("ingress.a.0", kFirstRescued);
  ASSERT_TRUE(world_.push("ingress.a.0", "front.0", world_.word_of(slot, kFirstRescued)));
  // A take stamps before it lets go.
  world_.segment.slot(slot).owner = world_.owner_word("front.0").word();
  dies_and_is_recovered_twice("front.0");
  EXPECT_EQ(handed_to(slot), "front.1") << "nobody else has taken it back here";
}

TEST_F(RescueTest, APushLeftHalfIsForgottenAndTheBatchHandedOn) {
  const std::uint32_t slot = held("front.0", kThird);
  rte_ring* const ring = raw_link("front.0", "deep.0");
  // A push writes the element before it moves its index.
  reinterpret_cast<std::uint64_t*>(ring + 1)[ring->prod.tail & ring->mask] =
      world_.word_of(slot, kThird);
  dies_and_is_recovered_twice("front.0");
  EXPECT_EQ(handed_to(slot), "deep.0");
}

TEST_F(RescueTest, AWorkedBatchIsLostAndGoesOnToTheNextStageThatMustSeeIt) {
  const std::uint32_t slot = in_state("front.0", SlotKind::kWorked, kFirstRescued, 1);
  const Batch batch = world_.segment.batch(slot);
  batch.drop(1, Reason::kNoPath);
  dies_and_is_recovered_twice("front.0");
  EXPECT_EQ(handed_to(slot), "deep.1") << "past the GPU, to the stage with state";
  EXPECT_EQ(world_.slot_state(slot), (SlotState{SlotKind::kHeld, kThird}));
  EXPECT_FALSE(batch.goes_on(0));
  EXPECT_EQ(batch.reason[0], static_cast<std::uint8_t>(Reason::kWorkerLost));
  EXPECT_EQ(batch.reason[1], static_cast<std::uint8_t>(Reason::kNoPath));
  EXPECT_EQ(batch.reason[2], static_cast<std::uint8_t>(Reason::kWorkerLost));
  EXPECT_EQ(totals().batches_worker_lost, 1u);
}

TEST_F(RescueTest, ALostBatchIsShownWithTheFunctionThatRan) {
  std::vector<std::string> shown;
  leader_->on_lost([&](const LostBatch& lost) {
    shown.push_back(world_.plan.actors[lost.actor].name + " " + std::to_string(lost.function) +
                    " " + std::to_string(lost.batch.count) +
                    (lost.batch.goes_on(0) ? " passing" : " dropped"));
  });
  in_state("front.0", SlotKind::kWorked, kFirstRescued, 1);
  world_.entry("front.0").in_function = 3;
  ends("front.0");
  tick_until("front.0", ActorState::kVacant);
  EXPECT_THAT(shown, testing::ElementsAre("front.0 2 3 passing"));
  EXPECT_EQ(world_.entry("front.0").in_function, 0U);
}

TEST_F(RescueTest, ADeathIsTheFunctionsOwnIfItFaultedOrHung) {
  std::map<std::string, bool> by_itself;
  leader_->on_lost([&](const LostBatch& lost) {
    by_itself[world_.plan.actors[lost.actor].name] = lost.by_itself;
  });
  for (const char* worker : {"front.0", "front.1", "front.2", "deep.0"}) {
    in_state(worker, SlotKind::kWorked, kFirstRescued, 1);
  }
  world_.entry("front.1").fault = world_.entry("front.1").incarnation.load();
  silent_ = {"front.2", "deep.0"};
  processes_.halted = {world_.pid_of("deep.0")};
  ends("front.0");
  ends("front.1");
  tick_for(2'000);
  EXPECT_THAT(by_itself,
              testing::ElementsAre(testing::Pair("deep.0", false),   // stopped from outside
                                   testing::Pair("front.0", false),  // killed
                                   testing::Pair("front.1", true), testing::Pair("front.2", true)));
}

TEST_F(RescueTest, ALostBatchWhoseColumnsMakeNoSenseIsNotShown) {
  int shown = 0;
  leader_->on_lost([&](const LostBatch&) { ++shown; });
  const std::uint32_t slot = in_state("front.0", SlotKind::kWorked, kFirstRescued, 1);
  const Batch batch = world_.segment.batch(slot);
  const std::uint16_t length = batch.length[1];
  batch.length[1] = 60'000;
  ends("front.0");
  tick_until("front.0", ActorState::kReclaiming);
  EXPECT_EQ(shown, 0);
  EXPECT_EQ(totals().batches_worker_lost, 1u);
  batch.length[1] = length;
}

TEST_F(RescueTest, StateFoundDirtyIsDiscardedAndTheLaneGoesOnBehindTheLostBatch) {
  const std::uint32_t slot = world_.make(
      {.lane = 2, .sequence = 9, .owner = "deep.0", .state = {SlotKind::kWorked, kThird}});
  window(2).released = 8;
  window(2).dirty = 1;
  for (const std::uint32_t lane : {2u, 3u}) state(lane)[95] = std::byte{1};
  dies_and_is_recovered_twice("deep.0");
  EXPECT_EQ(window(2).released, 9u);
  EXPECT_EQ(window(2).dirty, 0u);
  EXPECT_EQ(state(2)[95], std::byte{0});
  EXPECT_EQ(state(3)[95], std::byte{1}) << "another lane's state";
  EXPECT_EQ(totals().lane_states_discarded, 1u);
  EXPECT_EQ(handed_to(slot), "egress.0");
}

TEST_F(RescueTest, StateThatWasNotBeingChangedIsKept) {
  world_.make({.lane = 2, .sequence = 9, .owner = "deep.0", .state = {SlotKind::kWorked, kThird}});
  window(2).released = 8;
  state(2)[0] = std::byte{7};
  dies_and_is_recovered_twice("deep.0");
  EXPECT_EQ(state(2)[0], std::byte{7});
  EXPECT_EQ(window(2).released, 9u);
  EXPECT_EQ(totals().lane_states_discarded, 0u);
}

TEST_F(RescueTest, ABatchBeingSentIsCountedLostOnceAndFreed) {
  const std::uint32_t slot = in_state("egress.0", SlotKind::kSending, kEgressStage, 3);
  world_.segment.batch(slot).drop(2, Reason::kOverload);
  dies_and_is_recovered_twice("egress.0");
  EXPECT_EQ(dropped(3, Reason::kEgressLost), 2u);
  EXPECT_EQ(dropped(3, Reason::kOverload), 1u);
  const LaneRecord record = read_record(world_.status.ledger(0, 3));
  EXPECT_EQ(record.released_sequence, 1u);
  EXPECT_EQ(record.received, 3u);
  EXPECT_EQ(record.unaccounted, 0u);
  EXPECT_EQ(returned_slots(), Numbers{slot});
  EXPECT_EQ(returned_buffers(), world_.buffers_of(slot));
}

TEST_F(RescueTest, ABatchThatTheLedgerHasAlreadyIsOnlyFreed) {
  const std::uint32_t slot = in_state("egress.0", SlotKind::kSending, kEgressStage, 3);
  LaneLedger& ledger = world_.status.ledger(0, 3);
  ledger.record[1].released_sequence = 1;
  ledger.record[1].transmitted[1] = 3;
  ledger.flips = 1;
  ledger.released = 0;  // it died between these two
  dies_and_is_recovered_twice("egress.0");
  EXPECT_EQ(ledger.released, 1u);
  EXPECT_EQ(dropped(3, Reason::kEgressLost), 0u);
  EXPECT_EQ(read_record(ledger).transmitted[1], 3u);
  EXPECT_EQ(returned_slots(), Numbers{slot});
}

TEST_F(RescueTest, OfAHalfFreedBatchOnlyTheRestGoesBack) {
  const std::uint32_t slot = in_state("egress.0", SlotKind::kFreeing, kEgressStage);
  const Numbers buffers = world_.buffers_of(slot);
  ASSERT_TRUE(world_.segment.buffer_return(0, Returner::kEgress).push({buffers.data(), 1}));
  const std::uint32_t hand = Mark{MarkKind::kHand, world_.actor("ingress.a.0")}.word();
  world_.segment.mark(buffers[1]) = hand;  // the ingress has this one back already
  dies_and_is_recovered_twice("egress.0");
  EXPECT_EQ(returned_buffers(), (Numbers{buffers[0], buffers[2]}));
  EXPECT_EQ(returned_slots(), Numbers{slot});
  EXPECT_EQ(world_.segment.mark(buffers[1]), hand);
}

TEST_F(RescueTest, AFreedStandInGoesBackToNobody) {
  const std::uint32_t slot = world_.plan.slot_count;  // the first stand-in
  SlotHeader& header = world_.segment.slot(slot);
  header.owner = world_.owner_word("egress.0").word();
  header.state = SlotState{SlotKind::kFreeing, kEgressStage}.word();
  header.generation = 1;
  header.sequence = 1;
  header.count = 3;
  header.flags = kSlotStandIn;
  dies_and_is_recovered_twice("egress.0");
  EXPECT_EQ(world_.slot_state(slot), SlotState{});
  EXPECT_TRUE(returned_slots().empty());
  EXPECT_TRUE(returned_buffers().empty());
}

TEST_F(RescueTest, WhatADeadWorkerHadNotReadReachesAnotherEvenFromAProducerThatIsDeadToo) {
  const std::uint32_t slot = held("ingress.a.0", kFirstRescued);
  ASSERT_TRUE(world_.push("ingress.a.0", "front.0", world_.word_of(slot, kFirstRescued)));
  ends("ingress.a.0");
  dies_and_is_recovered_twice("front.0");
  EXPECT_EQ(handed_to(slot), "front.1");
}

TEST_F(RescueTest, BatchesAtADeadGpuAreRedoneByItsStandInOnce) {
  const std::uint32_t slot = held("front.1", kSecond);
  at_gpu(slot, "gpu.0.a", "front.1");
  dies_and_is_recovered_twice("gpu.0.a");
  EXPECT_EQ(handed_to(slot), "front.0");
  EXPECT_EQ(world_.segment.slot(slot).gpu_holder, 0u);
  EXPECT_EQ(totals().batches_redone, 1u);
  EXPECT_TRUE(world_.link("front.1", "gpu.0.a").empty()) << "its links are not empty";
}

TEST_F(RescueTest, ACompletionThatCouldHaveComeLaterIsIgnored) {
  const std::uint32_t slot = held("front.1", kSecond);
  at_gpu(slot, "gpu.0.a", "front.1");
  Inbox inbox(world_.context("deep.0"));
  inbox.read_roster();
  silent_ = {"gpu.0.a"};
  processes_.unkillable = {world_.pid_of("gpu.0.a")};
  tick_for(1'300);
  ASSERT_EQ(world_.slots_in("hub", "front.0"), Numbers{slot}) << "redone before its exit";
  ASSERT_TRUE(world_.push("gpu.0.a", "deep.0", world_.word_of(slot, kSecond)));
  Taken taken;
  EXPECT_FALSE(inbox.take(taken)) << "even by an acceptor that has not read the roster";
}

TEST_F(RescueTest, ABatchAtALivingGpuIsClaimedWhenItsProducerDies) {
  const std::uint32_t slot = held("front.0", kSecond);
  world_.segment.slot(slot).gpu_holder =
      holder_word(world_.owner_word("gpu.0.a"), world_.segment.slot(slot).generation);
  dies_and_is_recovered_twice("front.0");
  EXPECT_EQ(world_.segment.slot(slot).gpu_holder, 0u) << "its completion would count as well";
  EXPECT_EQ(handed_to(slot), "front.1");
}

TEST_F(RescueTest, ABatchStillInTheLinkToAGpuStaysThereWhenItsProducerDies) {
  const std::uint32_t slot = held("front.0", kSecond);
  at_gpu(slot, "gpu.0.a", "front.0");
  dies_and_is_recovered_twice("front.0");
  EXPECT_EQ(places_of(slot), std::vector<std::string>{"front.0 -> gpu.0.a"});
  EXPECT_EQ(owner_of_holder(world_.segment.slot(slot).gpu_holder), world_.owner_word("gpu.0.a"));
}

TEST_F(RescueTest, AnAcceptanceLeftHalfIsTheDeadAcceptors) {
  const std::uint32_t slot = held("front.1", kSecond);
  world_.segment.slot(slot).gpu_holder =
      holder_word(world_.owner_word("deep.0"), world_.segment.slot(slot).generation);
  dies_and_is_recovered_twice("deep.0");
  EXPECT_EQ(handed_to(slot), "front.0") << "computed again";
  EXPECT_EQ(world_.segment.slot(slot).gpu_holder, 0u);
}

TEST_F(RescueTest, AnAcceptanceUnderWayIsTheLivingAcceptors) {
  // deep.0 has claimed the completion and is about to stamp the slot as its own.
  const std::uint32_t slot = held("front.0", kSecond);
  world_.segment.slot(slot).gpu_holder =
      holder_word(world_.owner_word("deep.0"), world_.segment.slot(slot).generation);
  dies_and_is_recovered_twice("front.0");
  EXPECT_TRUE(places_of(slot).empty()) << "two have the batch";
  EXPECT_EQ(owner_of_holder(world_.segment.slot(slot).gpu_holder), world_.owner_word("deep.0"));
}

TEST_F(RescueTest, OthersSlotsAreNotTouched) {
  const std::uint32_t held_by_other = held("front.1", kFirstRescued);
  const std::uint32_t worked_by_other = in_state("deep.0", SlotKind::kWorked, kThird);
  const std::uint32_t of_other_path = world_.make(
      {.stream = 1, .lane = 4, .owner = "egress.0", .state = {SlotKind::kSending, kFourth}});
  dies_and_is_recovered_twice("front.0");
  EXPECT_EQ(world_.owner_of(held_by_other), world_.owner_word("front.1"));
  EXPECT_EQ(world_.slot_state(worked_by_other), (SlotState{SlotKind::kWorked, kThird}));
  EXPECT_EQ(world_.slot_state(of_other_path).kind, SlotKind::kSending);
  EXPECT_TRUE(places_of(held_by_other).empty());
}

TEST_F(RescueTest, WhatADeadHubHadInHandIsRescuedByTheStandby) {
  const std::uint32_t slot = held("hub", kFirstRescued);
  const std::uint32_t freed = in_state("hub", SlotKind::kFree, 0);
  hub_dies();
  tick_until("hub", S::kVacant);
  EXPECT_EQ(handed_to(slot), "front.0");
  EXPECT_EQ(world_.slots_returned(0, Returner::kStandby), Numbers{freed});
}

TEST_F(RescueTest, IdleStandInsOfADeadHubStayWhereTheyAre) {
  hub_dies();
  tick_until("hub", S::kVacant);
  for (std::uint32_t s = 0; s < 2; ++s) {
    for (const Returner from : {Returner::kEgress, Returner::kHub, Returner::kStandby}) {
      EXPECT_TRUE(world_.slots_returned(s, from).empty());
    }
  }
}

}  // namespace
}  // namespace millrace
