// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/links/split.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using test::SmallWorld;

class SplitTest : public ::testing::Test {
 protected:
  SplitTest() : plan_(world_.plan), gpu_(plan_.actors[world_.actor("gpu.0.a")].group) {
    world_.start_all();
  }
  Split open(std::uint32_t spill, std::uint32_t offload) {
    plan_.groups[gpu_].spill = spill;
    plan_.groups[gpu_].offload = offload;
    ActorContext context = world_.context("ingress.a.0");
    context.plan = &plan_;
    return Split(context);
  }
  /// A batch of slot `slot` goes where it belongs; true: to the GPU.
  bool send(Split& split, std::uint32_t slot) {
    if (!split.gpu_is_next(gpu_)) return false;
    const std::uint64_t holder = 100 + ++sent_;
    world_.segment.slot(slot).gpu_holder = holder;
    split.at_gpu(gpu_, slot, holder);
    return true;
  }
  void accept(std::uint32_t slot) { world_.segment.slot(slot).gpu_holder = 0; }

  SmallWorld world_;
  Plan plan_;
  std::uint32_t gpu_;
  std::uint64_t sent_ = 0;
};

TEST_F(SplitTest, AppliesToGroupsThatShareOnly) {
  EXPECT_FALSE(open(0, 100).applies(gpu_));
  const Split split = open(1, 100);
  EXPECT_TRUE(split.applies(gpu_));
  EXPECT_FALSE(split.applies(plan_.groups[gpu_].stand_in));
}

TEST_F(SplitTest, SpreadsAPercentageEvenly) {
  Split split = open(1000, 30);
  std::vector<int> at;
  for (int i = 0; i < 100; ++i) {
    if (split.gpu_is_next(gpu_)) at.push_back(i);
  }
  ASSERT_EQ(at.size(), 30u);
  for (std::size_t i = 1; i < at.size(); ++i) {
    EXPECT_GE(at[i] - at[i - 1], 3);
    EXPECT_LE(at[i] - at[i - 1], 4);
  }
}

TEST_F(SplitTest, FollowsTheShareThatIsMeasured) {
  Split split = open(1000, 0);
  const auto to_gpu = [&] {
    int count = 0;
    for (int i = 0; i < 100; ++i) count += split.gpu_is_next(gpu_) ? 1 : 0;
    return count;
  };
  EXPECT_EQ(to_gpu(), 100) << "nothing has been said";
  std::atomic<std::uint32_t>& word = offload_of(plan_, world_.status, gpu_);
  for (const std::uint32_t percent : {30u, 0u, 1u, 100u, 99u}) {
    set_offload(word, percent);
    EXPECT_EQ(measured_offload(word), percent);
    EXPECT_NEAR(to_gpu(), percent, 1);
  }
  set_offload(word, 0);
  EXPECT_EQ(to_gpu(), 0);
}

TEST_F(SplitTest, HoldsNoMoreAtTheGpuThanItMay) {
  Split split = open(3, 100);
  for (std::uint32_t slot : {0, 1, 2}) EXPECT_TRUE(send(split, slot));
  EXPECT_FALSE(send(split, 3));
  accept(1);
  EXPECT_FALSE(send(split, 3)) << "the oldest is still there";
  accept(0);
  EXPECT_TRUE(send(split, 3));
  EXPECT_TRUE(send(split, 0)) << "two have left";
  EXPECT_FALSE(send(split, 1));
}

TEST_F(SplitTest, KnowsABatchByItsHolderNotByItsSlot) {
  Split split = open(1, 100);
  EXPECT_TRUE(send(split, 5));
  world_.segment.slot(5).gpu_holder = 7;  // accepted, and used again
  EXPECT_TRUE(send(split, 6));
  EXPECT_FALSE(send(split, 7));
}

TEST_F(SplitTest, WhatIsSentBeyondTheLimitIsNotCounted) {
  Split split = open(1, 100);
  EXPECT_TRUE(send(split, 0));
  split.at_gpu(gpu_, 1, 99);  // no other was alive
  accept(0);
  EXPECT_TRUE(send(split, 2));
}

}  // namespace
}  // namespace millrace
