// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/turn_clock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace millrace {
namespace {

TEST(TurnClock, LastIsWhatWasReadAndStaysUntilTheNextReading) {
  const std::uint64_t before = tsc_now();
  const std::uint64_t read = turn_clock::read();
  EXPECT_GT(read, before);
  EXPECT_EQ(turn_clock::last(), read);
  EXPECT_EQ(turn_clock::last(), read);
  EXPECT_GT(turn_clock::read(), read);
}

TEST(TurnClock, IsTheThreadsOwnAndReadsWhenAskedFirst) {
  const std::uint64_t ours = turn_clock::read();
  std::uint64_t theirs = 0;
  std::thread([&] { theirs = turn_clock::last(); }).join();
  EXPECT_GT(theirs, ours);
  EXPECT_EQ(turn_clock::last(), ours);
}

TEST(TurnClock, ATurnEndsWithItsLastReadingUnlessSomethingWasDoneBehindThat) {
  const std::uint64_t began = turn_clock::read();
  const std::uint64_t idle = turn_clock::end_turn(began);
  EXPECT_GT(idle, began);
  const std::uint64_t step = turn_clock::read();
  EXPECT_EQ(turn_clock::end_turn(idle), step);
  turn_clock::read();
  turn_clock::go_on();
  const std::uint64_t before = tsc_now();
  EXPECT_GT(turn_clock::end_turn(step), before);
}

}  // namespace
}  // namespace millrace
