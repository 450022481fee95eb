// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/reset_receiver.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "services/functions/stream/tcp_data.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/stream/tcp_frames.hpp"

namespace millrace {
namespace {

/// Nothing: it did not become one.
std::optional<Frame> reset_of(const Frame& frame, std::optional<std::uint32_t> expects = {}) {
  BatchArena arena(kBatchCapacityDefault);
  arena.add(frame);
  const PacketHeaders headers = parse_headers(arena.batch().bytes(0));
  const bool done = turn_into_reset(arena.batch(), 0, headers, expects);
  const auto bytes = arena.batch().bytes(0);
  const Frame now(bytes.begin(), bytes.end());
  EXPECT_TRUE(done || now == frame);
  return done ? std::optional(now) : std::nullopt;
}

/// As it comes out of the fixture, but for the window and the lengths' checksum of IP.
Frame plain_reset(std::uint32_t sequence, std::uint32_t acknowledgment) {
  Frame frame = segment(false, kRst | kAck, sequence, acknowledgment);
  const std::uint16_t checksum =
      updated_checksum(wire_bytes::u16(frame, kTcpAt + 16), wire_bytes::u16(frame, kTcpAt + 14), 0);
  wire_bytes::put16(frame, kTcpAt + 14, 0);
  wire_bytes::put16(frame, kTcpAt + 16, checksum);
  return frame;
}

TEST(ResetReceiver, ASegmentBecomesARst) {
  const auto made = reset_of(segment(false, kAck | kUrg, 700, 900, "what is not to arrive"));
  ASSERT_TRUE(made);
  const Frame expected = plain_reset(700, 900);
  ASSERT_EQ(made->size(), expected.size());
  EXPECT_TRUE(std::equal(made->begin() + kTcpAt, made->end(), expected.begin() + kTcpAt));
  const PacketHeaders headers = parse_headers(*made);
  EXPECT_EQ(headers.status, ParseStatus::kOk);
  EXPECT_EQ(headers.payload_end, made->size());
  EXPECT_TRUE(has_good_tcp_checksum(*made, headers));
}

TEST(ResetReceiver, TheReceiverTakesTheNumberThatItExpects) {
  const auto made = reset_of(segment(false, kAck, 700, 900, "data"), 650);
  ASSERT_TRUE(made);
  EXPECT_EQ(tcp_sequence(*made, parse_headers(*made)), 650u);
  EXPECT_TRUE(has_good_tcp_checksum(*made, parse_headers(*made)));
}

TEST(ResetReceiver, TheHeaderOfIpv4StaysRight) {
  Frame frame = segment(false, kAck, 700, 900, "data");
  const std::span<std::byte> ip = std::span(frame).subspan(14, 20);
  wire_bytes::put16(ip, 10, 0);
  wire_bytes::put16(ip, 10, internet_checksum(ip));
  const auto made = reset_of(frame);
  ASSERT_TRUE(made);
  EXPECT_EQ(internet_checksum(std::span(*made).subspan(14, 20)), 0u);
}

TEST(ResetReceiver, OverIpv6) {
  Frame frame = FrameBuilder().ipv6(6, 24).tcp(5, 40'000, 80).text("data").build();
  const auto made = reset_of(frame);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->size(), 74u);
  const PacketHeaders headers = parse_headers(*made);
  EXPECT_EQ(headers.payload_end, 74u);
  EXPECT_TRUE(has_good_tcp_checksum(*made, headers));
}

TEST(ResetReceiver, OtherPacketsStayAsTheyAre) {
  EXPECT_FALSE(reset_of(segment(false, kRst, 1, 1)));
  EXPECT_FALSE(reset_of(FrameBuilder().ipv4(17, 9).udp(1).text("a").build()));
  Frame cut = segment(false, kAck, 1, 1, "data");
  cut.pop_back();
  EXPECT_FALSE(reset_of(cut));
}

}  // namespace
}  // namespace millrace
