// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/recovery/census.hpp"

#include <gtest/gtest.h>

#include "tests/unit/shared/recovery/recovery_fixture.hpp"

namespace millrace {
namespace {

class CensusTest : public test::RecoveryFixture {
 protected:
  using Numbers = std::vector<std::uint32_t>;
};

TEST_F(CensusTest, ItFindsEverySlotAndBufferOnce) {
  const Plan& plan = world_.plan;
  Census census = census_of(world_.context("hub"));
  EXPECT_EQ(census.slots, plan.slot_count);
  EXPECT_EQ(census.slots_free, plan.slot_count);
  EXPECT_EQ(census.buffers, plan.buffer_count);
  EXPECT_EQ(census.buffers_free, plan.buffer_count);
  EXPECT_EQ(census.in_slots, 0u);
  world_.make({.sequence = 1, .owner = "front.0", .state = {SlotKind::kHeld, 0}});
  const std::uint32_t sending =
      world_.make({.stream = 1, .lane = 4, .owner = "egress.0", .state = {SlotKind::kSending, 3}});
  census = census_of(world_.context("hub"));
  EXPECT_EQ(census.slots_free, plan.slot_count - 2);
  EXPECT_EQ(census.buffers_free, plan.buffer_count - 6);
  EXPECT_EQ(census.in_slots, 3u) << "those in sealed batches";
  // On its way back the slot is free, and so are its buffers.
  const Numbers buffers = world_.buffers_of(sending);
  const std::uint64_t word = world_.word_of(sending, 0);
  ASSERT_TRUE(world_.segment.buffer_return(1, Returner::kEgress).push(buffers));
  world_.segment.slot(sending).state = 0;
  ASSERT_TRUE(world_.segment.slot_return(1, Returner::kEgress).push({&word, 1}));
  census = census_of(world_.context("hub"));
  EXPECT_EQ(census.slots_free, plan.slot_count - 1);
  EXPECT_EQ(census.buffers_free, plan.buffer_count - 3);
}

TEST_F(CensusTest, ItMissesALostSlotAndALostBuffer) {
  const PlanStream& stream = world_.plan.streams[0];
  world_.segment.slot(stream.slot_first).owner = world_.owner_word("front.0").word();
  world_.segment.mark(stream.buffer_first) = Mark{MarkKind::kSlot, 5}.word();
  const Census census = census_of(world_.context("hub"));
  EXPECT_EQ(census.slots_free, world_.plan.slot_count - 1);
  EXPECT_EQ(census.buffers_free, world_.plan.buffer_count - 1);
}

TEST_F(CensusTest, ItTellsBuffersInQueuesFromLostOnes) {
  const std::uint32_t first = world_.plan.streams[0].buffer_first;
  world_.segment.mark(first) = Mark{MarkKind::kRx, 0}.word();
  world_.segment.mark(first + 1) = Mark{MarkKind::kTx, 0}.word();
  world_.segment.mark(first + 2) = Mark{MarkKind::kTx, 0}.word();  // given up, on its way home
  const std::uint32_t home = first + 2;
  ASSERT_TRUE(world_.segment.buffer_return(0, Returner::kEgress).push({&home, 1}));
  const Census census = census_of(world_.context("hub"));
  EXPECT_EQ(census.buffers_held, 2u);
  EXPECT_EQ(census.buffers_free, world_.plan.buffer_count - 2);
}

}  // namespace
}  // namespace millrace
