// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/streams/streams_lane.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/lane_memory.hpp"

namespace millrace {
namespace {

LaneNeeds needs_of_streams(std::uint64_t streams, std::uint32_t lanes) {
  const Settings settings;
  return StreamsLane::needs_of(streams,
                               {.settings = settings, .lanes = lanes, .batch_capacity = 8});
}

TEST(StreamsLane, LaysItsShareOut) {
  const LaneMemory memory(needs_of_streams(10, 4));
  const StreamsLane lane(10);
  EXPECT_FALSE(lane.laid_out(memory.state));
  auto tables = lane.tables_of(memory.state, {.lane_count = 4});
  ASSERT_TRUE(tables);
  for (std::uint16_t i = 0; i < 3; ++i) {
    EXPECT_NE(tables->streams.begin({.source_port = i}), nullptr);
  }
  EXPECT_EQ(tables->streams.begin({.source_port = 3}), nullptr);
  const StreamsLane other_worker(10);
  ASSERT_TRUE(other_worker.laid_out(memory.state));
  EXPECT_NE(other_worker.laid_out(memory.state)->streams.find({.source_port = 2}), nullptr);
}

TEST(StreamsLane, AnotherLayoutIsNotTaken) {
  const LaneMemory memory(needs_of_streams(10, 4));
  EXPECT_FALSE(StreamsLane(100'000).tables_of(memory.state, {.lane_count = 4}));
  EXPECT_FALSE(StreamsLane(10).tables_of({}, {.lane_count = 4}));
  EXPECT_FALSE(StreamsLane(10).laid_out({}));
}

}  // namespace
}  // namespace millrace
