// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/stream_lane.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/stream/stream_memory.hpp"

namespace millrace {
namespace {

constexpr StreamRoom kRoom{.streams = 10, .memory_mb = 1};

LaneNeeds needs_of(const StreamRoom& room, std::uint32_t lanes) {
  const Settings settings;
  return StreamLane::needs_of(room, {.settings = settings, .lanes = lanes, .batch_capacity = 8},
                              10);
}

TEST(StreamLane, LaysItsShareOut) {
  const LaneNeeds needs = needs_of(kRoom, 4);
  const LaneMemory memory(needs);
  const LaneState& state = memory.state;
  const StreamLane lane(kRoom);
  EXPECT_FALSE(lane.laid_out(state));
  std::optional<StreamTable> table = lane.table_of(state, {.lane_count = 4});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->all_blocks(), 256u);
  for (std::uint16_t i = 0; i < 3; ++i) EXPECT_NE(table->begin(tuple_number(i)), nullptr);
  EXPECT_EQ(table->begin(tuple_number(3)), nullptr);
  const StreamLane other_worker(kRoom);
  ASSERT_TRUE(other_worker.laid_out(state));
  EXPECT_NE(other_worker.laid_out(state)->find(tuple_number(2)), nullptr);
}

TEST(StreamLane, AnotherLayoutIsNotTaken) {
  const LaneNeeds needs = needs_of(kRoom, 4);
  const LaneMemory memory(needs);
  const LaneState& state = memory.state;
  EXPECT_FALSE(StreamLane({.streams = 100, .memory_mb = 1}).table_of(state, {.lane_count = 4}));
  ASSERT_TRUE(StreamLane(kRoom).table_of(state, {.lane_count = 4}));
  EXPECT_FALSE(StreamLane({.streams = 100, .memory_mb = 1}).table_of(state, {.lane_count = 4}));
  EXPECT_FALSE(StreamLane(kRoom).table_of({}, {.lane_count = 4}));
}

}  // namespace
}  // namespace millrace
