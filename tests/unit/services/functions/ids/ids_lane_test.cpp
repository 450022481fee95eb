// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_lane.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/services/functions/lane_memory.hpp"
#include "tests/unit/services/functions/stream/tcp_frames.hpp"

namespace millrace {
namespace {

constexpr StreamRoom kRoom{.streams = 6, .memory_mb = 1};

TEST(IdsLane, KeepsAllBesideEachOther) {
  const LaneNeeds needs = IdsLane::needs_of(kRoom, {.settings = {}, .lanes = 2});
  LaneMemory memory(needs);
  memory.state.undo.begin(0, 1);
  const IdsLane lane(kRoom);
  EXPECT_FALSE(lane.laid_out(memory.state));
  auto tables = lane.tables_of(memory.state, {.lane = 0, .lane_count = 2});
  ASSERT_TRUE(tables);
  EXPECT_EQ(tables->streams.shape().streams, 3u);
  std::vector<FlowTuple> tuples;
  for (std::uint16_t port = 1; port <= 6; ++port) {
    const FlowTuple tuple{.source_port = port, .protocol = 6, .version = 4};
    EXPECT_EQ(tables->streams.begin(tuple) != nullptr, port <= 3);
    FlowRecord* const record = tables->records.begin(tuple);
    ASSERT_NE(record, nullptr);
    tables->records.change_flowbits(*record);
    record->flowbits[7] = port;
    tuples.push_back(tuple);
  }
  const Threshold limit{.kind = Threshold::Kind::kLimit, .by = TrackBy::kFlow, .seconds = 60};
  for (const FlowTuple& tuple : tuples) {
    EXPECT_EQ(tables->counts.count({1, 1, 0}, limit, tuple, 1), Counted::kCounts);
  }
  constexpr std::array<std::byte, 24> kFront{std::byte{0x45}}, kData{};
  const IpFragment fragment{.key = tuples[0], .more = true, .data = kData, .front = kFront};
  EXPECT_EQ(tables->fragments.add(fragment, {}), FragmentTable::Outcome::kWaits);
  const Frame inner = segment(false, kSyn, 1, 0);
  const PacketHeaders headers = parse_headers(inner);
  const FlowTuple inner_tuple = *flow_tuple_of(inner, headers);
  EXPECT_NE(tables->inner_flows.follow(inner, headers, inner_tuple, 1).tuple, nullptr);
  // Another worker finds it.
  auto again = IdsLane(kRoom).laid_out(memory.state);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->records.find(tuples[5])->flowbits[7], 6u);
  EXPECT_EQ(again->counts.count({1, 1, 0}, limit, tuples[0], 1), Counted::kBeyond);
  EXPECT_NE(again->streams.find(tuples[2]), nullptr);
  EXPECT_EQ(again->fragments.datagrams(), 1u);
  EXPECT_EQ(again->fragments.blocks(), 2u);
  EXPECT_EQ(again->inner_flows.count(), 1u);
  EXPECT_EQ(memory.state.undo.undo(0, 1), LaneUndoLog::Undone::kAll);
  EXPECT_FALSE(lane.laid_out(memory.state));
}

TEST(IdsLane, WithOtherRoomThereIsNone) {
  LaneMemory memory(IdsLane::needs_of(kRoom, {.settings = {}}));
  const IdsLane lane(kRoom);
  EXPECT_TRUE(lane.tables_of(memory.state, {}));
  EXPECT_FALSE(IdsLane({.streams = 7, .memory_mb = 1}).tables_of(memory.state, {}));
  EXPECT_FALSE(lane.tables_of({}, {}));
}

}  // namespace
}  // namespace millrace
