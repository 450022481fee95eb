// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/layout/payload_hint.hpp"

#include <gtest/gtest.h>

#include "shared/layout/batch_arena.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kLiterals = 0x12345678;

TEST(PayloadHint, SaysOfEachPacketWhetherItIsClean) {
  const BatchArena arena(kBatchCapacityMax);
  SlotHeader& header = *arena.batch().header;
  begin_hint(header, kLiterals);
  for (std::uint32_t packet = 0; packet < kBatchCapacityMax; packet += 3) {
    hint_clean(header, packet);
  }
  for (std::uint32_t packet = 0; packet < kBatchCapacityMax; ++packet) {
    EXPECT_EQ(is_hinted_clean(header, packet, kLiterals), packet % 3 == 0) << packet;
    EXPECT_FALSE(is_hinted_clean(header, packet, kLiterals + 1));
  }
}

TEST(PayloadHint, SaysNothingWhereNoneHasBegunOrItHasEnded) {
  const BatchArena arena(kBatchCapacityMax);
  SlotHeader& header = *arena.batch().header;
  header.flags = kSlotCut;
  hint_clean(header, 7);
  EXPECT_FALSE(is_hinted_clean(header, 7, 0));
  begin_hint(header, kLiterals);
  EXPECT_FALSE(is_hinted_clean(header, 7, kLiterals));
  hint_clean(header, 7);
  EXPECT_TRUE(is_hinted_clean(header, 7, kLiterals));
  end_hint(header);
  EXPECT_FALSE(is_hinted_clean(header, 7, kLiterals));
  EXPECT_EQ(header.flags, kSlotCut);
}

}  // namespace
}  // namespace millrace
