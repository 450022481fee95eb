// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/layout/batch.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "shared/layout/batch_arena.hpp"

namespace millrace {
namespace {

TEST(Batch, CountsWhatWasDroppedWhateverItsLength) {
  for (const std::uint32_t count : {0u, 1u, 7u, 8u, 9u, 15u, 16u, 17u, 64u}) {
    BatchArena arena;
    for (std::uint32_t i = 0; i < count; ++i) arena.add(std::vector<std::byte>(60));
    Batch batch = arena.batch();
    std::uint32_t dropped = 0;
    for (std::uint32_t i = 0; i < count; i += 3, ++dropped) batch.drop(i, Reason::kOverload);
    EXPECT_EQ(fates_in(batch).dropped, dropped) << count;
    if (count != 0) batch.drop(count - 1, Reason::kOverload);
    EXPECT_EQ(fates_in(batch).dropped, count == 0 ? 0 : dropped + (count % 3 == 1 ? 0 : 1))
        << count;
  }
}

}  // namespace
}  // namespace millrace
