// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/packets/carried_packet.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/packets/fragment_frames.hpp"
#include "tests/unit/services/functions/ids/packets/tunnel_frames.hpp"

namespace millrace {
namespace {

/// The payload of UDP in what the frame carries, one step inwards; or why there is none.
std::string carried_text(const Frame& frame) {
  const auto carried = carried_packet(frame, parse_headers(frame));
  if (!carried) return "nothing";
  const PacketHeaders& headers = carried->headers;
  if (headers.protocol != 17 || headers.payload_offset == 0) return "no UDP";
  const auto payload = carried->frame.subspan(
      headers.payload_offset, std::size_t{headers.payload_end} - headers.payload_offset);
  return {reinterpret_cast<const char*>(payload.data()), payload.size()};
}

class CarriedPacketTest : public testing::TestWithParam<std::tuple<Tunnel, bool, bool>> {};

TEST_P(CarriedPacketTest, IsFound) {
  const auto& [tunnel, outer_ipv6, inner_ipv6] = GetParam();
  const Frame inner = udp_frame("carried", inner_ipv6);
  EXPECT_EQ(carried_text(in_tunnel(inner, tunnel, outer_ipv6)),
            is_carried_by(tunnel, inner_ipv6) ? "carried" : "nothing");
}

INSTANTIATE_TEST_SUITE_P(AllTunnels, CarriedPacketTest,
                         testing::Combine(testing::ValuesIn(kTunnels), testing::Bool(),
                                          testing::Bool()));

TEST(CarriedPacket, StaysWithinTheFrame) {
  const Frame inner = udp_frame("carried");
  for (const Tunnel tunnel : kTunnels) {
    const Frame frame = in_tunnel(inner, tunnel, false);
    for (std::size_t bytes = 0; bytes < frame.size(); ++bytes) {
      const Frame cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes));
      const auto carried = carried_packet(cut, parse_headers(cut));
      if (!carried) continue;
      EXPECT_GE(carried->frame.data(), cut.data());
      EXPECT_LE(carried->frame.data() + carried->frame.size(), cut.data() + cut.size());
      EXPECT_LE(carried->headers.payload_end, carried->frame.size());
    }
  }
}

TEST(CarriedPacket, PlainPacketsCarryNone) {
  EXPECT_EQ(carried_text(udp_frame("text")), "nothing");
  EXPECT_EQ(carried_text(FrameBuilder().ipv4(6, 20).tcp(5).build()), "nothing");
  EXPECT_EQ(carried_text(FrameBuilder().type(0x0806).padding(46).build()), "nothing");
  EXPECT_EQ(carried_text({}), "nothing");
}

TEST(CarriedPacket, IsOfTheVersionThatItsOuterHeaderSays) {
  Frame frame = in_tunnel(udp_frame("carried"), Tunnel::kIp, false);
  frame[kIpv4HeaderEnd] = std::byte{0x65};
  EXPECT_EQ(carried_text(frame), "nothing");
}

}  // namespace
}  // namespace millrace
