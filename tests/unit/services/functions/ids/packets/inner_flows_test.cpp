// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/packets/inner_flows.hpp"

#include <gtest/gtest.h>

#include "services/functions/stream/stream_table.hpp"
#include "tests/unit/services/functions/ids/packets/fragment_frames.hpp"
#include "tests/unit/services/functions/lane_memory.hpp"
#include "tests/unit/services/functions/stream/tcp_frames.hpp"

namespace millrace {
namespace {

class InnerFlowsTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kFlows = 4;

  InnerFlows::Followed follow(const Frame& frame) {
    const PacketHeaders headers = parse_headers(frame);
    return flows().follow(frame, headers, *flow_tuple_of(frame, headers), now_s_);
  }
  InnerFlows flows() { return {lane_.state, 0, kFlows, {1, 2}}; }

  LaneMemory lane_{{.state_bytes = InnerFlows::bytes_for(kFlows), .undo_lines = 1000}};
  std::uint32_t now_s_ = 1;
};

TEST_F(InnerFlowsTest, FollowAHandshake) {
  auto told = follow(segment(false, kSyn, 1000, 0));
  ASSERT_NE(told.tuple, nullptr);
  EXPECT_EQ(told.tuple->source_port, 40'000);
  EXPECT_EQ(told.tuple->zone, InnerFlows::kZone);
  EXPECT_EQ(told.flow.direction, 0);
  EXPECT_EQ(told.flow.state, FlowState::kNew);
  EXPECT_TRUE(told.flow.opens);
  told = follow(segment(true, kSyn | kAck, 5000, 1001));
  EXPECT_EQ(told.flow.direction, 1);
  EXPECT_EQ(told.flow.state, FlowState::kEstablished);
  EXPECT_EQ(told.flow.acknowledged[0], 1001u);
  EXPECT_FALSE(told.flow.is_picked_up);
  told = follow(segment(false, kAck, 1001, 5001, "data"));
  EXPECT_EQ(told.flow.direction, 0);
  EXPECT_EQ(told.flow.acknowledged[1], 5001u);
  told = follow(segment(true, kAck, 5001, 1005));
  EXPECT_EQ(told.flow.acknowledged[0], 1005u);
  told = follow(segment(true, kAck, 5001, 1003));  // one that comes late
  EXPECT_EQ(told.flow.acknowledged[0], 1005u);
  told = follow(segment(false, kSyn, 900, 0));  // another connection
  EXPECT_FALSE(told.flow.acknowledged[0] || told.flow.acknowledged[1]);
  told = follow(segment(true, kSyn | kAck, 7000, 901));
  EXPECT_EQ(told.flow.acknowledged[0], 901u);
  EXPECT_EQ(flows().count(), 1u);
}

TEST_F(InnerFlowsTest, TheSenderOfASynAckIsTheServer) {
  const auto told = follow(segment(true, kSyn | kAck, 5000, 1001));
  EXPECT_EQ(told.flow.direction, 1);
  EXPECT_EQ(told.tuple->destination_port, 80);
  EXPECT_TRUE(told.flow.is_picked_up);
}

/// What goes the other way takes another lane: nothing is acknowledged but by its age.
TEST_F(InnerFlowsTest, OfOneDirectionOldBytesCountAsAcknowledged) {
  follow(segment(false, kSyn, 1000, 0));
  auto told = follow(segment(false, kAck, 1001, 5001, "data"));
  EXPECT_TRUE(told.flow.is_picked_up);
  ASSERT_TRUE(told.flow.acknowledged[0]);
  EXPECT_LT(sequence_distance(1001, *told.flow.acknowledged[0]), 0);
  told = follow(segment(false, kAck, 1'001'001, 5001, "data"));
  EXPECT_GT(sequence_distance(1001, *told.flow.acknowledged[0]), 800'000);
  EXPECT_LT(*told.flow.acknowledged[0], 1'001'001u);
}

TEST_F(InnerFlowsTest, EndByTimeAndMakeRoom) {
  for (std::uint16_t port = 1; port <= kFlows; ++port) {
    EXPECT_NE(follow(segment(false, kSyn, 1, 0, {}, port)).tuple, nullptr);
  }
  EXPECT_EQ(follow(segment(false, kSyn, 1, 0, {}, 50)).tuple, nullptr);
  now_s_ += InnerFlows::kRoomTimeoutS;
  auto told = follow(segment(false, kAck, 1, 0, {}, 1));  // it is the newest now
  EXPECT_EQ(told.ended_count, 0u);
  told = follow(segment(false, kSyn, 1, 0, {}, 50));
  ASSERT_NE(told.tuple, nullptr);
  ASSERT_EQ(told.ended_count, 1u);
  EXPECT_EQ(told.ended[0].source_port, 2);
  now_s_ += InnerFlows::kTimeoutS;
  told = follow(segment(false, kSyn, 1, 0, {}, 50));
  ASSERT_EQ(told.ended_count, 1u);
  EXPECT_EQ(told.ended[0].source_port, 3);
}

TEST_F(InnerFlowsTest, DatagramsAreAnswered) {
  auto told = follow(udp_frame("question"));
  EXPECT_EQ(told.flow.state, FlowState::kNew);
  EXPECT_EQ(told.flow.direction, 0);
  const Frame question = udp_frame("question");
  told = follow(reversed(question, parse_headers(question)));
  EXPECT_EQ(told.flow.state, FlowState::kEstablished);
  EXPECT_EQ(told.flow.direction, 1);
}

}  // namespace
}  // namespace millrace
