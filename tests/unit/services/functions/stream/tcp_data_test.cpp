// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/tcp_data.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/stream/tcp_frames.hpp"

namespace millrace {
namespace {

TEST(TcpData, ReadsASegment) {
  const Frame frame = segment(false, kAck, 0x01020304, 7, "data");
  const PacketHeaders headers = parse_headers(frame);
  EXPECT_EQ(tcp_sequence(frame, headers), 0x01020304u);
  EXPECT_EQ(tcp_data(frame, headers).size(), 4u);
  EXPECT_FALSE(is_tcp_syn(frame, headers));
  EXPECT_EQ(tcp_acknowledgment(frame, headers), 7u);
  const Frame syn = segment(false, kSyn, 1, 7);
  EXPECT_TRUE(is_tcp_syn(syn, headers));
  EXPECT_EQ(tcp_acknowledgment(syn, headers), std::nullopt);
  const Frame empty = segment(false, kAck, 1, 7);
  EXPECT_TRUE(tcp_data(empty, parse_headers(empty)).empty());
}

TEST(TcpData, AChecksumIsGoodOrNot) {
  Frame frame = segment(true, kAck, 1, 7, "odd");
  const PacketHeaders headers = parse_headers(frame);
  EXPECT_TRUE(has_good_tcp_checksum(frame, headers));
  frame.back() ^= std::byte{1};
  EXPECT_FALSE(has_good_tcp_checksum(frame, headers));
}

TEST(TcpData, AChecksumOverIpv6) {
  Frame frame = FrameBuilder().ipv6(6, 24).tcp(5).text("text").build();
  const PacketHeaders headers = parse_headers(frame);
  EXPECT_FALSE(has_good_tcp_checksum(frame, headers));
  const std::span<const std::byte> bytes(frame);
  const std::uint16_t pseudo = pseudo_sum(bytes.subspan<22, 16>(), bytes.subspan<38, 16>(), 6, 24);
  wire_bytes::put16(frame, 54 + 16, internet_checksum(bytes.subspan(54), pseudo));
  EXPECT_TRUE(has_good_tcp_checksum(frame, headers));
}

TEST(TcpData, UrgentDataBecomesPlain) {
  Frame frame = segment(false, kAck | kUrg, 1, 7, "data");
  const PacketHeaders headers = parse_headers(frame);
  EXPECT_TRUE(is_tcp_urgent(frame, headers));
  EXPECT_TRUE(clear_urgent(frame, headers));
  EXPECT_EQ(frame, segment(false, kAck, 1, 7, "data"));
  EXPECT_FALSE(is_tcp_urgent(frame, headers));
  EXPECT_FALSE(clear_urgent(frame, headers));
}

}  // namespace
}  // namespace millrace
