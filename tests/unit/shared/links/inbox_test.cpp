// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/links/inbox.hpp"

#include <gtest/gtest.h>

#include <set>
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
