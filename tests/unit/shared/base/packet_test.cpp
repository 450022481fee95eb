// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/packet.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/unit/shared/base/packet_frames.hpp"
#include "tests/unit/shared/base/packet_oracle.hpp"

namespace millrace {
namespace {

void expect_same(const PacketHeaders& found, const PacketHeaders& expected) {
  EXPECT_EQ(found.status, expected.status);
  EXPECT_EQ(found.vlan_tags, expected.vlan_tags);
  EXPECT_EQ(found.ip_version, expected.ip_version);
  EXPECT_EQ(found.protocol, expected.protocol);
  EXPECT_EQ(found.fragment, expected.fragment);
  EXPECT_EQ(found.first_fragment, expected.first_fragment);
  EXPECT_EQ(found.fragment_offset, expected.fragment_offset);
  EXPECT_EQ(found.ether_type, expected.ether_type);
  EXPECT_EQ(found.network_offset, expected.network_offset);
  EXPECT_EQ(found.transport_offset, expected.transport_offset);
  EXPECT_EQ(found.payload_offset, expected.payload_offset);
  EXPECT_EQ(found.payload_end, expected.payload_end);
}

TEST(ParseHeaders, FindsTcpBehindEthernetAndIpv4) {
  const Frame frame = FrameBuilder().ipv4(6, 20 + 5).tcp(5).text("hello").padding(9).build();
  const PacketHeaders headers = parse_headers(frame);
  EXPECT_EQ(headers.status, ParseStatus::kOk);
  EXPECT_EQ(headers.ether_type, 0x0800);
  EXPECT_EQ(headers.ip_version, 4);
  EXPECT_EQ(headers.protocol, 6);
  EXPECT_EQ(headers.network_offset, 14);
  EXPECT_EQ(headers.transport_offset, 34);
  EXPECT_EQ(headers.payload_offset, 54);
  EXPECT_EQ(headers.payload_end, 59) << "padding behind the IP length is no payload";
  EXPECT_FALSE(headers.fragment);
}

TEST(ParseHeaders, WalksTwoVlanTagsAndIpOptions) {
  const Frame frame =
      FrameBuilder().vlan(0x88a8).vlan(0x8100).ipv4(17, 8 + 2, 24).udp(2).text("ab").build();
  const PacketHeaders headers = parse_headers(frame);
  EXPECT_EQ(headers.vlan_tags, 2);
  EXPECT_EQ(headers.network_offset, 22);
  EXPECT_EQ(headers.transport_offset, 46);
  EXPECT_EQ(headers.payload_offset, 54);
  EXPECT_EQ(headers.payload_end, 56);
}

TEST(ParseHeaders, LeavesAThirdVlanTagAlone) {
  const Frame frame =
      FrameBuilder().vlan(0x8100).vlan(0x8100).vlan(0x8100).ipv4(17, 8).udp(0).build();
  const PacketHeaders headers = parse_headers(frame);
  EXPECT_EQ(headers.vlan_tags, 2);
  EXPECT_EQ(headers.ether_type, 0x8100);
  EXPECT_EQ(headers.ip_version, 0);
}

TEST(ParseHeaders, WalksIpv6ExtensionHeaders) {
  const Frame frame = FrameBuilder()
                          .ipv6(0, 8 + 16 + 8 + 3)
                          .extension(60, 8)
                          .extension(17, 16)
                          .udp(3)
                          .text("abc")
                          .build();
  const PacketHeaders headers = parse_headers(frame);
  EXPECT_EQ(headers.status, ParseStatus::kOk);
  EXPECT_EQ(headers.protocol, 17);
  EXPECT_EQ(headers.transport_offset, 14 + 40 + 24);
  EXPECT_EQ(headers.payload_offset, 14 + 40 + 24 + 8);
}

TEST(ParseHeaders, RefusesNineExtensionHeaders) {
  FrameBuilder builder;
  builder.ipv6(60, 9 * 8);
  for (int i = 0; i < 8; ++i) builder.extension(60, 8);
  const Frame eight_and_one = builder.extension(59, 8).build();
  EXPECT_EQ(parse_headers(eight_and_one).status, ParseStatus::kMalformed);
  EXPECT_EQ(parse_headers(eight_and_one).transport_offset, 0);
}

TEST(ParseHeaders, KnowsFirstAndLaterFragments) {
  const Frame first = FrameBuilder().ipv4(17, 16, 20, 0x2000).udp(8).text("12345678").build();
  EXPECT_TRUE(parse_headers(first).fragment);
  EXPECT_TRUE(parse_headers(first).first_fragment);
  EXPECT_EQ(parse_headers(first).payload_offset, 42);
  const Frame later = FrameBuilder().ipv4(17, 8, 20, 0x0002).text("12345678").build();
  EXPECT_TRUE(parse_headers(later).fragment);
  EXPECT_FALSE(parse_headers(later).first_fragment);
  EXPECT_EQ(parse_headers(later).transport_offset, 0);
  EXPECT_EQ(parse_headers(later).payload_offset, 34);
  EXPECT_EQ(parse_headers(later).fragment_offset, 2);
}

TEST(ParseHeaders, AFragmentStaysOneBehindTheFragmentHeaderOfAWholePacket) {
  const Frame frame =
      FrameBuilder().ipv6(44, 24).fragment(44, 0, true).fragment(6, 0, false).padding(8).build();
  EXPECT_TRUE(parse_headers(frame).fragment);
  EXPECT_TRUE(parse_headers(frame).first_fragment);
  EXPECT_EQ(parse_headers(frame).transport_offset, 14 + 40 + 16);
}

TEST(ParseHeaders, TellsCutFromMalformed) {
  const Frame whole = FrameBuilder().ipv4(6, 20 + 100).tcp(5).text(std::string(100, 'x')).build();
  const std::span<const std::byte> bytes = whole;
  EXPECT_EQ(parse_headers(bytes.first(80)).status, ParseStatus::kTruncated);
  EXPECT_EQ(parse_headers(bytes.first(80)).payload_offset, 54);
  EXPECT_EQ(parse_headers(bytes.first(40)).status, ParseStatus::kTruncated);
  EXPECT_EQ(parse_headers(bytes.first(40)).payload_offset, 0);
  EXPECT_EQ(parse_headers(bytes.first(0)).status, ParseStatus::kTruncated);
  const Frame short_tcp = FrameBuilder().ipv4(6, 20).tcp(4).build();
  EXPECT_EQ(parse_headers(short_tcp).status, ParseStatus::kMalformed);
  EXPECT_EQ(parse_headers(short_tcp).transport_offset, 34);
  const Frame short_ihl = FrameBuilder().ipv4(6, 20, 16).build();
  EXPECT_EQ(parse_headers(short_ihl).status, ParseStatus::kMalformed);
}

TEST(ParseHeaders, AgreesWithTheOracleOnMutatedFrames) {
  std::mt19937 random(7);
  std::map<ParseStatus, int> seen;
  int with_payload = 0;
  for (int run = 0; run < 60000; ++run) {
    const Frame frame = random_frame(random);
    const PacketHeaders found = parse_headers(frame);
    expect_same(found, oracle::parse(frame));
    if (HasFailure()) FAIL() << "run " << run;
    ++seen[found.status];
    with_payload += found.payload_offset != 0;
  }
  EXPECT_GT(seen[ParseStatus::kOk], 5000);
  EXPECT_GT(seen[ParseStatus::kTruncated], 5000);
  EXPECT_GT(seen[ParseStatus::kMalformed], 1000);
  EXPECT_GT(with_payload, 10000);
}

}  // namespace
}  // namespace millrace
