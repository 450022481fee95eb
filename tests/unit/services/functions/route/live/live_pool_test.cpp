// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/live/live_pool.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

struct Grace final : ReaderGrace {
  std::uint64_t clock = 0, turn = 0;
  std::uint64_t now() override { return ++clock; }
  bool passed(std::uint64_t moment) override { return turn >= moment; }
};

TEST(LivePool, WhatIsRetiredIsFreeWhenEveryReaderHasBegunATurnSince) {
  LivePool pool(4);
  Grace grace;
  EXPECT_EQ(pool.take(), LivePool::kNone);
  pool.retire(2);
  pool.tend(grace);
  pool.tend(grace);
  EXPECT_EQ(pool.take(), LivePool::kNone);
  pool.retire(3);  // behind the moment of the first
  grace.turn = 1;
  pool.tend(grace);
  EXPECT_EQ(pool.free_count(), 1u);
  EXPECT_EQ(pool.waiting_count(), 1u);
  EXPECT_EQ(pool.take(), 2u);
  EXPECT_EQ(pool.take(), LivePool::kNone);
  grace.turn = 2;
  pool.tend(grace);
  EXPECT_EQ(pool.take(), 3u);
  EXPECT_EQ(pool.waiting_count(), 0u);
}

}  // namespace
}  // namespace millrace
