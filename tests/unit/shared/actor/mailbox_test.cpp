// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/actor/mailbox.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <thread>

namespace millrace {
namespace {

TEST(Mailbox, IsEmptyAtFirst) {
  Mailbox<int, 4> box;
  int value = 7;
  EXPECT_FALSE(box.take(value));
  EXPECT_EQ(value, 7);
}

TEST(Mailbox, GivesBackInOrderAndTellsWhenFull) {
  Mailbox<int, 4> box;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(box.post(10 * round + i));
    EXPECT_FALSE(box.post(99));
    int value = 0;
    for (int i = 0; i < 4; ++i) {
      EXPECT_TRUE(box.take(value));
      EXPECT_EQ(value, 10 * round + i);
    }
    EXPECT_FALSE(box.take(value));
  }
}

TEST(Mailbox, LosesAndDuplicatesNothingBetweenTwoThreads) {
  struct Pair {
    std::uint64_t number, square;
  };
  constexpr std::uint64_t kCount = 200000;
  const auto box = std::make_unique<Mailbox<Pair, 8>>();
  std::thread poster([&] {
    for (std::uint64_t i = 0; i < kCount;) {
      if (box->post({i, i * i})) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::uint64_t expected = 0;
  while (expected < kCount) {
    Pair pair{};
    if (!box->take(pair)) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(pair.number, expected);
    ASSERT_EQ(pair.square, expected * expected);
    ++expected;
  }
  poster.join();
}

}  // namespace
}  // namespace millrace
