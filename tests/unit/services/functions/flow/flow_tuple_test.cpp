// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow_tuple.hpp"

#include <gtest/gtest.h>

#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace {
namespace {

std::optional<FlowTuple> tuple_of(const Frame& frame) {
  return flow_tuple_of(frame, parse_headers(frame));
}

/// An IPv4 packet of ICMP with this type, and an identifier of 0x0102.
Frame icmp(unsigned type) {
  Frame frame = FrameBuilder().ipv4(1, 8).padding(8).build();
  frame[34] = static_cast<std::byte>(type);
  frame[38] = std::byte{1};
  frame[39] = std::byte{2};
  return frame;
}

Frame turned(Frame frame) {
  std::swap_ranges(frame.begin() + 26, frame.begin() + 30, frame.begin() + 30);
  return frame;
}

TEST(FlowTuple, HasAddressesPortsAndProtocol) {
  const Frame frame = FrameBuilder().ipv4(6, 20).tcp(5, 40000, 80).build();
  const auto tuple = tuple_of(frame);
  ASSERT_TRUE(tuple);
  EXPECT_EQ(tuple->version, 4);
  EXPECT_EQ(tuple->protocol, 6);
  EXPECT_EQ(tuple->source_port, 40000);
  EXPECT_EQ(tuple->destination_port, 80);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(std::byte{tuple->source[i]}, frame[26 + i]);
    EXPECT_EQ(std::byte{tuple->destination[i]}, frame[30 + i]);
  }
  EXPECT_EQ(reversed(reversed(*tuple)), *tuple);
}

TEST(FlowTuple, AnAnswerOfIcmpIsTheQuestionReversed) {
  for (const auto& [asks, answers] : {std::pair(8, 0), {13, 14}, {15, 16}, {17, 18}}) {
    const auto question = tuple_of(icmp(static_cast<unsigned>(asks)));
    const auto answer = tuple_of(turned(icmp(static_cast<unsigned>(answers))));
    ASSERT_TRUE(question && answer) << asks;
    EXPECT_EQ(*answer, reversed(*question)) << asks;
    EXPECT_EQ(question->source_port, 0x0102);
  }
  EXPECT_NE(*tuple_of(icmp(8)), *tuple_of(icmp(13))) << "the same identifier, another question";
}

TEST(FlowTuple, ErrorsOfIcmpHaveNone) {
  for (const unsigned type : {3u, 4u, 5u, 9u, 11u, 12u, 42u}) {
    EXPECT_FALSE(tuple_of(icmp(type))) << type;
  }
}

TEST(FlowTuple, OtherProtocolsHaveAddressesAlone) {
  const auto tuple = tuple_of(FrameBuilder().ipv4(50, 32).padding(32).build());
  ASSERT_TRUE(tuple);
  EXPECT_EQ(tuple->source_port, 0);
  EXPECT_EQ(tuple->destination_port, 0);
  EXPECT_EQ(tuple->protocol, 50);
}

TEST(FlowTuple, WhatIsCutHasNone) {
  const Frame whole = FrameBuilder().ipv4(17, 8).padding(8).build();
  for (std::size_t bytes = 0; bytes < 38; ++bytes) {
    EXPECT_FALSE(tuple_of(Frame(whole.begin(), whole.begin() + static_cast<long>(bytes)))) << bytes;
  }
  EXPECT_FALSE(tuple_of(FrameBuilder().type(0x0806).padding(28).build()));
}

TEST(FlowTuple, ALaterFragmentHasNone) {
  Frame frame = FrameBuilder().ipv4(17, 32).padding(32).build();
  frame[21] = std::byte{4};  // offset 32
  EXPECT_FALSE(tuple_of(frame));
}

}  // namespace
}  // namespace millrace
