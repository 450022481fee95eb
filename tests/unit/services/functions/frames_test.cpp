// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/frames.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "shared/layout/batch_arena.hpp"

namespace millrace {
namespace {

/// 64 packets in buffers of another order, each at an offset of its own.
Batch scattered(BatchArena& arena) {
  while (!arena.full()) arena.add({});
  const Batch batch = arena.batch();
  for (std::uint32_t i = 0; i < batch.count; ++i) {
    batch.buffer[i] = i * 37 % batch.count;
    batch.offset[i] = static_cast<std::uint16_t>(i * 5);
  }
  return batch;
}

void expect_found(const Batch& batch, const std::vector<std::uint16_t>& packets) {
  Frames frames;
  locate_frames(batch, packets, frames);
  for (std::size_t i = 0; i < packets.size(); ++i) {
    ASSERT_EQ(frames[i], batch.data(packets[i])) << i << " of " << packets.size();
  }
}

TEST(Frames, EachRunOfPacketsIsFound) {
  BatchArena arena;
  const Batch batch = scattered(arena);
  for (std::uint16_t first = 0; first < 64; ++first) {
    std::vector<std::uint16_t> packets;
    for (std::uint16_t packet = first; packet < 64; ++packet) {
      packets.push_back(packet);
      EXPECT_TRUE(side_by_side(packets));
      expect_found(batch, packets);
    }
  }
}

TEST(Frames, PacketsWithAHoleAmongThemAreFound) {
  BatchArena arena;
  const Batch batch = scattered(arena);
  for (std::uint16_t hole = 1; hole < 63; ++hole) {
    std::vector<std::uint16_t> packets;
    for (std::uint16_t packet = 0; packet < 64; ++packet) {
      if (packet != hole) packets.push_back(packet);
    }
    EXPECT_FALSE(side_by_side(packets));
    expect_found(batch, packets);
  }
}

TEST(Frames, BuffersBehindFourGigabytesAreFound) {
  // Addresses only: nothing is there.
  BatchArena arena(8);
  Batch batch = scattered(arena);
  batch.buffers = {reinterpret_cast<std::byte*>(0x7f00'1234'5680), kBufferStrideDefault * 4096};
  for (std::uint32_t i = 0; i < batch.count; ++i) batch.buffer[i] = kBufferCountMax - 1 - i;
  expect_found(batch, {0, 1, 2, 3, 4, 5, 6, 7});
}

TEST(Frames, EachOfManyPacketsIsInOnePart) {
  BatchArena arena(kFramesMax + 7);
  const Batch batch = scattered(arena);
  std::vector<std::uint16_t> packets(batch.count);
  std::iota(packets.begin(), packets.end(), std::uint16_t{0});
  std::uint16_t next = 0;
  for_each_part(batch, packets, [&](std::span<const std::uint16_t> some, const Frames& frames) {
    for (std::size_t i = 0; i < some.size(); ++i, ++next) {
      EXPECT_EQ(some[i], next);
      EXPECT_EQ(frames[i], batch.data(next));
    }
  });
  EXPECT_EQ(next, batch.count);
  for_each_part(batch, {}, [](auto, const Frames&) { FAIL(); });
}

}  // namespace
}  // namespace millrace
