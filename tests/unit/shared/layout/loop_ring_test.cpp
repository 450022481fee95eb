// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/layout/loop_ring.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shared/layout/mapping.hpp"
#include "tests/unit/support/loop_world.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kStride = kBufferStrideDefault;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

class LoopRingTest : public ::testing::Test {
 protected:
  LoopRingTest() : memory_(Mapping::create_anonymous(loop_ring_bytes(64, kStride))) {
    ring_ = LoopRing(memory_.base(), 64, kStride);
  }
  std::string text(std::uint64_t number) const {
    return {reinterpret_cast<const char*>(ring_.bytes(number)), ring_.entry(number).length};
  }

  Mapping memory_;
  LoopRing ring_;
};

TEST_F(LoopRingTest, WhatIsPutIsThereFromTheCommitOn) {
  ring_.put(0, bytes_of("one"), 3);
  ring_.put(1, bytes_of("two, cut"), 1500);
  EXPECT_EQ(ring_.head(), 0u);
  ring_.commit(2);
  EXPECT_EQ(ring_.head(), 2u);
  EXPECT_EQ(text(0), "one");
  EXPECT_EQ(text(1), "two, cut");
  EXPECT_EQ(ring_.entry(1).wire_length, 1500u);
  ring_.let_go_until(1);
  EXPECT_EQ(ring_.tail(), 1u);
}

TEST_F(LoopRingTest, EntriesAreUsedInTurnAndHaveNoOrdinalWhenNew) {
  const std::string longest(ring_.room(), 'x');
  for (std::uint64_t number = 0; number < 200; ++number) {
    const std::string content = number % 3 == 0 ? longest : std::to_string(number);
    ring_.put(number, bytes_of(content), static_cast<std::uint32_t>(content.size()));
    EXPECT_EQ(ring_.entry(number).ordinal, 0u);
    ring_.entry(number).ordinal = number + 1;
    EXPECT_EQ(text(number), content);
    if (number >= 64) {
      EXPECT_EQ(&ring_.entry(number), &ring_.entry(number - 64));
    }
  }
  EXPECT_EQ(ring_.bytes(63) + loop_entry_bytes(kStride) - sizeof(LoopEntry),
            memory_.base() + loop_ring_bytes(64, kStride));
}

TEST_F(LoopRingTest, APacketIsAsLongAsOneInABuffer) {
  EXPECT_EQ(ring_.room(), kStride - kBufferHeadroom);
  EXPECT_EQ(loop_entry_bytes(kStride) % kCacheLine, 0u);
  EXPECT_GE(loop_entry_bytes(kStride), kStride - kBufferHeadroom + sizeof(LoopEntry));
  EXPECT_EQ(LoopRing(nullptr, 64, 200'000).room(), 65535u);
}

TEST_F(LoopRingTest, RecoveryFinishesWhatTheLedgerSaysWasSentAndNothingElse) {
  std::uint64_t flips = 6;
  const auto flips_of = [&](std::uint32_t stream, std::uint32_t lane) {
    EXPECT_EQ(stream, 3u);
    EXPECT_EQ(lane, 4u);
    return flips;
  };
  ring_.settle(flips_of);
  EXPECT_EQ(ring_.head(), 0u) << "nothing was intended";
  ring_.intend(5, 3, 4, 7);
  ring_.settle(flips_of);
  EXPECT_EQ(ring_.head(), 0u) << "it died before the flip";
  flips = 7;
  ring_.settle(flips_of);
  EXPECT_EQ(ring_.head(), 0u) << "recovery's own flip is another one's";
  ring_.intend(5, 3, 4, 7);
  ring_.settle(flips_of);
  EXPECT_EQ(ring_.head(), 5u);
  ring_.settle(flips_of);
  EXPECT_EQ(ring_.head(), 5u);
}

TEST(LoopPlaces, AreOneForEachEgressAndReceiveQueueWithoutOverlap) {
  const test::SmallWorld world(test::kLoopTopology);
  const SegmentLayout& at = world.segment.layout();
  ASSERT_EQ(at.loops.size(), 4u) << "two queues, two egresses";
  std::uint64_t end = at.neighbours + at.neighbour_bytes;
  for (std::size_t i = 0; i < at.loops.size(); ++i) {
    EXPECT_EQ(at.loops[i].stream, 1 + i / 2);
    EXPECT_EQ(at.loops[i].egress, i % 2);
    EXPECT_EQ(at.loops[i].depth, 64u);
    EXPECT_GE(at.loops[i].start, end);
    end = at.loops[i].start + loop_ring_bytes(64, world.plan.buffer_stride);
    EXPECT_EQ(world.segment.loop(i).depth(), 64u);
  }
  EXPECT_LE(end, at.gpu_results);
  EXPECT_EQ(at.loop_bytes, 4 * loop_ring_bytes(64, world.plan.buffer_stride));
}

TEST(LoopPlaces, ThereAreNoneWithoutALoop) {
  const test::SmallWorld world;
  EXPECT_TRUE(world.segment.layout().loops.empty());
  EXPECT_EQ(world.segment.layout().loop_bytes, 0u);
}

TEST(LoopPlaces, AnotherDepthIsAnotherLayout) {
  std::string deeper = test::kLoopTopology;
  deeper.replace(deeper.find("depth: 64"), 9, "depth: 99");
  EXPECT_NE(segment_layout(test::plan_of_text(test::kLoopTopology)).hash,
            segment_layout(test::plan_of_text(deeper)).hash);
}

}  // namespace
}  // namespace millrace
