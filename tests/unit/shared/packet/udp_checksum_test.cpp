// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/udp_checksum.hpp"

#include <gtest/gtest.h>

#include "tests/unit/shared/packet/hex_bytes.hpp"

// Datagrams were made with Scapy.

namespace millrace::udp_checksum_test {
namespace {

constexpr std::uint32_t kOurs = 0x0a010001, kSender = 0x0a010005;
constexpr Ipv6Bytes kOurs6 = {0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr Ipv6Bytes kSender6 = {0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5};
constexpr const char* kUdp = "0fa00016000b08b66f6464";
constexpr const char* kUdp6 = "0fa00016000bc1436f6464";

TEST(UdpChecksum, WhatIsWholeAndRight) {
  EXPECT_TRUE(is_good_udp(bytes_of_hex(kUdp), kSender, kOurs));
  EXPECT_TRUE(is_good_udp(bytes_of_hex(kUdp6), kSender6, kOurs6));
  EXPECT_TRUE(is_good_udp(bytes_of_hex(std::string(kUdp) + "99"), kSender, kOurs)) << "padding";
}

TEST(UdpChecksum, WithoutAChecksumOnlyOverIpv4) {
  EXPECT_TRUE(is_good_udp(bytes_of_hex("0fa00016000b00006f6464"), kSender, kOurs));
  EXPECT_FALSE(is_good_udp(bytes_of_hex("0fa00016000b00006f6464"), kSender6, kOurs6));
}

TEST(UdpChecksum, WhatIsCutOrWrong) {
  for (std::size_t bytes = 0; bytes < 11; ++bytes) {
    std::vector<std::byte> cut = bytes_of_hex(kUdp);
    cut.resize(bytes);
    cut.shrink_to_fit();
    EXPECT_FALSE(is_good_udp(cut, kSender, kOurs)) << bytes;
  }
  for (std::size_t at = 0; at < 11; ++at) {
    std::vector<std::byte> wrong = bytes_of_hex(kUdp), wrong6 = bytes_of_hex(kUdp6);
    wrong[at] ^= std::byte{1};
    wrong6[at] ^= std::byte{1};
    EXPECT_FALSE(is_good_udp(wrong, kSender, kOurs)) << at;
    EXPECT_FALSE(is_good_udp(wrong6, kSender6, kOurs6)) << at;
  }
  EXPECT_FALSE(is_good_udp(bytes_of_hex("0fa00016000700006f6464"), kSender, kOurs)) << "length 7";
}

}  // namespace
}  // namespace millrace::udp_checksum_test
