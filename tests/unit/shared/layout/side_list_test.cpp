// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/layout/side_list.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "shared/layout/batch_arena.hpp"

namespace millrace {
namespace {

TEST(SideList, RecordsAndTheirBytesStandInTheOrderOfTheirComing) {
  BatchArena arena(4);
  arena.add(std::array<std::byte, 60>{});
  const SideList side = arena.batch().side;
  EXPECT_TRUE(side.records().empty());
  const auto first = side.add({.packet = 0, .kind = 4, .port = 1}, 10);
  const auto second = side.add({.packet = 0, .kind = 1, .port = 2}, 0);
  const auto third = side.add({.packet = 0, .kind = 4, .port = 3}, 20);
  ASSERT_EQ(side.records().size(), 3u);
  EXPECT_EQ(first.size(), 10u);
  EXPECT_TRUE(second.empty());
  third[0] = std::byte{7};
  EXPECT_EQ(side.records()[2].bytes_at, 10u);
  EXPECT_EQ(side.bytes_of(side.records()[2])[0], std::byte{7});
}

TEST(SideList, AFullListTakesNothing) {
  BatchArena arena(2);
  const SideList side = arena.batch().side;
  EXPECT_FALSE(side.has_room(kSideBytesMax + 1));
  EXPECT_TRUE(side.has_room(kSideBytesMax));
  EXPECT_EQ(side.add({}, kSideBytesMax).size(), kSideBytesMax);
  EXPECT_TRUE(side.add({}, 1).empty());
  EXPECT_EQ(side.records().size(), 1u);
  EXPECT_TRUE(side.has_room());
  side.add({});
  EXPECT_FALSE(side.has_room());
  side.add({});
  EXPECT_EQ(side.records().size(), 2u);
}

TEST(SideList, WhatAHeaderSaysIsBounded) {
  BatchArena arena(2);
  const Batch batch = arena.batch();
  batch.header->side_count = UINT16_MAX;
  EXPECT_EQ(batch.side.records().size(), 2u);
  EXPECT_TRUE(batch.side.bytes_of({.bytes_at = kSideBytesMax, .bytes = 1}).empty());
  EXPECT_FALSE(SideList().has_room());
  EXPECT_TRUE(SideList().records().empty());
}

TEST(Fates, AreCountedAsOneByOne) {
  std::mt19937 random(3);
  for (std::uint32_t count = 0; count <= 70; ++count) {
    BatchArena arena(128);
    for (std::uint32_t i = 0; i < count; ++i) arena.add(std::array<std::byte, 14>{});
    const Batch batch = arena.batch();
    Fates expected;
    for (std::uint32_t i = 0; i < count; ++i) {
      batch.verdict[i] = static_cast<std::uint8_t>(random() % 4);
      expected.dropped += batch.verdict[i] == static_cast<std::uint8_t>(Verdict::kDrop) ? 1 : 0;
      expected.gone += batch.goes_on(i) ? 0 : 1;
      expected.not_sent += batch.leaves(i) ? 0 : 1;
    }
    EXPECT_EQ(fates_in(batch).dropped, expected.dropped) << count;
    EXPECT_EQ(fates_in(batch).gone, expected.gone) << count;
    EXPECT_EQ(fates_in(batch).not_sent, expected.not_sent) << count;
  }
}

TEST(Batch, APacketGrowsWithinItsBuffer) {
  BatchArena arena(1);
  arena.add(std::array<std::byte, 60>{});
  const Batch batch = arena.batch();
  EXPECT_TRUE(batch.grow_front(0, 28));
  EXPECT_EQ(batch.offset[0], kBufferHeadroom - 28);
  EXPECT_EQ(batch.length[0], 88u);
  EXPECT_EQ(batch.wire_length(0), 88u);
  EXPECT_FALSE(batch.grow_front(0, static_cast<std::int32_t>(kBufferHeadroom) - 27));
  EXPECT_FALSE(batch.grow_front(0, -89));
  EXPECT_TRUE(batch.grow_back(0, -88));
  EXPECT_FALSE(batch.grow_back(0, -1));
  const auto room = static_cast<std::int32_t>(batch.buffers.stride - batch.offset[0]);
  EXPECT_FALSE(batch.grow_back(0, room + 1));
  EXPECT_TRUE(batch.grow_back(0, room));
}

}  // namespace
}  // namespace millrace
