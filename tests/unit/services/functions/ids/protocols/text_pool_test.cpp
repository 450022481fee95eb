// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/text_pool.hpp"

#include <gtest/gtest.h>

#include "services/functions/ids/protocols/transaction.hpp"

namespace millrace {
namespace {

TEST(TextPool, RoomComesBackWithoutItsText) {
  TextPool pool;
  EXPECT_EQ(pool.take(), "");
  pool.give(std::string(5'000, 'x'));
  const std::string text = pool.take();
  EXPECT_EQ(text, "");
  EXPECT_GE(text.capacity(), 5'000u);
  EXPECT_LT(pool.take().capacity(), 5'000u);
}

TEST(TextPool, IsBounded) {
  TextPool pool;
  pool.give(std::string(TextPool::kTextBytesMax + 1, 'x'));
  pool.give("small");
  EXPECT_LT(pool.take().capacity(), TextPool::kTextBytesMin);
  for (std::size_t i = 0; i < 2 * TextPool::kTextsMax; ++i) pool.give(std::string(5'000, 'x'));
  std::size_t with_room = 0;
  while (pool.take().capacity() >= 5'000) ++with_room;
  EXPECT_EQ(with_room, TextPool::kTextsMax);
}

TEST(TextPool, ATransactionThatIsOverLeavesItsBodies) {
  TextPool pool;
  for (int round = 0; round < 3; ++round) {
    Transaction transaction(AppProtocol::kHttp, 0, &pool);
    transaction.append(1, RuleBuffer::kFileData, std::string(40'000, 'x'), 50'000);
    EXPECT_EQ(transaction.parts(1, RuleBuffer::kFileData)[0].bytes, std::string(40'000, 'x'));
    transaction.recycle();
  }
  EXPECT_GE(pool.take().capacity(), 40'000u);
  EXPECT_LT(pool.take().capacity(), 40'000u);
}

}  // namespace
}  // namespace millrace
