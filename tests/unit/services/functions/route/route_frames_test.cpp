// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_frames.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "shared/layout/batch_arena.hpp"

namespace millrace {
namespace {

using Packets = std::vector<std::uint16_t>;

TEST(RouteFrames, EveryPacketIsLocatedWhereTheBatchSaysThatItIs) {
  BatchArena arena;
  while (!arena.full()) arena.add({});
  const Batch batch = arena.batch();
  std::mt19937 random(1);
  for (std::uint32_t i = 0; i < batch.count; ++i) {
    batch.buffer[i] = random();  // far ones too: more than 4 GB behind the first
    batch.offset[i] = static_cast<std::uint16_t>(random());
  }
  for (int round = 0; round < 500; ++round) {
    Packets packets;
    const std::uint32_t sparse = round % 2 == 0 ? 1 : 3;
    for (std::uint16_t i = random() % 64; i < batch.count; ++i) {
      if (random() % sparse == 0) packets.push_back(i);
    }
    if (packets.empty()) continue;
    Frames frames;
    locate_frames(batch, packets, frames);
    for (std::size_t i = 0; i < packets.size(); ++i) {
      ASSERT_EQ(frames[i], batch.data(packets[i])) << "packet " << packets[i];
    }
  }
}

TEST(RouteFrames, OnlyARunWithoutAHoleLiesSideBySide) {
  EXPECT_TRUE(side_by_side(Packets{5}));
  EXPECT_TRUE(side_by_side(Packets{5, 6, 7}));
  EXPECT_FALSE(side_by_side(Packets{5, 7}));
  EXPECT_FALSE(side_by_side(Packets{0, 1, 3}));
}

}  // namespace
}  // namespace millrace
