// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/layout/lane_undo_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "shared/layout/mapping.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kLines = 6;        ///< of the log
constexpr std::size_t kStateBytes = 1000;  ///< the last line is a part of one

/// A state with its log behind it, as in the segment, and a copy of the state.
struct Lane {
  Lane() { std::ranges::fill(state, std::byte{0xaa}); }

  Mapping memory = Mapping::create_anonymous(1024 + LaneUndoLog::bytes_for(kLines));
  std::span<std::byte> state{memory.base(), kStateBytes};
  LaneUndoLog log{{memory.base() + 1024, LaneUndoLog::bytes_for(kLines)}, kLines, state};

  std::vector<std::byte> copy() const { return {state.begin(), state.end()}; }
  void change(std::size_t at, std::size_t bytes, int value) const {
    if (bytes != 0 && at / 64 == (at + bytes - 1) / 64) {
      log.keep_line_of(at);
    } else {
      log.keep(at, bytes);
    }
    std::fill_n(state.begin() + static_cast<std::ptrdiff_t>(at), bytes, std::byte(value));
  }
};

using Undone = LaneUndoLog::Undone;

TEST(LaneUndoLog, TakesBackWhatABatchHasChanged) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    const Lane lane;
    for (std::uint64_t batch = 1; batch < 4; ++batch) {
      lane.log.begin(2, batch);
      const std::vector<std::byte> before = lane.copy();
      const auto changes = random() % 4;
      for (std::uint32_t i = 0; i < changes; ++i) {
        const std::size_t bytes = random() % 65;  // of two lines at most
        lane.change(random() % (kStateBytes - bytes), bytes, static_cast<int>(random()));
      }
      if (batch % 2 != 0) continue;  // it stays
      ASSERT_EQ(lane.log.undo(2, batch), Undone::kAll);
      ASSERT_EQ(lane.copy(), before);
      ASSERT_EQ(lane.log.undo(2, batch), Undone::kAll) << "recovery itself died";
      ASSERT_EQ(lane.copy(), before);
    }
  }
}

TEST(LaneUndoLog, OfAnotherBatchNothingIsTakenBack) {
  const Lane lane;
  lane.log.begin(2, 7);
  lane.change(0, 64, 1);
  const std::vector<std::byte> after = lane.copy();
  EXPECT_EQ(lane.log.undo(2, 8), Undone::kAll);
  EXPECT_EQ(lane.log.undo(3, 7), Undone::kAll);
  EXPECT_EQ(lane.copy(), after);
}

TEST(LaneUndoLog, WhatItCannotHoldIsSaid) {
  const Lane lane;
  lane.log.begin(0, 1);
  for (std::uint32_t i = 0; i < kLines; ++i) lane.change(0, 1, 1);
  EXPECT_EQ(lane.log.undo(0, 1), Undone::kAll);
  lane.change(0, 1, 1);
  EXPECT_EQ(lane.log.undo(0, 1), Undone::kTooMuch);
  lane.log.begin(0, 2);
  EXPECT_EQ(lane.log.undo(0, 2), Undone::kAll) << "the next batch has all room again";
  EXPECT_EQ(LaneUndoLog().undo(0, 1), Undone::kTooMuch);
}

TEST(LaneUndoLog, EachBatchHasAnotherNumber) {
  const Lane lane;
  EXPECT_EQ(lane.log.batch(), 0u);
  lane.log.begin(0, 1);
  const std::uint64_t first = lane.log.batch();
  lane.change(0, 1, 1);
  EXPECT_EQ(lane.log.batch(), first);
  lane.log.begin(1, 1);
  EXPECT_NE(lane.log.batch(), first);
  EXPECT_EQ(LaneUndoLog().batch(), 0u);
}

TEST(LaneUndoLog, NumbersOutsideTheStateAreRefused) {
  const Lane lane;
  lane.log.begin(0, 1);
  lane.change(0, 1, 1);
  const std::vector<std::byte> after = lane.copy();
  const std::uint32_t outside = 16;  // lines
  std::memcpy(lane.memory.base() + 1024 + kCacheLine, &outside, sizeof outside);
  EXPECT_EQ(lane.log.undo(0, 1), Undone::kTooMuch);
  EXPECT_EQ(lane.copy(), after);
}

}  // namespace
}  // namespace millrace
