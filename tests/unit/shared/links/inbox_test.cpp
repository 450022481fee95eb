// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/links/inbox.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using test::HandMade;
using test::SmallWorld;

constexpr std::uint8_t kSecond = 1, kThird = 2;

/// deep.0 reads from front.* and from the GPU, whose incarnation a is in its third life.
class InboxTest : public ::testing::Test {
 protected:
  InboxTest() : context_(world_.context("deep.0", 5)), inbox_(context_) {
    world_.start_all();
    world_.set("gpu.0.a", ActorState::kAlive, 3);
    inbox_.read_roster();
  }
  /// A batch that front.0 gave to the GPU.
  std::uint32_t at_gpu(std::uint64_t sequence = 1) {
    const std::uint32_t slot = world_.make(
        {.sequence = sequence, .owner = "front.0", .state = {SlotKind::kHeld, kSecond}});
    world_.segment.slot(slot).gpu_holder =
        holder_word(world_.owner_word("gpu.0.a", 3), world_.segment.slot(slot).generation);
    return slot;
  }
  void complete(std::uint32_t slot) { push_gpu(world_.word_of(slot, kSecond)); }
  void push_gpu(std::uint64_t word) { ASSERT_TRUE(world_.push("gpu.0.a", "deep.0", word)); }
  bool take() { return inbox_.take(taken_); }
  std::uint64_t late() const { return context_.counter(Counter::kCompletionsLate); }

  SmallWorld world_;
  ActorContext context_;
  Inbox inbox_;
  Taken taken_;
};

TEST_F(InboxTest, ATakeFromACpuStampsTheOwner) {
  const std::uint32_t slot =
      world_.send("front.1", "deep.0", {.owner = "front.1", .state = {SlotKind::kHeld, kThird}});
  ASSERT_FALSE(inbox_.empty());
  ASSERT_TRUE(take());
  EXPECT_EQ(taken_.slot, slot);
  EXPECT_EQ(taken_.stage, kThird);
  EXPECT_FALSE(taken_.computed);
  EXPECT_EQ(world_.owner_of(slot), world_.owner_word("deep.0", 5));
  EXPECT_TRUE(inbox_.empty());
  EXPECT_FALSE(take());
}

TEST_F(InboxTest, LinksAreReadInTurn) {
  const HandMade made{.owner = "front.0", .state = {SlotKind::kHeld, kThird}};
  std::vector<std::uint32_t> from_0, from_2;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    from_0.push_back(world_.send("front.0", "deep.0", made));
    from_2.push_back(world_.send("front.2", "deep.0", made));
  }
  std::vector<std::uint32_t> order;
  while (take()) order.push_back(taken_.slot);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{from_0[0], from_2[0], from_0[1], from_2[1],
                                               from_0[2], from_2[2]}));
}

TEST_F(InboxTest, APeekShowsWhatTheNextTakeGives) {
  const HandMade made{.owner = "front.0", .state = {SlotKind::kHeld, kThird}};
  for (int i = 0; i < 3; ++i) world_.send("front.0", "deep.0", made);
  for (int i = 0; i < 2; ++i) world_.send("front.2", "deep.0", made);
  std::uint32_t slot = 0;
  int taken = 0;
  for (; inbox_.peek(slot); ++taken) {
    EXPECT_EQ(world_.owner_of(slot), world_.owner_word("front.0")) << "taken already";
    ASSERT_TRUE(take());
    EXPECT_EQ(taken_.slot, slot);
  }
  EXPECT_EQ(taken, 5);
  EXPECT_FALSE(take());
}

TEST_F(InboxTest, NoPeekShowsACompletion) {
  complete(at_gpu());
  std::uint32_t slot = 0;
  EXPECT_FALSE(inbox_.peek(slot));
  EXPECT_TRUE(take());
}

TEST_F(InboxTest, ACompletionIsAcceptedOnceAndOnlyOnce) {
  const std::uint32_t slot = at_gpu();
  complete(slot);
  complete(slot);
  ASSERT_TRUE(take());
  EXPECT_TRUE(taken_.computed);
  EXPECT_EQ(taken_.slot, slot);
  EXPECT_EQ(taken_.stage, kSecond);
  EXPECT_EQ(taken_.gpu, 0u);
  EXPECT_EQ(world_.owner_of(slot), world_.owner_word("deep.0", 5));
  EXPECT_EQ(world_.segment.slot(slot).gpu_holder, 0u);
  EXPECT_FALSE(take());
  EXPECT_EQ(late(), 1u);
  EXPECT_TRUE(inbox_.empty()) << "a late completion is read away";
}

TEST_F(InboxTest, ACompletionOfAnEarlierUseOfTheSlotIsIgnored) {
  const std::uint32_t slot = at_gpu();
  complete(slot);
  ++world_.segment.slot(slot).generation;
  EXPECT_FALSE(take());
  EXPECT_EQ(late(), 1u);
  EXPECT_EQ(world_.owner_of(slot), world_.owner_word("front.0")) << "touched";
}

TEST_F(InboxTest, ACompletionByAnIncarnationThatDoesNotHoldTheBatchIsIgnored) {
  const std::uint32_t slot = at_gpu();
  world_.segment.slot(slot).gpu_holder =
      holder_word(world_.owner_word("gpu.0.b", 1), world_.segment.slot(slot).generation);
  complete(slot);
  EXPECT_FALSE(take());
  world_.segment.slot(slot).gpu_holder =
      holder_word(world_.owner_word("gpu.0.a", 2), world_.segment.slot(slot).generation);
  complete(slot);
  EXPECT_FALSE(take()) << "an earlier life of the same actor";
  EXPECT_EQ(late(), 2u);
  EXPECT_EQ(world_.owner_of(slot), world_.owner_word("front.0"));
}

TEST_F(InboxTest, ACompletionOfNoSlotIsIgnoredAndTheNextIsRead) {
  const std::uint32_t slot = at_gpu();
  push_gpu(Descriptor{0xffff, kSecond, 1}.word());
  complete(slot);
  ASSERT_TRUE(take());
  EXPECT_EQ(taken_.slot, slot);
  EXPECT_EQ(late(), 1u);
}

TEST_F(InboxTest, AFencedGpuIsNotReadAnyMore) {
  const std::uint32_t slot = at_gpu();
  complete(slot);
  world_.set("gpu.0.a", ActorState::kFenced, 3);
  inbox_.read_roster();
  EXPECT_TRUE(inbox_.empty());
  EXPECT_FALSE(take());
  EXPECT_EQ(world_.link("gpu.0.a", "deep.0").size(), 1u);
}

TEST_F(InboxTest, ADrainingGpuIsReadOn) {
  const std::uint32_t slot = at_gpu();
  complete(slot);
  world_.set("gpu.0.a", ActorState::kDraining, 3);
  inbox_.read_roster();
  EXPECT_TRUE(take());
}

TEST_F(InboxTest, WhatADeadWorkerSentIsReadUnlessItIsQuarantined) {
  const HandMade made{.owner = "front.0", .state = {SlotKind::kHeld, kThird}};
  world_.send("front.0", "deep.0", made);
  world_.send("front.0", "deep.0", made);
  world_.set("front.0", ActorState::kFenced);
  inbox_.read_roster();
  EXPECT_TRUE(take());
  world_.set("front.0", ActorState::kQuarantined);
  inbox_.read_roster();
  EXPECT_FALSE(take());
  EXPECT_TRUE(inbox_.empty());
}

TEST_F(InboxTest, BeforeTheRosterIsReadNoGpuIsBelieved) {
  complete(at_gpu());
  Inbox fresh(context_);
  EXPECT_FALSE(fresh.take(taken_));
}

TEST_F(InboxTest, TheResultAreaIsTheIncarnations) {
  world_.set("gpu.0.b", ActorState::kAlive, 1);
  inbox_.read_roster();
  const std::uint32_t slot = at_gpu();
  world_.segment.slot(slot).gpu_holder =
      holder_word(world_.owner_word("gpu.0.b", 1), world_.segment.slot(slot).generation);
  ASSERT_TRUE(world_.push("gpu.0.b", "deep.0", world_.word_of(slot, kSecond)));
  ASSERT_TRUE(take());
  EXPECT_EQ(taken_.gpu, 1u);
}

/// So many sources that those from which nothing comes are not looked at each time.
constexpr std::uint32_t kManySources = 12;
constexpr const char* kMany = R"(
millrace: 1
name: many
batch: { capacity: 8 }
ports:
  a: { device: "null" }
  b: { device: "null" }
workers:
  front: { kind: classifier, count: 12, max: 12, dispatch: any }
  deep: { kind: classifier, count: 1, max: 1, dispatch: flow }
functions:
  first: { type: pass, on: front }
  second: { type: state, on: deep }
paths:
  only: { from: [a], to: b, run: [first, second], slots: 64 }
)";

class InboxOfMany : public ::testing::Test {
 protected:
  InboxOfMany() : inbox_(world_.context("deep.0")) {
    world_.start_all();
    inbox_.read_roster();
  }
  std::uint32_t send(const std::string& from) {
    return world_.send(from, "deep.0",
                       {.count = 1, .owner = from, .state = {SlotKind::kHeld, kSecond}});
  }
  std::vector<std::uint32_t> take(std::size_t most) {
    std::vector<std::uint32_t> slots;
    for (Taken taken; slots.size() < most && inbox_.take(taken);) slots.push_back(taken.slot);
    return slots;
  }
  void be_idle() {
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(take(1).empty());
  }

  SmallWorld world_{kMany};
  Inbox inbox_;
};

TEST_F(InboxOfMany, AfterALongQuietEachLinkIsStillRead) {
  be_idle();
  std::set<std::uint32_t> sent;
  for (std::uint32_t i = 0; i < kManySources; ++i) sent.insert(send("front." + std::to_string(i)));
  const std::vector<std::uint32_t> taken = take(100);
  EXPECT_EQ(std::set(taken.begin(), taken.end()), sent);
  EXPECT_TRUE(inbox_.empty());
}

TEST_F(InboxOfMany, ALinkThatIsAlwaysFullDoesNotKeepTheOthersWaiting) {
  be_idle();
  for (int i = 0; i < 60; ++i) send("front.7");
  ASSERT_EQ(take(1).size(), 1u);
  const std::uint32_t seldom = send("front.2");
  const std::vector<std::uint32_t> taken = take(4 * kManySources);
  EXPECT_NE(std::find(taken.begin(), taken.end(), seldom), taken.end());
}

TEST_F(InboxOfMany, WhatALinkHoldsLeavesInItsOrderThroughACold) {
  std::vector<std::uint32_t> sent;
  for (int i = 0; i < 3; ++i) {
    be_idle();
    sent.push_back(send("front.4"));
    sent.push_back(send("front.4"));
    EXPECT_EQ(take(10), (std::vector<std::uint32_t>{sent.end() - 2, sent.end()}));
  }
}

using InboxDeathTest = InboxTest;

TEST_F(InboxDeathTest, AStaleDescriptorOnACpuLinkIsABug) {
  const std::uint32_t slot =
      world_.send("front.1", "deep.0", {.owner = "front.1", .state = {SlotKind::kHeld, kThird}});
  ++world_.segment.slot(slot).generation;
  EXPECT_DEATH(take(), "CHECK");
}

TEST_F(InboxDeathTest, ADescriptorOfNoSlotOnACpuLinkIsABug) {
  world_.push("front.1", "deep.0", Descriptor{0xffff, kThird, 1}.word());
  EXPECT_DEATH(take(), "CHECK");
}

}  // namespace
}  // namespace millrace
