// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/layout/all_pass.hpp"

#include <gtest/gtest.h>

#include <array>

#include "shared/layout/batch_arena.hpp"

namespace millrace {
namespace {

TEST(AllPass, OnePacketThatDoesNotIsFoundWhereverItIs) {
  for (const std::uint32_t count : {1u, 7u, 8u, 9u, 31u, 32u, 33u, 63u, 64u, 70u, 256u}) {
    BatchArena arena(kBatchCapacityMax);
    for (std::uint32_t i = 0; i < count; ++i) arena.add(std::array<std::byte, 14>{});
    const Batch batch = arena.batch();
    EXPECT_TRUE(all_pass(batch)) << count;
    for (std::uint32_t i = 0; i < count; ++i) {
      batch.drop(i, Reason::kOverload);
      EXPECT_FALSE(all_pass(batch)) << i << " of " << count;
      EXPECT_EQ(fates_of(batch).dropped, 1u) << i << " of " << count;
      batch.verdict[i] = static_cast<std::uint8_t>(Verdict::kPass);
    }
    EXPECT_EQ(fates_of(batch).gone, 0u) << count;
  }
}

TEST(AllPass, OfNoPacketAllPass) {
  BatchArena arena;
  EXPECT_TRUE(all_pass(arena.batch()));
}

}  // namespace
}  // namespace millrace
