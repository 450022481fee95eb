// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/flow_hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/unit/shared/base/packet_frames.hpp"
#include "tests/unit/shared/base/packet_oracle.hpp"

namespace millrace {
namespace {

std::uint32_t slow_hash(const Frame& frame) { return flow_hash(frame, parse_headers(frame)); }

TEST(FlowHash, IsCrc32cOfTheTwoEndsInOrder) {
  const Frame frame = FrameBuilder().ipv4(6, 20).tcp(5).build();
  const auto load = [&](std::size_t at, std::size_t bytes) {
    std::uint64_t value = 0;  // low byte first, as the instruction reads
    for (std::size_t i = bytes; i-- > 0;) {
      value = value << 8 | std::to_integer<std::uint64_t>(frame[at + i]);
    }
    return value;
  };
  const std::uint64_t one = load(26, 4) << 16 | load(34, 2);
  const std::uint64_t other = load(30, 4) << 16 | load(36, 2);
  const std::uint64_t high = std::max(one, other) | std::uint64_t{6} << 48;
  const std::uint32_t expected = oracle::crc32c(oracle::crc32c(~0u, std::min(one, other)), high);
  EXPECT_EQ(slow_hash(frame), expected);
  EXPECT_EQ(flow_hash_of(frame), expected);
}

TEST(FlowHash, IsTheSameInBothDirections) {
  std::mt19937 random(8);
  int changed = 0;
  for (int run = 0; run < 60000; ++run) {
    const Frame frame = random_frame(random);
    const PacketHeaders headers = oracle::parse(frame);
    const Frame back = reversed(frame, headers);
    changed += back != frame;
    ASSERT_EQ(slow_hash(frame), slow_hash(back)) << "run " << run;
    ASSERT_EQ(flow_hash_of(frame), flow_hash_of(back)) << "run " << run;
  }
  EXPECT_GT(changed, 50000);
}

TEST(FlowHash, FastAndSlowWayAgree) {
  std::mt19937 random(9);
  for (int run = 0; run < 200000; ++run) {
    const Frame frame = random_frame(random);
    ASSERT_EQ(flow_hash_of(frame), slow_hash(frame)) << "run " << run;
  }
}

TEST(FlowHash, KeepsAllFragmentsOfAPacketTogether) {
  const Frame first = FrameBuilder().ipv4(17, 16, 20, 0x2000).udp(8).text("12345678").build();
  const Frame later = FrameBuilder().ipv4(17, 8, 20, 0x0002).text("12345678").build();
  EXPECT_EQ(flow_hash_of(first), flow_hash_of(later));
  // The first fragment carries destination options, which the later one hides.
  const Frame first6 =
      FrameBuilder().ipv6(44, 8 + 8 + 8).fragment(60, 0, true).extension(17, 8).udp(0).build();
  const Frame later6 =
      FrameBuilder().ipv6(44, 8 + 8).fragment(60, 16, false).text("12345678").build();
  EXPECT_TRUE(parse_headers(first6).first_fragment);
  EXPECT_EQ(flow_hash_of(first6), flow_hash_of(later6));
}

TEST(FlowHash, TellsFlowsApartByPortAddressAndProtocol) {
  std::set<std::uint32_t> hashes;
  std::vector<int> lanes(8);
  for (unsigned flow = 0; flow < 4096; ++flow) {
    Frame frame = FrameBuilder().ipv4(17, 8).udp(0).build();
    frame[29] = std::byte(flow % 64);
    frame[35] = std::byte(flow / 64);
    hashes.insert(flow_hash_of(frame));
    ++lanes[flow_hash_of(frame) % lanes.size()];
  }
  EXPECT_GE(hashes.size(), 4090u);
  for (int flows : lanes) EXPECT_NEAR(flows, 512, 128);
  EXPECT_NE(flow_hash_of(FrameBuilder().ipv4(17, 24).udp(0).text(std::string(16, 0)).build()),
            flow_hash_of(FrameBuilder().ipv4(6, 24).udp(0).text(std::string(16, 0)).build()));
}

TEST(FlowHash, OfANonIpFrameIsByMacAddressesAndType) {
  Frame arp = FrameBuilder().type(0x0806).text(std::string(28, 'a')).build();
  const std::uint32_t hash = flow_hash_of(arp);
  arp[20] = std::byte{0x55};
  EXPECT_EQ(flow_hash_of(arp), hash);
  arp[0] = std::byte{0x66};
  EXPECT_NE(flow_hash_of(arp), hash);
}

}  // namespace
}  // namespace millrace
