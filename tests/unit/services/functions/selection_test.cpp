// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "shared/layout/batch_arena.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Selection, TakesPacketsThatPassInAscendingOrder) {
  BatchArena arena;
  for (int i = 0; i < 5; ++i) arena.add({});
  arena.batch().drop(1, Reason::kOverload);
  arena.batch().drop(4, Reason::kOverload);
  std::array<std::uint16_t, kBatchCapacityDefault> room{};
  EXPECT_THAT(select_packets(arena.batch(), 0, room).packets, ElementsAre(0, 2, 3));
}

TEST(Selection, WithAClassTakesOnlyPacketsThatHaveOneOfThem) {
  BatchArena arena;
  for (int i = 0; i < 4; ++i) arena.add({});
  const Batch batch = arena.batch();
  batch.classes[0] = 1;
  batch.classes[1] = 2;
  batch.classes[2] = 6;
  batch.classes[3] = 4;
  batch.drop(3, Reason::kOverload);
  std::array<std::uint16_t, kBatchCapacityDefault> room{};
  EXPECT_THAT(select_packets(batch, 6, room).packets, ElementsAre(1, 2));
  EXPECT_THAT(select_packets(batch, 8, room).packets, IsEmpty());
}

}  // namespace
}  // namespace millrace
