// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ingress/lane_choice.hpp"

#include <gtest/gtest.h>

#include <random>

#include "shared/packet/tick.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kInsidePort = 0, kOutsidePort = 1;
constexpr std::uint32_t kPool = 0xcb007101;  // 203.0.113.1

PlanPath path_of(LanesBy by, std::uint32_t lanes = 7) {
  PlanPath path{.lane_count = lanes, .lanes_by = by};
  path.translation = {.inside = {kInsidePort}, .pool = {{kPool, kPool + 1}}, .block = 64};
  return path;
}

/// IPv4 from `source` to `destination`; `behind` follows its header.
std::vector<std::byte> ipv4(std::uint32_t source, std::uint32_t destination, std::uint8_t protocol,
                            const std::vector<std::uint8_t>& behind, unsigned fragment = 0) {
  std::vector<std::uint8_t> bytes(12);
  const auto put = [&](std::uint64_t value, int count) {
    for (int i = count - 1; i >= 0; --i) bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  };
  put(0x08004500, 4);
  put(20 + behind.size(), 2);
  put(fragment, 4);
  put(0x40, 1);
  put(protocol, 1);
  put(0, 2);
  put(source, 4);
  put(destination, 4);
  bytes.insert(bytes.end(), behind.begin(), behind.end());
  std::vector<std::byte> frame(bytes.size());
  std::ranges::transform(bytes, frame.begin(), [](std::uint8_t byte) { return std::byte{byte}; });
  return frame;
}

std::vector<std::uint8_t> udp(std::uint16_t source, std::uint16_t destination) {
  return {static_cast<std::uint8_t>(source >> 8),
          static_cast<std::uint8_t>(source),
          static_cast<std::uint8_t>(destination >> 8),
          static_cast<std::uint8_t>(destination),
          0,
          8,
          0,
          0};
}

/// An ICMP "port unreachable" about `packet`, from its IP header on.
std::vector<std::byte> error_about(std::uint32_t source, std::uint32_t destination,
                                   const std::vector<std::byte>& packet) {
  std::vector<std::uint8_t> behind = {3, 3, 0, 0, 0, 0, 0, 0};
  for (std::size_t i = 14; i < packet.size(); ++i) {
    behind.push_back(std::to_integer<std::uint8_t>(packet[i]));
  }
  return ipv4(source, destination, 1, behind);
}

TEST(LaneChoice, WithoutOrderALaneHasEveryPacketUntilItsTurnIsOver) {
  PlanPath path = path_of(LanesBy::kFlow, 3);
  path.ordered = false;
  LaneChoice lanes(path, kInsidePort);
  EXPECT_TRUE(lanes.in_turn());
  EXPECT_FALSE(LaneChoice(path_of(LanesBy::kFlow), kInsidePort).in_turn());
  for (const std::uint32_t wanted : {0u, 1u, 2u, 0u}) {
    EXPECT_EQ(lanes.of({}), wanted);
    EXPECT_EQ(lanes.of(ipv4(1, 2, 17, udp(3, wanted))), wanted);
    lanes.next_turn();
  }
}

TEST(LaneChoice, ByFlowIsTheFlowHash) {
  std::mt19937 random(1);
  const LaneChoice lanes(path_of(LanesBy::kFlow), kInsidePort);
  for (int i = 0; i < 1000; ++i) {
    const auto frame = ipv4(static_cast<std::uint32_t>(random()),
                            static_cast<std::uint32_t>(random()), 17, udp(1, 2));
    const std::uint64_t hash = flow_hash(frame, parse_headers(frame));
    EXPECT_EQ(lanes.of(frame), hash * 7 >> 32);
  }
  EXPECT_EQ(LaneChoice(path_of(LanesBy::kAddresses, 1), 0).of({}), 0u);
}

TEST(LaneChoice, ByAddressesAllOfAFlowMeets) {
  const LaneChoice lanes(path_of(LanesBy::kAddresses), kInsidePort);
  std::mt19937 random(2);
  std::array<int, 7> used{};
  for (int i = 0; i < 1000; ++i) {
    const auto a = static_cast<std::uint32_t>(random()), b = static_cast<std::uint32_t>(random());
    const auto asks = ipv4(a, b, 17, udp(1000, 53));
    const std::uint32_t lane = lanes.of(asks);
    ++used.at(lane);
    EXPECT_EQ(lanes.of(ipv4(b, a, 17, udp(53, 1000))), lane);
    EXPECT_EQ(lanes.of(ipv4(a, b, 17, udp(1000, 53), 0x2000)), lane) << "first fragment";
    EXPECT_EQ(lanes.of(ipv4(a, b, 17, {1, 2, 3, 4}, 0x0010)), lane) << "later fragment";
    EXPECT_EQ(lanes.of(error_about(0x0a0a0a0a, a, asks)), lane) << "from a router between";
  }
  for (const int count : used) EXPECT_GT(count, 60);
}

/// IPv6 from a host of 2001:db8::/64, with UDP, whole or a later fragment.
std::vector<std::byte> ipv6_from(std::uint8_t host, std::uint16_t port, bool later = false) {
  FrameBuilder builder;
  builder.ipv6(later ? 44 : 17, later ? 16 : 8);
  if (later) builder.fragment(17, 64, false);
  Frame frame = builder.udp(0, port, 53).build();
  frame[14 + 8 + 15] = std::byte{host};
  return frame;
}

TEST(LaneChoice, ByTheInsideAddressAllOfAHostOfIpv6Meets) {
  const LaneChoice inside(path_of(LanesBy::kInside), kInsidePort);
  std::array<int, 7> used{};
  for (int host = 0; host < 250; ++host) {
    const auto byte = static_cast<std::uint8_t>(host);
    const std::uint32_t lane = inside.of(ipv6_from(byte, 1000));
    ++used.at(lane);
    EXPECT_EQ(inside.of(ipv6_from(byte, 2000)), lane);
    EXPECT_EQ(inside.of(ipv6_from(byte, 2000, true)), lane) << "later fragment";
  }
  for (const int count : used) EXPECT_GT(count, 10);
}

TEST(LaneChoice, ByTheInsideAddressBothSidesMeet) {
  const LaneChoice inside(path_of(LanesBy::kInside), kInsidePort);
  const LaneChoice outside(path_of(LanesBy::kInside), kOutsidePort);
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    const auto a = static_cast<std::uint32_t>(random());
    const auto far = static_cast<std::uint32_t>(random()) | 0xe0000000u;
    const std::uint32_t lane = inside.of(ipv4(a, far, 17, udp(1000, 53)));
    EXPECT_EQ(inside.of(ipv4(a, far + 1, 6, udp(9, 80))), lane) << "all of a host";
    EXPECT_EQ(outside.of(ipv4(far, a, 17, udp(53, 1000))), lane) << "not translated";
    // A port of the lane's own blocks.
    const auto port = static_cast<std::uint16_t>((lane + 7 * (i % 50) + 7) * 64 + i % 64);
    const auto sent = ipv4(kPool + 1, far, 17, udp(port, 53));
    EXPECT_EQ(outside.of(ipv4(far, kPool + 1, 17, udp(53, port))), lane);
    EXPECT_EQ(outside.of(error_about(far + 3, kPool + 1, sent)), lane);
    const std::vector<std::uint8_t> echo = {
        0, 0, 0, 0, static_cast<std::uint8_t>(port >> 8), static_cast<std::uint8_t>(port), 0, 1};
    EXPECT_EQ(outside.of(ipv4(far, kPool, 1, echo)), lane) << "the identifier is the port";
  }
}

TEST(LaneChoice, LaterFragmentsToThePoolFollowTheFirst) {
  const LaneChoice outside(path_of(LanesBy::kInside), kOutsidePort);
  for (std::uint16_t port = 1024; port < 3000; port += 64) {
    const std::uint32_t far = 0x08080800u + port;
    const std::uint32_t lane = port / 64 % 7;
    EXPECT_EQ(outside.of(ipv4(far, kPool, 17, udp(53, port), 0x2000)), lane);
    EXPECT_EQ(outside.of(ipv4(far, kPool, 17, {1, 2, 3, 4}, 0x2010)), lane);
    EXPECT_EQ(outside.of(ipv4(far, kPool, 17, {1, 2}, 0x0020)), lane);
  }
}

TEST(LaneChoice, FixedAddressesComeFirst) {
  PlanPath path = path_of(LanesBy::kInside);
  path.translation.fixed = {
      {.outside = kPool, .inside = 0x0a000002, .protocol = 6, .port = 80},
      {.outside = 0xc6336400, .inside = 0x0a000100, .count = 256},
  };
  const LaneChoice inside(path, kInsidePort), outside(path, kOutsidePort);
  const auto of_host = [&](std::uint32_t host) { return inside.of(ipv4(host, 1, 17, udp(1, 2))); };
  EXPECT_EQ(outside.of(ipv4(1, kPool, 6, udp(9, 80))), of_host(0x0a000002));
  EXPECT_EQ(outside.of(ipv4(1, kPool, 17, udp(9, 80))), 80u / 64 % 7) << "of the pool";
  EXPECT_EQ(outside.of(ipv4(1, 0xc6336407, 17, udp(9, 80))), of_host(0x0a000107));
}

TEST(LaneChoice, TicksGoToAllLanesInTurn) {
  const LaneChoice lanes(path_of(LanesBy::kAddresses), kInsidePort);
  std::vector<std::byte> frame(kTickFrameBytes);
  for (std::uint64_t number = 0; number < 20; ++number) {
    write_tick(frame, MacAddress{2}, {.number = number});
    EXPECT_EQ(lanes.of(frame), number % 7);
  }
}

TEST(LaneChoice, TakesFramesOfAnyContent) {
  std::mt19937 random(4);
  for (const LanesBy by : {LanesBy::kFlow, LanesBy::kAddresses, LanesBy::kInside}) {
    for (const std::uint32_t port : {kInsidePort, kOutsidePort}) {
      const LaneChoice lanes(path_of(by), port);
      for (int i = 0; i < 20'000; ++i) EXPECT_LT(lanes.of(random_frame(random)), 7u);
    }
  }
}

}  // namespace
}  // namespace millrace
