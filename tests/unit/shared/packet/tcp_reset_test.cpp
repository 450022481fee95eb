// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/tcp_reset.hpp"

#include <gtest/gtest.h>

#include "shared/packet/internet_checksum.hpp"
#include "tests/unit/shared/packet/hex_bytes.hpp"

// Frames were made with Scapy.

namespace millrace::tcp_reset_test {
namespace {

constexpr MacAddress kRouter = {2, 0, 0, 0, 0, 1}, kHost = {2, 0, 0, 0, 0, 2};
constexpr std::uint32_t kOurs = 0x0a010001, kSender = 0x0a010005;
constexpr const char* kSyn = "0fa00016ffffffff00000000500220006c250000";
constexpr const char* kData = "0fa00016000003e80000004d501820005dfc0000313233343536373839";
constexpr const char* kFin = "0fa00016000003e800000000500120005e600000313233343536373839";
constexpr const char* kReset = "0fa00016000003e80000000050042000683b0000";

std::optional<TcpReset> answer(std::span<const std::byte> segment) {
  const auto bytes = static_cast<std::uint16_t>(segment.size());
  return tcp_reset_for(segment, pseudo_sum(kSender, kOurs, 6, bytes));
}

TEST(TcpReset, ASynIsAcknowledged) {
  const auto reset = answer(bytes_of_hex(kSyn));
  ASSERT_TRUE(reset);
  EXPECT_TRUE(reset->acknowledges);
  EXPECT_EQ(reset->acknowledgment, 0u) << "0xffffffff and one more";
  EXPECT_EQ(reset->sequence, 0u);
  std::vector<std::byte> frame(kTcpResetFrameBytes, std::byte{0xee});
  write_tcp_reset(frame, kRouter, kHost, kOurs, kSender, *reset);
  EXPECT_EQ(hex_of_bytes(frame),
            "02000000000202000000000108004500002800004000400626c90a0100010a01000500160fa0"
            "0000000000000000501400008c130000");
}

TEST(TcpReset, WhatAcknowledgesIsAnsweredWithItsNumber) {
  const auto reset = answer(bytes_of_hex(kData));
  ASSERT_TRUE(reset);
  EXPECT_FALSE(reset->acknowledges);
  EXPECT_EQ(reset->sequence, 77u);
  const Ipv6Bytes ours = {0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  const Ipv6Bytes sender = {0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5};
  std::vector<std::byte> frame(kTcpResetIpv6FrameBytes, std::byte{0xee});
  write_tcp_reset(frame, kRouter, kHost, ours, sender, *reset);
  EXPECT_EQ(hex_of_bytes(frame),
            "02000000000202000000000186dd600000000014064020010db8000100000000000000000001"
            "20010db800010000000000000000000500160fa00000004d000000005004000044640000");
}

TEST(TcpReset, DataAndFinAreCounted) {
  const auto reset = answer(bytes_of_hex(kFin));
  ASSERT_TRUE(reset);
  EXPECT_TRUE(reset->acknowledges);
  EXPECT_EQ(reset->acknowledgment, 1000u + 9 + 1);
}

TEST(TcpReset, AResetIsNotAnswered) { EXPECT_FALSE(answer(bytes_of_hex(kReset))); }

TEST(TcpReset, WhatIsCutOrHasAWrongChecksumIsNotAnswered) {
  for (std::size_t bytes = 0; bytes < bytes_of_hex(kData).size(); ++bytes) {
    std::vector<std::byte> cut = bytes_of_hex(kData);
    cut.resize(bytes);
    cut.shrink_to_fit();
    EXPECT_FALSE(answer(cut)) << bytes;
  }
  for (std::size_t at = 0; at < bytes_of_hex(kData).size(); ++at) {
    std::vector<std::byte> wrong = bytes_of_hex(kData);
    wrong[at] ^= std::byte{0x10};
    EXPECT_FALSE(answer(wrong)) << at;
  }
}

}  // namespace
}  // namespace millrace::tcp_reset_test
