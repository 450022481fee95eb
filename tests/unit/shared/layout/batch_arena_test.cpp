// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/layout/batch_arena.hpp"

#include <gtest/gtest.h>

#include <array>

namespace millrace {
namespace {

std::array<std::byte, 3> packet_of(int value) {
  return {std::byte(value), std::byte(value + 1), std::byte(value + 2)};
}

TEST(BatchArena, HoldsWhatWasAddedInOrder) {
  BatchArena arena(4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(arena.add(packet_of(10 * i)), i);
  EXPECT_TRUE(arena.full());
  const Batch batch = arena.batch();
  ASSERT_EQ(batch.count, 4u);
  EXPECT_EQ(batch.header->count, 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(batch.length[i], 3);
    EXPECT_EQ(batch.wire_length(i), 3u);
    EXPECT_EQ(batch.offset[i], kBufferHeadroom);
    EXPECT_EQ(batch.output[i], kOutputDefault);
    EXPECT_TRUE(batch.goes_on(i));
    EXPECT_EQ(batch.bytes(i)[2], std::byte(10 * i + 2));
  }
}

TEST(BatchArena, ClearedColumnsAreAsNew) {
  BatchArena arena(2);
  arena.add(packet_of(1), 900);
  EXPECT_EQ(arena.batch().wire_length(0), 900u);
  arena.batch().drop(0, Reason::kNoPath);
  arena.batch().results(0)[0] = 5;
  arena.clear();
  EXPECT_EQ(arena.count(), 0u);
  arena.add(packet_of(2));
  EXPECT_TRUE(arena.batch().goes_on(0));
  EXPECT_EQ(arena.batch().reason[0], 0);
  EXPECT_EQ(arena.batch().results(0)[0], 0u);
}

TEST(BatchArena, TakesPacketsUpToItsRoomAndEmptyOnes) {
  BatchArena arena(2, 256);
  EXPECT_EQ(arena.room(), 128u);
  const std::array<std::byte, 128> largest{};
  arena.add(largest);
  arena.add({});
  EXPECT_EQ(arena.batch().length[0], 128);
  EXPECT_EQ(arena.batch().length[1], 0);
}

TEST(BatchArenaDeathTest, RefusesOnePacketTooManyAndOneByteTooMany) {
  BatchArena arena(1, 256);
  const std::array<std::byte, 129> too_long{};
  EXPECT_DEATH(arena.add(too_long), "CHECK");
  arena.add({});
  EXPECT_DEATH(arena.add({}), "CHECK");
}

}  // namespace
}  // namespace millrace
