// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_key.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/services/functions/acl/acl_oracle.hpp"
#include "tests/unit/services/functions/acl/acl_random.hpp"

namespace millrace {
namespace {

/// Without what only conditions ask for.
bool equal(const AclKey& one, const AclKey& other) {
  return std::memcmp(&one, &other, offsetof(AclKey, vlan)) == 0;
}

void expect_conditions(const oracle::AclPacket& packet, const oracle::AclPacket& expected) {
  ASSERT_EQ(packet.vlan, expected.vlan);
  ASSERT_EQ(packet.dscp, expected.dscp);
  ASSERT_EQ(packet.fragment, expected.fragment);
  ASSERT_EQ(packet.later_fragment, expected.later_fragment);
  ASSERT_EQ(packet.icmp_type, expected.icmp_type);
  ASSERT_EQ(packet.icmp_code, expected.icmp_code);
}

TEST(AclKey, TheShortWayAndTheLongOneSayTheSameAsTheOracle) {
  std::mt19937 random(2);
  std::size_t with_ports = 0, without = 0, not_ip = 0, unreadable = 0, hidden = 0;
  for (int i = 0; i < 200'000; ++i) {
    const Frame frame = random_acl_frame(random);
    AclKey key{}, again{}, all{};
    std::uint32_t word = 77, word_again = 77, word_all = 77;
    const bool found = acl_key_of(frame, false, key, word);
    ASSERT_EQ(found, acl_key_of(frame, parse_headers(frame), again, word_again));
    ASSERT_EQ(found, acl_key_of(frame, true, all, word_all));
    const oracle::AclPacket expected = oracle::acl_packet(frame);
    ASSERT_EQ(found, expected.ip && !expected.hidden);
    if (!found) {
      ASSERT_EQ(word, word_again);
      ASSERT_EQ(key.version, 0);
      if (expected.ip) {
        ASSERT_EQ(word, kAclHidden);
        ++hidden;
        continue;
      }
      ASSERT_EQ(word, expected.ip_type ? kAclNoRule : kAclNotIp);
      (expected.ip_type ? unreadable : not_ip) += 1;
      continue;
    }
    ASSERT_TRUE(equal(key, again));
    ASSERT_EQ(std::memcmp(&all, &again, sizeof all), 0);
    expect_conditions(oracle::acl_packet(all), expected);
    if (HasFatalFailure()) return;
    const oracle::AclPacket packet = oracle::acl_packet(key);
    ASSERT_EQ(packet.source, expected.source);
    ASSERT_EQ(packet.destination, expected.destination);
    ASSERT_EQ(packet.protocol, expected.protocol);
    ASSERT_EQ(packet.flags, expected.flags);
    ASSERT_EQ(packet.has_ports, expected.has_ports);
    ASSERT_EQ(packet.source_port, expected.source_port);
    ASSERT_EQ(packet.destination_port, expected.destination_port);
    (packet.has_ports ? with_ports : without) += 1;
  }
  EXPECT_GT(with_ports, 50'000u);
  EXPECT_GT(without, 10'000u);
  EXPECT_GT(not_ip, 1'000u);
  EXPECT_GT(unreadable, 100u);
  EXPECT_GT(hidden, 5'000u);
}

bool is_hidden(const FrameBuilder& frame) {
  AclKey key{};
  std::uint32_t word = 0;
  return !acl_key_of(frame.build(), false, key, word) && word == kAclHidden;
}

TEST(AclKey, AFirstFragmentWithoutPortsOrFlagsIsHidden) {
  const auto ipv4 = [](unsigned protocol, unsigned bytes, unsigned offset = 0x2000) {
    return is_hidden(FrameBuilder().ipv4(protocol, bytes, 20, offset).padding(bytes));
  };
  EXPECT_TRUE(ipv4(6, 8));
  EXPECT_TRUE(ipv4(6, 15)) << "rounded down there are no flags";
  EXPECT_FALSE(ipv4(6, 16));
  EXPECT_TRUE(ipv4(17, 0));
  EXPECT_TRUE(ipv4(132, 7));
  EXPECT_FALSE(ipv4(17, 8));
  EXPECT_FALSE(ipv4(1, 0)) << "a protocol without ports";
  EXPECT_FALSE(ipv4(6, 8, 0)) << "no fragment: its receiver refuses it";
  const auto ipv6 = [](unsigned protocol, unsigned bytes) {
    return is_hidden(FrameBuilder().ipv6(44, 8 + bytes).fragment(protocol, 0, true).padding(bytes));
  };
  EXPECT_TRUE(ipv6(6, 8));
  EXPECT_FALSE(ipv6(6, 16));
  EXPECT_TRUE(ipv6(17, 0));
  EXPECT_FALSE(ipv6(17, 8));
  EXPECT_TRUE(
      is_hidden(FrameBuilder().ipv6(44, 24).fragment(44, 0, true).fragment(6, 0, false).padding(8)))
      << "the second fragment header takes nothing back";
}

TEST(AclKey, AFragmentOverTheFlagsOfTcpIsHidden) {
  const auto ipv4 = [](unsigned protocol, unsigned offset) {
    return is_hidden(FrameBuilder().ipv4(protocol, 16, 20, offset).padding(16));
  };
  EXPECT_TRUE(ipv4(6, 1));
  EXPECT_TRUE(ipv4(6, 0x2001));
  EXPECT_FALSE(ipv4(6, 2));
  EXPECT_FALSE(ipv4(17, 1));
  const auto ipv6 = [](unsigned protocol, unsigned offset_bytes) {
    return is_hidden(
        FrameBuilder().ipv6(44, 24).fragment(protocol, offset_bytes, false).padding(16));
  };
  EXPECT_TRUE(ipv6(6, 8));
  EXPECT_FALSE(ipv6(6, 16));
  EXPECT_FALSE(ipv6(17, 8));
}

TEST(AclKey, AChainThatCannotBeWalkedToItsEndIsHidden) {
  const auto chain = [](unsigned count) {
    FrameBuilder frame;
    frame.ipv6(60, 8 * count + 20);
    for (unsigned i = 1; i <= count; ++i) frame.extension(i == count ? 6 : 60, 8);
    return is_hidden(frame.tcp(5));
  };
  EXPECT_FALSE(chain(8));
  EXPECT_TRUE(chain(9));
  EXPECT_TRUE(is_hidden(FrameBuilder().ipv6(44, 16).fragment(60, 0, true).extension(6, 16)))
      << "the rest of the chain is in the next fragment";
}

TEST(AclKey, ALaterFragmentHasNoPorts) {
  const Frame first = FrameBuilder().ipv4(6, 20, 20, 0x2000).tcp(5, 1, 80).build();
  const Frame later = FrameBuilder().ipv4(6, 20, 20, 0x0003).tcp(5, 1, 80).build();
  AclKey key{};
  std::uint32_t word = 0;
  ASSERT_TRUE(acl_key_of(first, false, key, word));
  EXPECT_EQ(key.has_ports, 1);
  EXPECT_EQ(key.flags, 0x18);
  ASSERT_TRUE(acl_key_of(later, false, key, word));
  EXPECT_EQ(key.has_ports, 0);
  EXPECT_EQ(key.flags, 0);
  EXPECT_EQ(key.protocol, 6);
}

}  // namespace
}  // namespace millrace
