// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/arp.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/unit/shared/packet/hex_bytes.hpp"

namespace millrace::arp_test {
namespace {

constexpr MacAddress kHost = {2, 0, 0, 0, 0, 0x0a}, kRouter = {2, 0, 0, 0, 0, 0x0b};
constexpr MacAddress kNobody = {}, kEveryone = {255, 255, 255, 255, 255, 255};

// Both frames are Scapy's.
constexpr char kRequestHex[] =
    "ffffffffffff02000000000a0806000108000604000102000000000a0a0102030000000000000a0102fe";
constexpr char kReplyHex[] =
    "02000000000a02000000000b0806000108000604000202000000000b0a0102fe02000000000a0a010203";
constexpr ArpPacket kRequest = {kArpRequest, kHost, 0x0a010203, kNobody, 0x0a0102fe};
constexpr ArpPacket kReply = {kArpReply, kRouter, 0x0a0102fe, kHost, 0x0a010203};

TEST(Arp, RequestsAndRepliesAreRead) {
  ArpPacket packet = {};
  ASSERT_TRUE(parse_arp(bytes_of_hex(kRequestHex), packet));
  EXPECT_EQ(packet, kRequest);
  ASSERT_TRUE(parse_arp(bytes_of_hex(kReplyHex), packet));
  EXPECT_EQ(packet, kReply);
}

TEST(Arp, PaddingBehindThePacketIsIgnored) {
  std::vector<std::byte> frame = bytes_of_hex(kReplyHex);
  frame.resize(60);
  ArpPacket packet = {};
  ASSERT_TRUE(parse_arp(frame, packet));
  EXPECT_EQ(packet, kReply);
}

TEST(Arp, WrittenFramesAreThoseOfScapy) {
  std::vector<std::byte> frame(kArpFrameBytes, std::byte{0xee});
  write_arp(frame, kHost, kEveryone, kRequest);
  EXPECT_EQ(hex_of_bytes(frame), kRequestHex);
  write_arp(frame, kRouter, kHost, kReply);
  EXPECT_EQ(hex_of_bytes(frame), kReplyHex);
}

TEST(Arp, WritingLeavesWhatLiesBehindThePacket) {
  std::vector<std::byte> frame(60, std::byte{0xee});
  write_arp(frame, kRouter, kHost, kReply);
  EXPECT_EQ(hex_of_bytes(std::span(frame).first(kArpFrameBytes)), kReplyHex);
  for (std::size_t at = kArpFrameBytes; at < frame.size(); ++at) {
    EXPECT_EQ(frame[at], std::byte{0xee});
  }
}

TEST(Arp, CutFramesAreRefused) {
  const std::vector<std::byte> whole = bytes_of_hex(kReplyHex);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> cut(whole.begin(),
                                     whole.begin() + static_cast<std::ptrdiff_t>(size));
    ArpPacket packet = kRequest;
    EXPECT_FALSE(parse_arp(cut, packet)) << size;
    EXPECT_EQ(packet, kRequest) << size;
  }
}

TEST(Arp, EveryOtherValueOfAFixedFieldIsRefused) {
  // EtherType to address lengths, then the operation, of which two values are taken.
  for (std::size_t at = 12; at < 22; ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      std::vector<std::byte> frame = bytes_of_hex(kReplyHex);
      const bool same = frame[at] == static_cast<std::byte>(value);
      const bool request = at == 21 && value == kArpRequest;
      frame[at] = static_cast<std::byte>(value);
      ArpPacket packet = kRequest;
      EXPECT_EQ(parse_arp(frame, packet), same || request) << at << " " << value;
      if (!same && !request) {
        EXPECT_EQ(packet, kRequest) << at << " " << value;
      }
    }
  }
}

}  // namespace
}  // namespace millrace::arp_test
