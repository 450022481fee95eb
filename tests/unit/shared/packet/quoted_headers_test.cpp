// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/quoted_headers.hpp"

#include <gtest/gtest.h>

#include "tests/unit/shared/packet/hex_bytes.hpp"

namespace millrace {
namespace {

// Frames of Scapy: IP()/ICMP(type=3, code=3)/IP()/UDP(), and the same of IPv6.
TEST(QuotedHeaders, LieBehindTheErrorsOwn) {
  const auto frame = bytes_of_hex(
      "02000000000102000000000208004500003800010000400166c10a0000010a0000020303fcfc00000000"
      "4500001c00010000401166cd0a0000020a000001003500350008eb6f");
  const PacketHeaders headers = parse_headers(frame);
  const auto quoted = quoted_headers(frame, headers);
  ASSERT_TRUE(quoted);
  EXPECT_EQ(quoted->ip_version, 4);
  EXPECT_EQ(quoted->protocol, 17);
  EXPECT_EQ(quoted->network_offset, 14 + 20 + 8);
  EXPECT_EQ(quoted->transport_offset, 14 + 20 + 8 + 20);
}

TEST(QuotedHeaders, AreNotThereInOtherPackets) {
  const auto none = [](std::string_view hex) {
    const auto frame = bytes_of_hex(hex);
    return !quoted_headers(frame, parse_headers(frame));
  };
  // Echo request, though an IP header follows.
  EXPECT_TRUE(
      none("02000000000102000000000208004500003800010000400166c10a0000010a0000020800fcfc"
           "000000004500001c00010000401166cd0a0000020a000001003500350008eb6f"));
  // The quote ends within its header.
  EXPECT_TRUE(
      none("02000000000102000000000208004500002800010000400166c10a0000010a0000020303fcfc"
           "000000004500001c00010000401166cd"));
  // The quote is of IPv6, the error of IPv4.
  EXPECT_TRUE(
      none("02000000000102000000000208004500003800010000400166c10a0000010a0000020303fcfc"
           "000000006500001c00010000401166cd0a0000020a000001003500350008eb6f"));
  EXPECT_TRUE(none(""));
}

TEST(IsIcmpError, KnowsTheTypesOfBothProtocols) {
  for (const std::uint8_t type : {3, 4, 5, 11, 12}) EXPECT_TRUE(is_icmp_error(1, type));
  for (const std::uint8_t type : {0, 8, 9, 13}) EXPECT_FALSE(is_icmp_error(1, type));
  for (const std::uint8_t type : {1, 2, 3, 4}) EXPECT_TRUE(is_icmp_error(58, type));
  for (const std::uint8_t type : {0, 128, 129, 137}) EXPECT_FALSE(is_icmp_error(58, type));
  EXPECT_FALSE(is_icmp_error(17, 3));
}

}  // namespace
}  // namespace millrace
