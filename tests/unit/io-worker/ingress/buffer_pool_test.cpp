// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/ingress/buffer_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using test::SmallWorld;
using Buffers = std::vector<std::uint32_t>;

class BufferPoolTest : public ::testing::Test {
 protected:
  BufferPoolTest() : context_(world_.context("ingress.b.0")), stream_(world_.plan.streams[1]) {}
  Buffers take(BufferPool& pool, std::size_t most) {
    Buffers out(most);
    out.resize(pool.take(out));
    return out;
  }
  Mark mark(std::uint32_t buffer) const { return Mark::from_word(world_.segment.mark(buffer)); }
  /// A packet's way: into a slot, out, back over the egress's ring.
  void use_and_return(const Buffers& buffers, Returner from = Returner::kEgress) {
    for (const std::uint32_t buffer : buffers) {
      world_.segment.mark(buffer) = Mark{MarkKind::kSlot, 3}.word();
    }
    ASSERT_TRUE(world_.segment.buffer_return(1, from).push(buffers));
  }
  const Mark hand_{MarkKind::kHand, 3};  // ingress.b.0
  SmallWorld world_;
  ActorContext context_;
  const PlanStream& stream_;
};

TEST_F(BufferPoolTest, ANewPoolHasEveryBufferOfItsStreamOnceAndNoOther) {
  ASSERT_EQ(world_.actor("ingress.b.0"), hand_.number);
  BufferPool pool(context_, 1);
  EXPECT_EQ(pool.count(), stream_.buffer_count);
  EXPECT_EQ(pool.first(), stream_.buffer_first);
  const Buffers all = take(pool, stream_.buffer_count + 1);
  EXPECT_EQ(all.size(), stream_.buffer_count);
  const std::set<std::uint32_t> unique(all.begin(), all.end());
  EXPECT_EQ(unique.size(), all.size());
  EXPECT_EQ(*unique.begin(), stream_.buffer_first);
  EXPECT_EQ(*unique.rbegin(), stream_.buffer_first + stream_.buffer_count - 1);
  EXPECT_TRUE(take(pool, 1).empty());
}

TEST_F(BufferPoolTest, TheNewestGoesOutFirst) {
  BufferPool pool(context_, 1);
  const Buffers taken = take(pool, 3);
  pool.give_back(taken);
  EXPECT_EQ(take(pool, 2), (Buffers{taken[2], taken[1]}));
}

TEST_F(BufferPoolTest, ReturnedBuffersAreCollectedAndMarkedWhenTheStackRunsOut) {
  BufferPool pool(context_, 1);
  const Buffers all = take(pool, stream_.buffer_count);
  use_and_return({all[0], all[1]});
  use_and_return({all[2]}, Returner::kHub);
  use_and_return({all[3]}, Returner::kStandby);
  const Buffers again = take(pool, 10);
  EXPECT_EQ(std::set<std::uint32_t>(again.begin(), again.end()),
            (std::set<std::uint32_t>{all[0], all[1], all[2], all[3]}));
  for (const std::uint32_t buffer : again) EXPECT_EQ(mark(buffer), hand_);
}

TEST_F(BufferPoolTest, WhatIsGivenBackIsMarkedAsInTheHand) {
  BufferPool pool(context_, 1);
  const Buffers taken = take(pool, 1);
  world_.segment.mark(taken[0]) = Mark{MarkKind::kRx, 0}.word();
  pool.give_back(taken);
  EXPECT_EQ(mark(taken[0]), hand_);
}

TEST_F(BufferPoolTest, WhatAReceiveQueueKeepsIsMarkedAndANextLifeLeavesItThere) {
  Buffers kept;
  {
    BufferPool pool(context_, 1);
    kept = take(pool, 4);
    pool.hold(kept);
    for (const std::uint32_t buffer : kept) EXPECT_EQ(mark(buffer), (Mark{MarkKind::kRx, 1}));
    pool.give_back({kept.data(), 1});
    EXPECT_EQ(mark(kept[0]), hand_);
  }
  BufferPool pool(context_, 1);
  const Buffers found = take(pool, stream_.buffer_count);
  EXPECT_EQ(found.size(), stream_.buffer_count - 3u);
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(std::count(found.begin(), found.end(), kept[i]), 0) << i;
  }
}

TEST_F(BufferPoolTest, ANextLifeFindsWhatIsInTheHandAndNothingElse) {
  Buffers all;
  {
    BufferPool pool(context_, 1);
    all = take(pool, 5);
    world_.segment.mark(all[0]) = Mark{MarkKind::kSlot, 3}.word();  // in a sealed slot
    use_and_return({all[1]});                                       // on its way back
    use_and_return({all[2]});
    // Taken out of the ring but for its tail: the mark is ours, the ring has it still.
    world_.segment.mark(all[2]) = hand_.word();
  }
  BufferPool pool(context_, 1);
  EXPECT_EQ(pool.free(), stream_.buffer_count - 1u) << "those of the ring are counted once";
  const Buffers found = take(pool, stream_.buffer_count);
  const std::set<std::uint32_t> unique(found.begin(), found.end());
  EXPECT_EQ(found.size(), stream_.buffer_count - 1u);
  EXPECT_EQ(unique.size(), found.size());
  EXPECT_FALSE(unique.contains(all[0]));
}

TEST_F(BufferPoolTest, WhatHasJustComeBackGoesOutBeforeWhatLiesInThePool) {
  BufferPool pool(context_, 1);
  const Buffers all = take(pool, stream_.buffer_count);
  pool.give_back(std::span(all).subspan(4));
  use_and_return({all[0], all[1]});
  pool.collect_newest();
  EXPECT_EQ(take(pool, 2), (Buffers{all[1], all[0]}));
  use_and_return({all[2]});
  use_and_return({all[3]}, Returner::kHub);
  pool.collect_newest();
  EXPECT_EQ(take(pool, 1), (Buffers{all[2]}));
}

TEST_F(BufferPoolTest, BuffersGoRoundForEverThroughARingThatWraps) {
  BufferPool pool(context_, 1);
  const std::size_t some = kBurstMax - 1;  // so the ring's end is met at many places
  for (std::uint32_t turn = 0; turn < 100; ++turn) {
    const Buffers taken = take(pool, some);
    ASSERT_EQ(std::set<std::uint32_t>(taken.begin(), taken.end()).size(), some);
    use_and_return(taken);
  }
  EXPECT_EQ(pool.free(), stream_.buffer_count);
}

TEST_F(BufferPoolTest, AVeryBufferIsTakenWhenItIsFree) {
  BufferPool pool(context_, 1);
  const std::uint32_t wanted = stream_.buffer_first + 7;
  EXPECT_TRUE(pool.take_exactly(wanted));
  EXPECT_FALSE(pool.take_exactly(wanted)) << "it is out";
  EXPECT_TRUE(pool.take_exactly(wanted + 1));
  use_and_return({wanted});
  EXPECT_TRUE(pool.take_exactly(wanted)) << "it has come back";
  pool.give_back({&wanted, 1});
  EXPECT_TRUE(pool.take_exactly(wanted));
}

TEST_F(BufferPoolTest, AVeryBufferCanBeTakenForEver) {
  BufferPool pool(context_, 1);
  const Buffers one{stream_.buffer_first};
  for (std::uint32_t i = 0; i < 3 * stream_.buffer_count; ++i) {
    ASSERT_TRUE(pool.take_exactly(one[0])) << i;
    use_and_return(one);
  }
}

TEST_F(BufferPoolTest, ARunOfBuffersIsTakenUpToTheFirstThatIsOut) {
  BufferPool pool(context_, 1);
  const std::uint32_t first = stream_.buffer_first;
  EXPECT_EQ(pool.take_run(first, 4), 4u);
  EXPECT_EQ(pool.take_run(first + 2, 4), 0u);
  use_and_return({first + 2, first + 3});
  EXPECT_EQ(pool.take_run(first + 2, 4), 4u) << "what has come back is collected once";
  EXPECT_FALSE(pool.take_exactly(first + 5));
  EXPECT_EQ(pool.take_run(first + stream_.buffer_count - 2, 2), 2u);
}

using BufferPoolDeathTest = BufferPoolTest;

TEST_F(BufferPoolDeathTest, AnotherStreamsBufferInTheRingIsABug) {
  BufferPool pool(context_, 1);
  take(pool, stream_.buffer_count);
  use_and_return({world_.plan.streams[0].buffer_first});
  EXPECT_DEATH(take(pool, 1), "CHECK");
}

}  // namespace
}  // namespace millrace
