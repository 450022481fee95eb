// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/egress/side_pool.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using test::SmallWorld;

TEST(SidePool, GivesEachOfItsBuffersOnceAndThenNone) {
  SmallWorld world;
  SidePool pool(world.context("egress.0"));
  EXPECT_EQ(pool.free(), world.plan.side_count);
  std::set<std::uint32_t> taken;
  for (std::uint32_t i = 0; i < world.plan.side_count; ++i) taken.insert(pool.take());
  EXPECT_EQ(taken.size(), world.plan.side_count);
  EXPECT_GE(*taken.begin(), world.plan.side_first);
  EXPECT_LT(*taken.rbegin(), world.plan.buffer_count);
  EXPECT_EQ(pool.take(), SidePool::kNone);
  for (const std::uint32_t buffer : taken) {
    EXPECT_EQ(Mark::from_word(world.segment.mark(buffer)).kind, MarkKind::kSide);
    pool.put(buffer);
  }
  EXPECT_EQ(pool.free(), world.plan.side_count);
}

TEST(SidePool, ASuccessorHasWhatIsInItsHandAndFindsTheRestWhenItComesBack) {
  SmallWorld world;
  const ActorContext context = world.context("egress.0");
  std::uint32_t used = 0;
  {
    SidePool pool(context);
    used = pool.take();
  }
  SidePool pool(context);
  EXPECT_EQ(pool.free(), world.plan.side_count - 1);
  for (std::uint32_t i = 1; i < world.plan.side_count; ++i) EXPECT_NE(pool.take(), used);
  EXPECT_EQ(pool.take(), SidePool::kNone);
  world.segment.mark(used) = Mark{MarkKind::kHand, context.me.actor}.word();  // as recovery does
  EXPECT_EQ(pool.take(), used);
}

TEST(SidePool, KnowsWhichBuffersArePoolsOfEgresses) {
  SmallWorld world;
  SidePool pool(world.context("egress.0"));
  EXPECT_FALSE(pool.is_side(world.plan.side_first - 1));
  EXPECT_TRUE(pool.is_side(world.plan.side_first));
  EXPECT_FALSE(pool.is_side(world.plan.buffer_count));
}

}  // namespace
}  // namespace millrace
