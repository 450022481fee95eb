// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "gpu-worker/resident/words.hpp"

#include <gtest/gtest.h>

#include <random>

namespace millrace::resident {
namespace {

TEST(Words, ComeBackAsTheyWentIn) {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
  };
  for (int i = 0; i < 10'000; ++i) {
    const auto lap = static_cast<std::uint32_t>(random());
    const Submission batch{below(65536), below(257), below(256), below(16), below(2) != 0};
    const Submission batch_back = Submission::from_word(batch.word(lap));
    EXPECT_EQ(batch_back.slot, batch.slot);
    EXPECT_EQ(batch_back.count, batch.count);
    EXPECT_EQ(batch_back.chain, batch.chain);
    EXPECT_EQ(batch_back.part_bits, batch.part_bits);
    EXPECT_EQ(batch_back.keyed, batch.keyed);
    EXPECT_TRUE(Submission::has_lap(batch.word(lap), lap));
    EXPECT_FALSE(Submission::has_lap(batch.word(lap), lap + 1));

    const Ticket ticket{below(65536), 1 + below(256), below(kPartsMax),
                        below(8),     below(256),     below(2) != 0};
    const Ticket back = Ticket::from_word(ticket.word(lap));
    EXPECT_EQ(back.slot, ticket.slot);
    EXPECT_EQ(back.count, ticket.count);
    EXPECT_EQ(back.part, ticket.part);
    EXPECT_EQ(back.part_bits, ticket.part_bits);
    EXPECT_EQ(back.chain, ticket.chain);
    EXPECT_EQ(back.keyed, ticket.keyed);
    EXPECT_TRUE(Ticket::has_lap(ticket.word(lap), lap));
    EXPECT_FALSE(Ticket::has_lap(ticket.word(lap), lap + 1));
  }
}

TEST(Words, AZeroedRingIsEmpty) {
  const RingSize ring = ring_size(100);
  EXPECT_EQ(ring.entries(), 128u);
  for (std::uint32_t number = 0; number < 128; ++number) {
    EXPECT_FALSE(Submission::has_lap(0, ring.lap(number)));
    EXPECT_FALSE(Ticket::has_lap(0, ring.lap(number)));
  }
}

TEST(Words, AWordOfTheLastLapIsNoneOfThisOne) {
  const RingSize ring = ring_size(32);
  const Submission batch{.slot = 1, .count = 2, .chain = 3, .part_bits = 5};
  for (std::uint32_t number = 0; number < 1000; ++number) {
    const std::uint64_t word = batch.word(ring.lap(number));
    EXPECT_EQ(ring.place(number), ring.place(number + ring.entries()));
    EXPECT_FALSE(Submission::has_lap(word, ring.lap(number + ring.entries())));
  }
}

TEST(Words, PartsCoverTheBatch) {
  for (std::uint32_t count = 1; count <= kBatchCapacityMax; ++count) {
    for (const std::uint32_t bits : {kPartBitsMax, frame_part_bits(count, count, 264)}) {
      const std::uint32_t parts = parts_of(count, bits);
      EXPECT_LE(parts, kPartsMax);
      EXPECT_GE(parts << bits, count);
      EXPECT_LT((parts - 1) << bits, count);
    }
  }
}

TEST(Words, FramesGoInSmallPartsWhileBlocksAreIdleAndInLargeOnesUnderLoad) {
  constexpr std::uint32_t kBlocks = 264;
  EXPECT_EQ(frame_part_bits(1, 1, kBlocks), kFramePartBitsMin);
  EXPECT_EQ(frame_part_bits(64, 64, kBlocks), kFramePartBitsMin);
  EXPECT_EQ(frame_part_bits(65, 65, kBlocks), 2u) << "no more parts than a batch may have";
  EXPECT_EQ(frame_part_bits(256, 256, kBlocks), 3u);
  EXPECT_EQ(frame_part_bits(64, 4 * kBlocks - 1, kBlocks), 1u);
  EXPECT_EQ(frame_part_bits(64, 4 * kBlocks, kBlocks), 2u);
  EXPECT_EQ(frame_part_bits(64, 16 * kBlocks, kBlocks), 4u);
  EXPECT_EQ(frame_part_bits(64, 32 * kBlocks, kBlocks), 5u);
  EXPECT_EQ(frame_part_bits(64, 1'000'000, kBlocks), kPartBitsMax);
}

}  // namespace
}  // namespace millrace::resident
