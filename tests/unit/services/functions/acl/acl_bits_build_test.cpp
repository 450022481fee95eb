// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_bits_build.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/functions/acl/acl_text.hpp"
#include "tests/unit/services/functions/acl/acl_traces.hpp"

// Whole look-ups: acl_search_test.cpp.

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

AclBitsSet build(const std::string& text) {
  const auto file = parse_acl_rules(text, "r", {});
  EXPECT_THAT(file.refusals, IsEmpty());
  std::string why;
  auto set = build_acl_bits(plain_rules(file.rules), why);
  EXPECT_TRUE(set) << why;
  return set.value_or(AclBitsSet{});
}

TEST(AclBitsBuild, CutsAddressesIntoElementaryIntervals) {
  const AclBitsSet set = build(
      "drop ip 10.0.0.0/8 -> any\n"
      "drop ip 10.1.0.0/16 -> 255.255.255.255\n"
      "drop ip 128.0.0.0/1 -> any\n");
  EXPECT_THAT(set.ipv4.source.starts,
              ElementsAre(0u, 0x0a000000u, 0x0a010000u, 0x0a020000u, 0x0b000000u, 0x80000000u));
  EXPECT_EQ(set.ipv4.source.vectors[1], set.ipv4.source.vectors[3]) << "equal vectors, once";
  EXPECT_EQ(set.ipv4.source.vectors[0], set.ipv4.source.vectors[4]);
  EXPECT_THAT(set.ipv4.destination.starts, ElementsAre(0u, 0xffffffffu));
  EXPECT_THAT(set.ipv6.rules, IsEmpty());
}

TEST(AclBitsBuild, CutsIpv6OnBothHalves) {
  const AclBitsSet set = build(
      "drop ip 2001:db8::/32 -> any\n"
      "drop ip 2001:db8::ffff:ffff:ffff:ffff -> any\n"
      "drop ip ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff -> any\n");
  const std::uint64_t high = 0x20010db800000000;
  EXPECT_THAT(set.ipv6.source.starts,
              ElementsAre(Address128{0, 0}, Address128{high, 0}, Address128{high, UINT64_MAX},
                          Address128{high + 1, 0}, Address128{high + (1ull << 32), 0},
                          Address128{UINT64_MAX, UINT64_MAX}));
}

TEST(AclBitsBuild, FamiliesHaveTheRulesThatCanMatchThere) {
  const AclBitsSet set = build("drop ip4 any -> any\ndrop ip any -> any\ndrop ip6 any -> any\n");
  EXPECT_THAT(set.ipv4.rules, ElementsAre(0, 1));
  EXPECT_THAT(set.ipv6.rules, ElementsAre(1, 2));
}

TEST(AclBitsBuild, GivesFewClassesToPortsAndProtocols) {
  const AclBitsSet set = build(
      "drop tcp any port 80 -> any\n"
      "drop udp any port 80-90 -> any port 53\n"
      "drop tcp any -> any port 1-65535 flags S/SA\n");
  const auto& ports = set.ipv4.source_ports;
  EXPECT_EQ(ports.classes.size(), kAclPortSteps);
  EXPECT_EQ(ports.count, 4u);
  EXPECT_NE(ports.classes[80], ports.classes[81]);
  EXPECT_EQ(ports.classes[79], ports.classes[91]);
  EXPECT_NE(ports.classes[79], ports.classes[kAclPortSteps - 1])
      << "without ports there are no flags";
  EXPECT_EQ(set.ipv4.destination_ports.count, 3u);
  EXPECT_NE(set.ipv4.destination_ports.classes[1],
            set.ipv4.destination_ports.classes[kAclPortSteps - 1]);
  EXPECT_EQ(set.ipv4.protocols.count, 3u);
  EXPECT_EQ(set.ipv4.flags.count, 2u);
  EXPECT_EQ(set.ipv4.transport.size(), 4u * 3 * 3 * 2);
}

TEST(AclBitsBuild, LeavesOutWhatWouldBeTooLarge) {
  const auto rules = plain_rules(
      parse_acl_rules("drop ip 10.0.0.0/8 -> any\ndrop ip 11.0.0.0/8 -> any\n", "r", {}).rules);
  std::string why;
  EXPECT_TRUE(build_acl_bits(rules, why, 1000));
  EXPECT_FALSE(build_acl_bits(rules, why, 300));
  EXPECT_THAT(why, HasSubstr("more than their limit"));
}

TEST(AclBitsBuild, LeavesOutACrossProductThatWouldTakeTooLong) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    const std::string port = std::to_string(i * 13);
    text += "drop ip any port " + port + " -> any port " + port + "\n";
  }
  std::string why;
  EXPECT_FALSE(build_acl_bits(plain_rules(parse_acl_rules(text, "r", {}).rules), why));
  EXPECT_THAT(why, HasSubstr("25010001 classes"));
}

}  // namespace
}  // namespace millrace
