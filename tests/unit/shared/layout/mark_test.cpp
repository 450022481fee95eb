// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/layout/mark.hpp"

#include <gtest/gtest.h>

#include "shared/base/limits.hpp"

namespace millrace {
namespace {

TEST(Mark, KeepsEveryKindAndTheExtremesOfTheNumber) {
  for (const MarkKind kind :
       {MarkKind::kHand, MarkKind::kSlot, MarkKind::kRx, MarkKind::kTx, MarkKind::kHub}) {
    for (const std::uint32_t number : {0u, 1u, kSlotCountMax - 1, 0xffffffu}) {
      const Mark mark{kind, number};
      EXPECT_EQ(Mark::from_word(mark.word()), mark);
      EXPECT_NE(mark.word(), 0u) << "0 is memory that nobody has marked";
    }
  }
}

TEST(Mark, TheSameNumberOfAnotherKindIsAnotherMark) {
  EXPECT_NE((Mark{MarkKind::kHand, 5}.word()), (Mark{MarkKind::kSlot, 5}.word()));
}

}  // namespace
}  // namespace millrace
