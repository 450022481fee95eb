// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/links/return_link.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using test::SmallWorld;

TEST(ReturnLink, BuffersAndSlotGoBackToTheirIngress) {
  SmallWorld world;
  const std::uint32_t slot = world.make(
      {.stream = 1, .lane = 4, .owner = "egress.0", .state = {SlotKind::kFreeing, kEgressStage}});
  world.entry("ingress.b.0").sleeping = 1;
  ReturnLinks links(world.context("egress.0"), Returner::kEgress);
  links.give_back(slot, world.segment.batch(slot).buffer);
  links.wake_consumers();
  EXPECT_EQ(world.slot_state(slot), SlotState{});
  EXPECT_EQ(world.slots_returned(1, Returner::kEgress), std::vector<std::uint32_t>{slot});
  EXPECT_EQ(world.buffers_returned(1, Returner::kEgress), world.buffers_of(slot));
  EXPECT_TRUE(world.slots_returned(0, Returner::kEgress).empty());
  EXPECT_EQ(world.entry("ingress.b.0").sleeping, 0u) << "not woken";
}

TEST(ReturnLink, ASlotGoesBackWithoutBuffersWhenTheyHaveGoneBefore) {
  SmallWorld world;
  const std::uint32_t slot =
      world.make({.owner = "hub", .state = {SlotKind::kFreeing, kEgressStage}});
  ReturnLinks(world.context("hub"), Returner::kHub).give_back(slot, {});
  EXPECT_EQ(world.slots_returned(0, Returner::kHub), std::vector<std::uint32_t>{slot});
  EXPECT_TRUE(world.buffers_returned(0, Returner::kHub).empty());
}

TEST(ReturnLink, BuffersGoToTheIngressThatTheyBelongTo) {
  SmallWorld world;
  const std::uint32_t a = world.plan.streams[0].buffer_first;
  const std::uint32_t b = world.plan.streams[1].buffer_first;
  ReturnLinks links(world.context("egress.0"), Returner::kEgress);
  links.give_back_buffers({});
  links.give_back_buffers(std::vector<std::uint32_t>{b, b + 1, a + 5, b + 7, a});
  EXPECT_EQ(world.buffers_returned(0, Returner::kEgress), (std::vector<std::uint32_t>{a + 5, a}));
  EXPECT_EQ(world.buffers_returned(1, Returner::kEgress),
            (std::vector<std::uint32_t>{b, b + 1, b + 7}));
}

TEST(ReturnLinkDeathTest, ABufferThatIsNobodysIsABug) {
  SmallWorld world;
  ReturnLinks links(world.context("egress.0"), Returner::kEgress);
  const std::uint32_t beyond = world.plan.buffer_count;
  EXPECT_DEATH(links.give_back_buffers({&beyond, 1}), "CHECK");
}

TEST(ReturnLinkDeathTest, ASlotThatIsNotAccountedForIsNotGivenBack) {
  SmallWorld world;
  const std::uint32_t slot =
      world.make({.owner = "egress.0", .state = {SlotKind::kSending, kEgressStage}});
  ReturnLinks links(world.context("egress.0"), Returner::kEgress);
  EXPECT_DEATH(links.give_back(slot, {}), "CHECK");
}

}  // namespace
}  // namespace millrace
