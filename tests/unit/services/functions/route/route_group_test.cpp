// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/services/functions/route/route_fixture.hpp"
#include "tests/unit/services/functions/route/route_packet.hpp"

namespace millrace {
namespace {

using Frame = std::vector<std::byte>;
constexpr std::uint64_t kSeed = 77;

std::uint32_t hash_of(const Frame& frame, std::uint64_t seed = kSeed) {
  return route_flow_hash(frame, seed);
}

/// A packet of IPv4 between these addresses and ports; what is no part of the flow is random.
Frame ipv4_packet(std::mt19937& random, std::uint8_t protocol, std::uint32_t source,
                  std::uint32_t ports, std::uint32_t fragment = 0) {
  FrameSpec spec{.source = source, .ttl = static_cast<std::uint8_t>(random() % 250 + 2)};
  spec.option_words = static_cast<std::uint8_t>(random() % 3);
  spec.payload = static_cast<std::uint16_t>(20 + random() % 100);
  Frame frame = make_frame(spec);
  for (std::size_t at = 34 + 4u * spec.option_words; at < frame.size(); ++at) {
    frame[at] = std::byte(random());
  }
  for (std::size_t at = 0; at < 12; ++at) frame[at] = std::byte(random());
  frame[15] = std::byte(random());
  put16(frame, 18, random() & 0xffff);
  put16(frame, 20, fragment);
  frame[23] = std::byte(protocol);
  const std::size_t behind = 34 + 4u * spec.option_words;
  if (fragment == 0) put32(frame, behind, ports);
  frame[behind + 12] = std::byte{0x50};  // of TCP: five words of header
  if (random() % 2 == 0) frame.resize(frame.size() + random() % 20);
  return frame;
}

/// Of IPv6, likewise.
Frame ipv6_packet(std::mt19937& random, std::uint8_t protocol, std::uint64_t source,
                  std::uint32_t ports, std::uint32_t label) {
  Ipv6FrameSpec spec{.source = {0x20010db8'00000000, source},
                     .hop_limit = static_cast<std::uint8_t>(random() % 250 + 2),
                     .next_header = protocol,
                     .payload = static_cast<std::uint16_t>(20 + random() % 100)};
  Frame frame = make_ipv6_frame(spec);
  for (std::size_t at = 54; at < frame.size(); ++at) frame[at] = std::byte(random());
  put32(frame, 14, 6u << 28 | (random() & 0xff) << 20 | label);
  put32(frame, 54, ports);
  frame[66] = std::byte{0x50};
  return frame;
}

/// The same with an extension header of 8 bytes between the header and the rest.
Frame with_extension(Frame frame, std::uint8_t type, std::uint32_t second_half = 0) {
  Frame extension(8);
  extension[0] = frame[20];
  put32(extension, 0, std::to_integer<std::uint32_t>(frame[20]) << 24 | (second_half & 0xffff));
  frame[20] = std::byte(type);
  frame.insert(frame.begin() + 54, extension.begin(), extension.end());
  put16(frame, 18, static_cast<std::uint32_t>(frame.size() - 54));
  return frame;
}

TEST(RouteGroup, AllPacketsOfAFlowHaveOneHashAndEachFlowItsOwn) {
  std::mt19937 random(3);
  std::set<std::uint32_t> hashes;
  for (std::uint32_t flow = 0; flow < 600; ++flow) {
    const auto protocol = static_cast<std::uint8_t>(flow % 2 == 0 ? 6 : 17);
    const std::uint32_t source = 0x0a010000 + flow / 3, ports = 4000u << 16 | flow;
    const std::uint32_t hash = hash_of(ipv4_packet(random, protocol, source, ports));
    for (int packet = 0; packet < 5; ++packet) {
      ASSERT_EQ(hash_of(ipv4_packet(random, protocol, source, ports)), hash);
    }
    hashes.insert(hash);
    const std::uint32_t label = random() & 0xfffff;
    const std::uint32_t hash6 = hash_of(ipv6_packet(random, protocol, flow, ports, label));
    for (int packet = 0; packet < 5; ++packet) {
      const Frame other = ipv6_packet(random, protocol, flow, ports, random() & 0xfffff);
      ASSERT_EQ(hash_of(other), hash6) << "ports tell the flow, not the label";
      ASSERT_EQ(hash_of(with_extension(other, 60)), hash6);
    }
    hashes.insert(hash6);
  }
  EXPECT_GT(hashes.size(), 1195u);
}

TEST(RouteGroup, FragmentsOfADatagramHaveOneHash) {
  std::mt19937 random(4);
  for (std::uint32_t flow = 0; flow < 100; ++flow) {
    const std::uint32_t source = 0x0a010000 + flow;
    const std::uint32_t first = hash_of(ipv4_packet(random, 17, source, 0, 0x2000));
    EXPECT_EQ(hash_of(ipv4_packet(random, 17, source, 0, 0x2000 | 185)), first);
    EXPECT_EQ(hash_of(ipv4_packet(random, 17, source, 0, 370)), first);
    const std::uint32_t label = random() & 0xfffff;
    const auto piece = [&](std::uint8_t protocol, std::uint32_t offset_and_more) {
      return with_extension(ipv6_packet(random, protocol, flow, 0, label), 44, offset_and_more);
    };
    const std::uint32_t first6 = hash_of(piece(17, 1));
    EXPECT_EQ(hash_of(piece(17, 185 << 3 | 1)), first6);
    EXPECT_EQ(hash_of(piece(60, 370 << 3)), first6) << "later ones may say another next header";
  }
}

TEST(RouteGroup, WithoutPortsTheFlowLabelTellsFlowsOfIpv6) {
  std::mt19937 random(5);
  for (const std::uint8_t protocol : {4, 41, 47, 50, 58}) {
    std::set<std::uint32_t> hashes;
    for (std::uint32_t label = 1; label <= 100; ++label) {
      const std::uint32_t hash = hash_of(ipv6_packet(random, protocol, 1, 0, label));
      ASSERT_EQ(hash_of(ipv6_packet(random, protocol, 1, random(), label)), hash);
      hashes.insert(hash);
    }
    EXPECT_EQ(hashes.size(), 100u);
  }
}

/// How many of `flows` each next hop gets, by the number of its last MAC byte.
std::map<int, int> shares(const BuiltRoutes& routes, int flows, std::uint64_t seed) {
  const RouteGroups groups(routes.table(), seed);
  const std::uint32_t group = routes.table().look_up(0x0a020007);
  std::map<int, int> counts;
  std::mt19937 random(6);
  for (int flow = 0; flow < flows; ++flow) {
    // As real ones: few addresses, ports in a row.
    const Frame frame = ipv4_packet(random, 17, 0x0a010000 + static_cast<std::uint32_t>(flow) % 50,
                                    static_cast<std::uint32_t>(40'000 + flow / 50) << 16 | 53);
    ++counts[routes.table().hops[groups.member_of(group, frame)].mac[5]];
  }
  return counts;
}

TEST(RouteGroup, FlowsAreSharedOutByWeight) {
  constexpr int kFlows = 100'000;
  std::string line = "10.2.0.0/16 ";
  int sum = 0;
  for (int member = 1; member <= 16; ++member) {
    line += std::string(member == 1 ? "" : ", ") + "wan 02:00:00:00:00:" +
            (member < 10 ? "0" + std::to_string(member) : std::to_string(member)) + " weight " +
            std::to_string(member);
    sum += member;
  }
  const BuiltRoutes routes(line + "\n");
  for (const std::uint64_t seed : {0ull, 1ull, 0xcbf29ce484222325ull}) {
    const std::map<int, int> counts = shares(routes, kFlows, seed);
    ASSERT_EQ(counts.size(), 16u);
    double chi_square = 0;
    for (const auto& [mac, count] : counts) {
      const int weight = mac / 16 * 10 + mac % 16;
      const double expected = 1.0 * kFlows * weight / sum;
      chi_square += (count - expected) * (count - expected) / expected;
    }
    EXPECT_LT(chi_square, 37.7) << "15 degrees of freedom: 1 in 1000 by chance; seed " << seed;
  }
}

TEST(RouteGroup, AHashFallsToTheMemberWhosePartOfTheWeightsItIs) {
  const BuiltRoutes routes(
      "10.2.0.0/16 wan 02:00:00:00:00:01 weight 7, wan 02:00:00:00:00:02 weight 1, "
      "wan 02:00:00:00:00:03 weight 256\n");
  const RouteGroups groups(routes.table(), kSeed);
  const std::uint32_t group = routes.table().look_up(0x0a020007);
  std::mt19937 random(7);
  for (int flow = 0; flow < 20'000; ++flow) {
    const Frame frame = ipv4_packet(random, 6, random(), random());
    std::vector<int> slots(7, 1);
    slots.push_back(2);
    slots.resize(264, 3);
    const std::size_t slot = std::uint64_t{hash_of(frame)} * slots.size() >> 32;
    ASSERT_EQ(routes.table().hops[groups.member_of(group, frame)].mac[5], slots[slot]);
  }
}

TEST(RouteGroup, TwoRoutersInARowShareFlowsOutIndependently) {
  std::vector<PlanPort> other = two_ports();
  other[0].addresses[0] = "10.1.0.2/24";
  const std::uint64_t one = route_flow_seed(two_ports()), two = route_flow_seed(other);
  ASSERT_NE(one, two);
  EXPECT_EQ(route_flow_seed(two_ports()), one);
  other = two_ports();
  other[1].mac = "02:00:00:00:00:0c";
  EXPECT_NE(route_flow_seed(other), one);
  std::mt19937 random(8);
  int counts[2][2] = {};
  for (std::uint32_t flow = 0; flow < 4000; ++flow) {
    const Frame frame = ipv4_packet(random, 17, 0x0a010000 + flow, 4000u << 16 | 53);
    ++counts[hash_of(frame, one) >> 31][hash_of(frame, two) >> 31];
  }
  for (const auto& row : counts) {
    for (const int count : row) EXPECT_NEAR(count, 1000, 150);
  }
}

TEST(RouteGroup, WhatIsNoGroupHasNoMember) {
  const BuiltRoutes routes("10.2.0.0/16 wan 02:00:00:00:00:01, lan 02:00:00:00:00:02\n");
  const RouteGroups groups(routes.table(), kSeed);
  const Frame frame = make_frame({});
  EXPECT_EQ(groups.member_of(kHopFirst, frame), RouteGroups::kNone);
  EXPECT_EQ(groups.member_of(static_cast<std::uint32_t>(routes.table().hops.size()), frame),
            RouteGroups::kNone);
  EXPECT_EQ(RouteGroups().member_of(kHopFirst + 2, frame), RouteGroups::kNone);
}

}  // namespace
}  // namespace millrace
