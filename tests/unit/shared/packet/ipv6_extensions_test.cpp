// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/ipv6_extensions.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "tests/unit/shared/base/packet_frames.hpp"
#include "tests/unit/shared/base/packet_oracle.hpp"
#include "tests/unit/shared/packet/hex_bytes.hpp"
#include "tests/unit/shared/packet/ipv6_chains.hpp"

namespace millrace {
namespace {

void expect_problem(const Ipv6Problem& found, const Ipv6Problem& expected) {
  EXPECT_EQ(static_cast<int>(found.action), static_cast<int>(expected.action));
  EXPECT_EQ(found.code, expected.code);
  EXPECT_EQ(found.pointer, expected.pointer);
}

TEST(WalkExtensions, SaysWhatRoutersAndReceiversHaveToKnow) {
  for (const auto& [what, hex, expected] : ipv6_chains::kChains) {
    SCOPED_TRACE(what);
    const Ipv6Extensions found = walk_extensions(bytes_of_hex(hex));
    EXPECT_EQ(static_cast<int>(found.end), static_cast<int>(expected.end));
    EXPECT_EQ(found.upper_protocol, expected.upper_protocol);
    EXPECT_EQ(found.upper_offset, expected.upper_offset);
    EXPECT_EQ(found.upper_named_at, expected.upper_named_at);
    EXPECT_EQ(found.hop_by_hop, expected.hop_by_hop);
    EXPECT_EQ(found.router_alert, expected.router_alert);
    EXPECT_EQ(found.router_alert_value, expected.router_alert_value);
    EXPECT_EQ(found.fragment_at, expected.fragment_at);
    EXPECT_EQ(found.incomplete_chain, expected.incomplete_chain);
    expect_problem(found.router_problem, expected.router_problem);
    expect_problem(found.receiver_problem, expected.receiver_problem);
  }
}

TEST(WalkExtensions, LooksAtNoByteBehindThePayloadLength) {
  for (const auto& [what, hex, expected] : ipv6_chains::kChains) {
    std::vector<std::byte> packet = bytes_of_hex(hex);
    if (packet.size() < 40 || expected.end == Ipv6ChainEnd::kCut) continue;
    packet.resize(packet.size() + 64, std::byte{0xff});
    const Ipv6Extensions found = walk_extensions(packet);
    EXPECT_EQ(found.upper_offset, expected.upper_offset) << what;
    EXPECT_EQ(found.incomplete_chain, expected.incomplete_chain) << what;
  }
}

/// The oracle of parse_headers() knows the chain, not what is in its headers.
TEST(WalkExtensions, FindsTheUpperLayerWhereTheOracleDoes) {
  std::mt19937 random(21);
  int upper = 0, later = 0, cut = 0, too_long = 0;
  for (int run = 0; run < 100'000; ++run) {
    const Frame frame = random_frame(random);
    const PacketHeaders headers = oracle::parse(frame);
    if (headers.ip_version != 6) continue;
    const std::vector<std::byte> packet(frame.begin() + headers.network_offset, frame.end());
    const Ipv6Extensions found = walk_extensions(packet);
    switch (found.end) {
      case Ipv6ChainEnd::kUpper:
        ++upper;
        ASSERT_EQ(found.upper_protocol, headers.protocol) << run;
        ASSERT_EQ(found.upper_offset, headers.transport_offset - headers.network_offset) << run;
        ASSERT_EQ(found.upper_protocol, std::to_integer<int>(packet[found.upper_named_at])) << run;
        break;
      case Ipv6ChainEnd::kLaterFragment:
        ++later;
        ASSERT_TRUE(headers.fragment && !headers.first_fragment) << run;
        ASSERT_EQ(headers.transport_offset, 0) << run;
        break;
      case Ipv6ChainEnd::kCut:
      case Ipv6ChainEnd::kTooLong:
        ++(found.end == Ipv6ChainEnd::kCut ? cut : too_long);
        ASSERT_NE(headers.status, ParseStatus::kOk) << run;
        ASSERT_EQ(headers.transport_offset, 0) << run;
        ASSERT_EQ(found.upper_offset, 0) << run;
        break;
    }
    ASSERT_TRUE(!headers.fragment || found.fragment_at != 0) << run;
  }
  EXPECT_GT(upper, 10'000);
  EXPECT_GT(later, 1000);
  EXPECT_GT(cut, 500);
  EXPECT_GT(too_long, 100);
}

}  // namespace
}  // namespace millrace
