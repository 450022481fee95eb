// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/put_front.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "shared/layout/batch_arena.hpp"

namespace millrace {
namespace {

TEST(PutFront, ReplacesTheFirstBytesAndCutsThoseBehindTheEnd) {
  BatchArena arena{kBatchCapacityDefault};
  arena.add(std::vector<std::byte>(20, std::byte{1}));
  NewFront front{.count = 9, .replaces = 4, .end = 15};
  front.bytes.fill(std::byte{2});
  ASSERT_TRUE(put_front(arena.batch(), 0, front));
  std::vector<std::byte> expected(9, std::byte{2});
  expected.resize(9 + 11, std::byte{1});
  EXPECT_TRUE(std::ranges::equal(arena.batch().bytes(0), expected));
}

TEST(PutFront, RefusesWithoutRoom) {
  BatchArena arena{kBatchCapacityDefault};
  arena.add(std::vector<std::byte>(20, std::byte{1}));
  const Batch& batch = arena.batch();
  batch.offset[0] = 3;
  const NewFront front{.count = 9, .replaces = 4, .end = 20};
  EXPECT_FALSE(put_front(batch, 0, front));
}

}  // namespace
}  // namespace millrace
