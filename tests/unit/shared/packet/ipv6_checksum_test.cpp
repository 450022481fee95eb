// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/ipv6_checksum.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "shared/packet/ipv6_wire.hpp"
#include "tests/unit/shared/packet/hex_bytes.hpp"
#include "tests/unit/shared/packet/icmpv6_frames.hpp"

namespace millrace {
namespace {

constexpr Ipv6Bytes kNear6 = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr Ipv6Bytes kFar6 = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};

/// RFC 8200 8.1 and RFC 1071 word by word: the pseudo header is laid out, each carry added at once.
std::uint16_t slow_ipv6_checksum(std::uint8_t next_header, const std::vector<std::byte>& packet) {
  std::vector<unsigned> all;
  for (const Ipv6Bytes& address : {kNear6, kFar6})
    all.insert(all.end(), address.begin(), address.end());
  for (int shift = 24; shift >= 0; shift -= 8) all.push_back(packet.size() >> shift & 255);
  all.insert(all.end(), {0, 0, 0, next_header});
  for (const std::byte byte : packet) all.push_back(std::to_integer<unsigned>(byte));
  if (all.size() % 2 == 1) all.push_back(0);
  unsigned sum = 0;
  for (std::size_t at = 0; at < all.size(); at += 2) {
    sum += all[at] * 256 + all[at + 1];
    if (sum > 0xffff) sum -= 0xffff;
  }
  return static_cast<std::uint16_t>(0xffff - sum);
}

TEST(Ipv6Checksum, IsThatOfTheSlowWayInOneOrTwoPieces) {
  std::mt19937 random(11);
  for (int run = 0; run < 3000; ++run) {
    std::vector<std::byte> packet(random() % 90);
    for (std::byte& byte : packet) byte = run % 9 == 0 ? std::byte{0xff} : std::byte(random());
    const auto next = static_cast<std::uint8_t>(random());
    const std::uint16_t expected = slow_ipv6_checksum(next, packet);
    ASSERT_EQ(ipv6_checksum(kNear6, kFar6, next, packet), expected) << run;
    const std::size_t split = random() % (packet.size() / 2 + 1) * 2;
    const std::span<const std::byte> bytes = packet;
    ASSERT_EQ(ipv6_checksum(kNear6, kFar6, next, bytes.first(split), bytes.subspan(split)),
              expected)
        << run;
  }
}

TEST(Ipv6Checksum, CountsALengthOfMoreThan16Bits) {
  const std::vector<std::byte> packet(70'001, std::byte{3});
  EXPECT_EQ(ipv6_checksum(kNear6, kFar6, 17, packet), slow_ipv6_checksum(17, packet));
}

TEST(Ipv6Checksum, IsZeroOverAMessageThatHasOne) {
  const std::vector<std::byte> frame = bytes_of_hex(icmpv6_frames::kEchoRequest);
  EXPECT_EQ(ipv6_checksum(kNear6, kFar6, 58, std::span(frame).subspan(54)), 0);
}

TEST(Icmpv6Message, IsWhatLiesBehindTheFixedHeader) {
  std::vector<std::byte> frame = bytes_of_hex(icmpv6_frames::kEchoRequest);
  EXPECT_EQ(ipv6_wire::icmpv6_message(frame).data(), frame.data() + 54);
  EXPECT_EQ(ipv6_wire::icmpv6_message(frame).size(), frame.size() - 54);
  const std::size_t whole = frame.size();
  frame.resize(whole + 5, std::byte{1});  // padding
  EXPECT_EQ(ipv6_wire::icmpv6_message(frame).size(), whole - 54);
  for (std::size_t size = 0; size < whole; ++size) {
    const std::vector<std::byte> cut(frame.begin(), frame.begin() + static_cast<long>(size));
    EXPECT_TRUE(ipv6_wire::icmpv6_message(cut).empty()) << size;
  }
}

TEST(Icmpv6Message, IsNoneWithAnyBitOfTheAddressesOrTheMessageChanged) {
  const std::vector<std::byte> frame = bytes_of_hex(icmpv6_frames::kEchoRequest);
  for (std::size_t bit = 22 * 8; bit < frame.size() * 8; ++bit) {
    std::vector<std::byte> changed = frame;
    changed[bit / 8] ^= std::byte{0x80} >> static_cast<int>(bit % 8);
    EXPECT_TRUE(ipv6_wire::icmpv6_message(changed).empty()) << bit;
  }
}

}  // namespace
}  // namespace millrace
