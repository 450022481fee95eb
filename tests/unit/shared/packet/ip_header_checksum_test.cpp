// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/ip_header_checksum.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/shared/packet/hex_bytes.hpp"

namespace millrace {
namespace {

constexpr std::size_t kIpAt = 14, kIpBytes = 20, kLength = 0x73;

/// A header with a checksum that others have computed, behind Ethernet, and zeros as its data.
std::vector<std::byte> checked_frame() {
  std::vector<std::byte> frame = bytes_of_hex(
      "0200000000020200000000010800"
      "45000073000040004011b861c0a80001c0a800c7");
  frame.resize(kIpAt + kLength);
  return frame;
}

TEST(IpHeaderChecksum, EachBitOfAHeaderCounts) {
  std::vector<std::byte> frame = checked_frame();
  const PacketHeaders headers = parse_headers(frame);
  ASSERT_EQ(headers.ip_version, 4u);
  EXPECT_TRUE(has_good_ip_checksum(frame, headers));
  for (std::size_t bit = 0; bit < 8 * kIpBytes; ++bit) {
    frame[kIpAt + bit / 8] ^= std::byte{1} << bit % 8;
    EXPECT_FALSE(has_good_ip_checksum(frame, headers)) << bit;
    frame[kIpAt + bit / 8] ^= std::byte{1} << bit % 8;
  }
  frame.back() = std::byte{1};
  EXPECT_TRUE(has_good_ip_checksum(frame, headers)) << "data are no part of it";
}

TEST(IpHeaderChecksum, ACutHeaderHasNone) {
  const std::vector<std::byte> frame = checked_frame();
  const PacketHeaders headers = parse_headers(frame);
  for (std::size_t bytes = kIpAt; bytes < kIpAt + kIpBytes; ++bytes) {
    EXPECT_FALSE(has_good_ip_checksum(std::span(frame).first(bytes), headers)) << bytes;
  }
}

TEST(IpHeaderChecksum, OtherPacketsHaveNoneToBeWrong) {
  const std::vector<std::byte> arp = bytes_of_hex("ffffffffffff02000000000108060001");
  EXPECT_TRUE(has_good_ip_checksum(arp, parse_headers(arp)));
  PacketHeaders six;
  six.ip_version = 6;
  EXPECT_TRUE(has_good_ip_checksum(arp, six));
}

}  // namespace
}  // namespace millrace
