// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// State of a lane with a log, found dirty. Recovered twice, as in rescue_test.cpp.

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "tests/unit/shared/recovery/recovery_fixture.hpp"

namespace millrace {
namespace {

constexpr std::uint8_t kThird = 2;

std::string with_undo_log() {
  std::string text = test::kTwoPaths;
  return text.replace(text.find("type: state"), std::strlen("type: state"), "type: kept");
}

/// The function of the third stage has a log for two lines: all of its state.
class LaneStateTest : public test::RecoveryFixture {
 protected:
  LaneStateTest() : RecoveryFixture(with_undo_log().c_str()) {}
  LaneWindow& window(std::uint32_t lane) { return world_.segment.lane_window(kThird, 0, lane); }
  std::span<std::byte> state(std::uint32_t lane) {
    return world_.segment.lane_state(world_.plan, 2, lane);
  }
  LaneUndoLog log(std::uint32_t lane) { return world_.segment.lane_undo(world_.plan, 2, lane); }
  void dies_at(std::uint64_t sequence) {
    world_.make(
        {.lane = 2, .sequence = sequence, .owner = "deep.0", .state = {SlotKind::kWorked, kThird}});
    window(2).released = sequence - 1;
    window(2).dirty = 1;
    dies_and_is_recovered_twice("deep.0");
    EXPECT_EQ(window(2).released, sequence);
    EXPECT_EQ(window(2).dirty, 0u);
  }
};

TEST_F(LaneStateTest, WhatTheLostBatchHasChangedIsTakenBack) {
  state(2)[0] = std::byte{7};
  state(2)[95] = std::byte{8};
  log(2).begin(0, 9);
  log(2).keep(0, 96);
  state(2)[0] = state(2)[95] = std::byte{1};
  dies_at(9);
  EXPECT_EQ(state(2)[0], std::byte{7});
  EXPECT_EQ(state(2)[95], std::byte{8});
  EXPECT_EQ(totals().lane_states_discarded, 0u);
}

TEST_F(LaneStateTest, WhatTheBatchBeforeHasChangedStays) {
  log(2).begin(0, 8);
  log(2).keep(0, 96);
  state(2)[0] = std::byte{7};
  dies_at(9);
  EXPECT_EQ(state(2)[0], std::byte{7});
  EXPECT_EQ(totals().lane_states_discarded, 0u);
}

TEST_F(LaneStateTest, ABatchThatHasChangedMoreThanTheLogHoldsCostsTheState) {
  log(2).begin(0, 9);
  log(2).keep(0, 96);
  log(2).keep(0, 1);
  state(2)[0] = std::byte{7};
  dies_at(9);
  EXPECT_EQ(state(2)[0], std::byte{0});
  EXPECT_EQ(totals().lane_states_discarded, 1u);
}

}  // namespace
}  // namespace millrace
