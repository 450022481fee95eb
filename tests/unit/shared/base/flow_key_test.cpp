// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/flow_key.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/shared/base/packet_frames.hpp"
#include "tests/unit/shared/base/packet_oracle.hpp"

namespace millrace {
namespace {

std::uint32_t at(const Frame& frame, std::size_t offset, std::size_t bytes) {
  std::uint32_t value = 0;  // the first byte is the lowest
  for (std::size_t i = bytes; i-- > 0;) {
    value = value << 8 | std::to_integer<std::uint32_t>(frame[offset + i]);
  }
  return value;
}

/// By the walk over all headers: what the key says is so, and it is silent only where it may be.
TEST(FlowKey, SaysWhatTheHeadersSayOrNothing) {
  std::mt19937 random(4);
  int said[3] = {}, silent = 0;
  for (int run = 0; run < 200'000; ++run) {
    const Frame frame = random_frame(random);
    const PacketHeaders headers = oracle::parse(frame);
    const FlowKey key = flow_key_of(frame);
    const bool ports = headers.protocol == 6 || headers.protocol == 17;
    const std::size_t tags = headers.vlan_tags * 4u;
    const std::size_t ports_at = 34 + tags;
    const bool usual = headers.ip_version == 4 && headers.network_offset == 14 + tags &&
                       headers.transport_offset == ports_at && !headers.fragment && ports &&
                       headers.payload_end >= ports_at + (headers.protocol == 6 ? 20 : 8) &&
                       frame.size() >= tags + kFlowKeyBytes;
    if (key.protocol == 0) {
      ++silent;
      // Headers that are said to be longer than they are may go the long way.
      ASSERT_TRUE(!usual || headers.status != ParseStatus::kOk) << "run " << run;
      continue;
    }
    ++said[headers.vlan_tags];
    ASSERT_EQ(headers.ip_version, 4) << "run " << run;
    ASSERT_EQ(headers.network_offset, 14 + tags) << "run " << run;
    ASSERT_EQ(headers.transport_offset, ports_at) << "run " << run;
    ASSERT_FALSE(headers.fragment) << "run " << run;
    ASSERT_EQ(key.protocol, headers.protocol) << "run " << run;
    ASSERT_EQ(key.source, at(frame, tags + 26, 4)) << "run " << run;
    ASSERT_EQ(key.destination, at(frame, tags + 30, 4)) << "run " << run;
    ASSERT_EQ(key.source_port, at(frame, ports_at, 2)) << "run " << run;
    ASSERT_EQ(key.destination_port, at(frame, ports_at + 2, 2)) << "run " << run;
    ASSERT_EQ(key.tcp_flags, key.protocol == 6 ? at(frame, ports_at + 13, 1) : 0) << "run " << run;
  }
  for (const int times : said) EXPECT_GT(times, 500);
  EXPECT_GT(silent, 10'000);
}

TEST(FlowKey, SaysNothingOfWhatIsNotTheUsualFrame) {
  const std::string text(40, 'x');
  EXPECT_EQ(flow_key_of(FrameBuilder().ipv4(6, 60).tcp(5).text(text).build()).protocol, 6);
  EXPECT_EQ(flow_key_of(FrameBuilder().ipv4(17, 48).udp(40).text(text).build()).protocol, 17);
  EXPECT_EQ(flow_key_of(FrameBuilder().ipv4(1, 40).text(text).build()).protocol, 0);
  EXPECT_EQ(flow_key_of(FrameBuilder().ipv4(6, 60, 24).text(text + text).build()).protocol, 0);
  EXPECT_EQ(
      flow_key_of(FrameBuilder().ipv4(17, 48, 20, 0x2000).udp(40).text(text).build()).protocol, 0);
  EXPECT_EQ(flow_key_of(Frame(60)).protocol, 0);
  EXPECT_EQ(flow_key_of(Frame()).protocol, 0);
}

}  // namespace
}  // namespace millrace
