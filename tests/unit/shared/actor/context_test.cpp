// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/actor/context.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using test::SmallWorld;

TEST(ActorContext, StatesOfASlotChangeAlongTheTable) {
  const SmallWorld world;
  const ActorContext context = world.context("ingress.a.0");
  context.set_state(3, SlotKind::kFilling, 0);
  context.set_state(3, SlotKind::kHeld, 2);
  EXPECT_EQ(world.slot_state(3), (SlotState{SlotKind::kHeld, 2}));
}

TEST(ActorContext, CountersAreTheActorsOwn) {
  const SmallWorld world;
  world.context("front.0").counter(Counter::kBatches) = 5;
  EXPECT_EQ(world.context("front.1").counter(Counter::kBatches), 0u);
  EXPECT_EQ(world.context("front.0").counter(Counter::kBatches), 5u);
  world.context("front.0").raise(Counter::kBatches, 4);
  EXPECT_EQ(world.context("front.0").counter(Counter::kBatches), 5u);
  world.context("front.0").raise(Counter::kBatches, 6);
  EXPECT_EQ(world.context("front.0").counter(Counter::kBatches), 6u);
}

TEST(ActorContextDeathTest, AStateThatTheTableDoesNotAllowEndsTheProcess) {
  const SmallWorld world;
  EXPECT_DEATH(world.context("egress.0").set_state(3, SlotKind::kSending, 0), "CHECK");
}

}  // namespace
}  // namespace millrace
