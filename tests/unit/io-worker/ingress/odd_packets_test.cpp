// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ingress/odd_packets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "shared/layout/batch_arena.hpp"

namespace millrace {
namespace {

/// A batch of `count` whole packets: number i has i + 1 bytes.
Batch whole(BatchArena& arena, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) arena.add(std::vector<std::byte>(i + 1));
  return arena.batch();
}

TEST(OddPackets, WholePacketsWereAsLongOnTheWireAsTheyAre) {
  BatchArena arena(4);
  const Batch batch = whole(arena, 4);
  std::ranges::fill(batch.wire_lengths, 12'345u);  // the column is not written
  EXPECT_FALSE(batch.has_cut());
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(batch.wire_length(i), i + 1);
}

TEST(OddPackets, ACutPacketAmongWholeOnesTellsTheLengthsOfAll) {
  for (std::uint32_t first = 0; first < 4; ++first) {
    BatchArena arena(6);
    const Batch batch = whole(arena, 6);
    std::ranges::fill(batch.wire_lengths, 12'345u);
    std::vector<RxPacket> packets(2);
    packets[0].wire_length = 900;
    packets[1].wire_length = first + 2;
    fill_wire_lengths(batch, first, packets);
    for (std::uint32_t i = 0; i < first; ++i) EXPECT_EQ(batch.wire_length(i), i + 1);
    EXPECT_EQ(batch.wire_length(first), 900u);
    EXPECT_EQ(batch.wire_length(first + 1), first + 2);
    packets[0].wire_length = 77;
    fill_wire_lengths(batch, first + 2, {packets.data(), 1});
    EXPECT_EQ(batch.wire_length(first), 900u) << "what was told stays";
    EXPECT_EQ(batch.wire_length(first + 2), 77u);
  }
}

TEST(OddPackets, WhatGrowsIsNoLongerCut) {
  BatchArena arena(2);
  arena.add(std::vector<std::byte>(60), 900);
  arena.add(std::vector<std::byte>(60));
  const Batch batch = arena.batch();
  ASSERT_TRUE(batch.grow_back(0, 4));
  ASSERT_TRUE(batch.grow_front(1, 4));
  EXPECT_EQ(batch.wire_length(0), 64u);
  EXPECT_EQ(batch.wire_length(1), 64u);
}

TEST(OddPackets, OversizeOnesAreDroppedAndCounted) {
  BatchArena arena(4);
  const Batch batch = whole(arena, 4);
  std::vector<RxPacket> packets(3);
  packets[1].oversize = true;
  EXPECT_EQ(drop_oversize(batch, 1, packets), 1u);
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(batch.is_dropped(i), i == 2);
}

}  // namespace
}  // namespace millrace
