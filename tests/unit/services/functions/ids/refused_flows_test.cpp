// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/refused_flows.hpp"

#include <gtest/gtest.h>

#include "shared/base/ip_protocol.hpp"
#include "tests/unit/services/functions/ids/ids_stage.hpp"
#include "tests/unit/services/functions/lane_memory.hpp"

namespace millrace {
namespace {

FlowTuple flow_of(std::uint16_t port) {
  FlowTuple tuple{
      .source_port = port, .destination_port = 80, .protocol = ip_protocol::kTcp, .version = 4};
  tuple.source[0] = 10;
  tuple.destination[0] = 9;
  return tuple;
}

TEST(RefusedFlows, AreKnownForSomeTimeByEitherDirection) {
  LaneMemory lane{{.state_bytes = RefusedFlows::bytes(), .undo_lines = 10'000}};
  RefusedFlows flows(lane.state, 0, {1, 2});
  lane.state.undo.begin(0, 1);
  for (std::uint16_t port = 1; port <= RefusedFlows::kEntries; ++port) flows.add(flow_of(port), 7);
  EXPECT_TRUE(flows.has(flow_of(1), 7 + RefusedFlows::kSeconds - 1));
  EXPECT_FALSE(flows.has(flow_of(1), 7 + RefusedFlows::kSeconds));
  EXPECT_TRUE(flows.has(reversed(flow_of(5)), 8));
  EXPECT_FALSE(flows.has(flow_of(2000), 8));
  flows.add(reversed(flow_of(1)), 8);
  flows.add(flow_of(2000), 8);  // in place of the oldest one
  EXPECT_TRUE(flows.has(flow_of(1), 8) && flows.has(flow_of(2000), 8));
  EXPECT_FALSE(flows.has(flow_of(2), 8));
}

/// `flow` picks up what goes on, and has picked up what a start of the box has interrupted.
class RefusedFlowsInIds : public IdsStage {};

TEST_F(RefusedFlowsInIds, WhatARuleHasDroppedDoesNotGoOnWhenItsFlowHasEnded) {
  use("drop tcp any any -> any 80 (content:\"forbidden\"; sid:1;)\n");
  open();
  EXPECT_EQ(client("forbidden"), kByRule);
  now_s_ += 300;
  const Frame nothing = FrameBuilder().type(0x88b5).build();
  for (int i = 0; i < 50; ++i) send(nothing);  // `flow` looks at some of its flows with each
  EXPECT_EQ(send(segment(false, kAck, first_ + 1, kServer + 1, "idden")), kByRule);
  now_s_ += 30;
  EXPECT_EQ(send(segment(true, kAck, kServer + 1, first_ + 1, "answer")), kByRule);
  EXPECT_EQ(hits(0), 1u);
  EXPECT_EQ(client("other", 40'001), kPasses);  // picked up
  EXPECT_EQ(hits(IdsCounter::kDroppedFlow), 2u);
  first_ += 7777;
  open();  // another one with the same ends
  EXPECT_EQ(client("other"), kPasses);
}

}  // namespace
}  // namespace millrace
