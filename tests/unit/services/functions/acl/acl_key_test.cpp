// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_key.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/services/functions/acl/acl_oracle.hpp"
#include "tests/unit/services/functions/acl/acl_random.hpp"

namespace millrace {
namespace {

bool equal(const AclKey& one, const AclKey& other) {
  return std::memcmp(&one, &other, sizeof one) == 0;
}

TEST(AclKey, TheShortWayAndTheLongOneSayTheSameAsTheOracle) {
  std::mt19937 random(2);
  std::size_t with_ports = 0, without = 0, not_ip = 0, unreadable = 0;
  for (int i = 0; i < 200'000; ++i) {
    const Frame frame = random_acl_frame(random);
    AclKey key{}, again{};
    std::uint32_t word = 77, word_again = 77;
    const bool found = acl_key_of(frame, key, word);
    ASSERT_EQ(found, acl_key_of(frame, parse_headers(frame), again, word_again));
    const oracle::AclPacket expected = oracle::acl_packet(frame);
    ASSERT_EQ(found, expected.ip);
    if (!found) {
      ASSERT_EQ(word, word_again);
      ASSERT_EQ(word, expected.ip_type ? kAclNoRule : kAclNotIp);
      (expected.ip_type ? unreadable : not_ip) += 1;
      continue;
    }
    ASSERT_TRUE(equal(key, again));
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
}

TEST(AclKey, ALaterFragmentHasNoPorts) {
  const Frame first = FrameBuilder().ipv4(6, 20, 20, 0x2000).tcp(5, 1, 80).build();
  const Frame later = FrameBuilder().ipv4(6, 20, 20, 0x0003).tcp(5, 1, 80).build();
  AclKey key{};
  std::uint32_t word = 0;
  ASSERT_TRUE(acl_key_of(first, key, word));
  EXPECT_EQ(key.has_ports, 1);
  EXPECT_EQ(key.flags, 0x18);
  ASSERT_TRUE(acl_key_of(later, key, word));
  EXPECT_EQ(key.has_ports, 0);
  EXPECT_EQ(key.flags, 0);
  EXPECT_EQ(key.protocol, 6);
}

}  // namespace
}  // namespace millrace
