// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/internet_checksum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "tests/unit/shared/packet/hex_bytes.hpp"

namespace millrace::internet_checksum_test {
namespace {

/// Word by word, the carry added at once.
std::uint16_t slow_sum(std::span<const std::byte> bytes, std::uint32_t initial) {
  std::uint64_t sum = initial;
  for (std::size_t at = 0; at < bytes.size(); at += 2) {
    const auto high = std::to_integer<std::uint64_t>(bytes[at]);
    const bool whole = at + 1 < bytes.size();
    sum += high * 256 + (whole ? std::to_integer<std::uint64_t>(bytes[at + 1]) : 0);
  }
  while (sum > 0xffff) sum = sum % 65536 + sum / 65536;
  return static_cast<std::uint16_t>(sum);
}

TEST(InternetChecksum, SumsEveryLengthAtEveryAlignment) {
  std::mt19937 random(1);
  for (std::size_t size = 0; size < 300; ++size) {
    for (std::size_t shift = 0; shift < 8; ++shift) {
      std::vector<std::byte> block(shift + size);  // ends where the sum has to end
      for (std::byte& byte : block) byte = static_cast<std::byte>(random());
      const std::span<const std::byte> bytes = std::span(block).subspan(shift);
      const auto initial = static_cast<std::uint32_t>(random());
      EXPECT_EQ(internet_sum(bytes, initial), slow_sum(bytes, initial)) << size << " " << shift;
    }
  }
}

TEST(InternetChecksum, LosesNoCarryOfBytesThatAreAllOnes) {
  for (const std::size_t size : {1, 2, 7, 8, 9, 1500, 65535, 1 << 20}) {
    const std::vector<std::byte> bytes(size, std::byte{0xff});
    EXPECT_EQ(internet_sum(bytes, 0xffffffff), slow_sum(bytes, 0xffffffff)) << size;
  }
}

TEST(InternetChecksum, IsZeroOnlyForZeroes) {
  const std::vector<std::byte> zeroes(64), ones(64, std::byte{0xff});
  EXPECT_EQ(internet_sum(zeroes), 0);
  EXPECT_EQ(internet_checksum(zeroes), 0xffff);
  EXPECT_EQ(internet_sum(ones), 0xffff);
  EXPECT_EQ(internet_checksum({}), 0xffff);
}

TEST(InternetChecksum, FoldsASumOfAnyWords) {
  std::mt19937 random(2);
  for (const std::uint32_t sum : {0u, 0xffffu, 0x10000u, 0x1ffffu, 0xffff0000u, 0xffffffffu}) {
    EXPECT_EQ(folded_sum(sum), slow_sum({}, sum)) << sum;
  }
  for (int run = 0; run < 1000; ++run) {
    const auto sum = static_cast<std::uint32_t>(random());
    EXPECT_EQ(folded_sum(sum), slow_sum({}, sum)) << sum;
  }
}

TEST(InternetChecksum, LiesWhereTheTransportProtocolHasIt) {
  EXPECT_EQ(transport_checksum_at(ip_protocol::kTcp), 16u);
  for (const std::uint8_t protocol : {17, 33, 136}) EXPECT_EQ(transport_checksum_at(protocol), 6u);
  for (const std::uint8_t protocol : {1, 58}) EXPECT_EQ(transport_checksum_at(protocol), 2u);
  for (const std::uint8_t protocol : {0, 2, 47, 50, 132}) {
    EXPECT_EQ(transport_checksum_at(protocol), 0u);
  }
}

TEST(InternetChecksum, OfTheExampleOfRfc1071) {
  const std::vector<std::byte> bytes = bytes_of_hex("0001f203f4f5f6f7");
  EXPECT_EQ(internet_sum(bytes), 0xddf2);
}

TEST(InternetChecksum, OfPiecesIsThatOfTheWhole) {
  std::mt19937 random(2);
  std::vector<std::byte> bytes(777);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  for (std::size_t split = 0; split < bytes.size(); split += 2) {
    const std::uint16_t front = internet_sum(std::span(bytes).first(split));
    EXPECT_EQ(internet_sum(std::span(bytes).subspan(split), front), internet_sum(bytes));
  }
}

// The packets are Scapy's.
TEST(InternetChecksum, OfUdpOverIpv4IsRight) {
  const std::vector<std::byte> packet =
      bytes_of_hex("4500001f000100004011aebe0a010005c000020913880035000b4ca76f6464");
  EXPECT_EQ(internet_checksum(std::span(packet).first(20)), 0);
  const std::span<const std::byte> udp = std::span(packet).subspan(20);
  EXPECT_EQ(internet_checksum(udp, pseudo_sum(0x0a010005, 0xc0000209, 17, 11)), 0);
  EXPECT_NE(internet_checksum(udp, pseudo_sum(0x0a010005, 0xc0000209, 17, 12)), 0);
}

TEST(InternetChecksum, OfUdpOverIpv6IsRight) {
  const std::vector<std::byte> packet = bytes_of_hex(
      "60000000000b114020010db800000000000000000000000520010db8000100000000000000000009"
      "13880035000bbd356f6464");
  const std::span<const std::byte> bytes = packet;
  const auto source = bytes.subspan<8, 16>(), destination = bytes.subspan<24, 16>();
  EXPECT_EQ(internet_checksum(bytes.subspan(40), pseudo_sum(source, destination, 17, 11)), 0);
  EXPECT_NE(internet_checksum(bytes.subspan(40), pseudo_sum(source, destination, 6, 11)), 0);
}

TEST(InternetChecksum, PseudoHeadersAreSummedAsTheyAreDrawn) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> drawn(40);
    for (std::byte& byte : drawn) byte = static_cast<std::byte>(random() % 8 == 0 ? 255 : random());
    std::fill(drawn.begin() + 36, drawn.begin() + 39, std::byte{0});
    const std::span<const std::byte> six = drawn;
    const auto u32 = [&](std::size_t at) {
      std::uint32_t value = 0;
      for (std::size_t k = 0; k < 4; ++k)
        value = value << 8 | std::to_integer<unsigned>(six[at + k]);
      return value;
    };
    const auto protocol = std::to_integer<std::uint8_t>(six[39]);
    EXPECT_EQ(pseudo_sum(six.first<16>(), six.subspan<16, 16>(), protocol, u32(32)),
              slow_sum(six, 0));
    std::vector<std::byte> four(drawn.begin(), drawn.begin() + 8);
    four.insert(four.end(), {std::byte{0}, drawn[39], drawn[34], drawn[35]});
    EXPECT_EQ(pseudo_sum(u32(0), u32(4), protocol, static_cast<std::uint16_t>(u32(32))),
              slow_sum(four, 0));
  }
}

TEST(InternetChecksum, UpdateIsThatOfTheChangedBytes) {
  std::mt19937 random(4);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes(20);
    // Few distinct values, so that sums of 0 and 0xffff come up.
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 2 == 0 ? 0 : 255);
    bytes[19] = std::byte{1};
    const std::uint16_t checksum = internet_checksum(bytes);
    const std::size_t at = random() % 9 * 2;
    const std::uint16_t before = internet_sum(std::span(bytes).subspan(at, 2));
    bytes[at] = static_cast<std::byte>(random());
    bytes[at + 1] = static_cast<std::byte>(random() % 3 == 0 ? 0 : random());
    const std::uint16_t after = internet_sum(std::span(bytes).subspan(at, 2));
    EXPECT_EQ(updated_checksum(checksum, before, after), internet_checksum(bytes));
  }
}

// RFC 1624 section 4: equation 2 gives 0xffff there.
TEST(InternetChecksum, UpdateOfTheExampleOfRfc1624) {
  EXPECT_EQ(updated_checksum(0xdd2f, 0x5555, 0x3285), 0x0000);
}

TEST(InternetChecksum, UpdateOfALongerPieceTakesItsSums) {
  std::vector<std::byte> bytes = bytes_of_hex("45000027004d0000011185370a010005c6336409ffeeddcc");
  const std::uint16_t checksum = internet_checksum(bytes);
  const std::span<const std::byte> piece = std::span(bytes).subspan(12, 8);
  const std::uint16_t before = internet_sum(piece);
  for (std::size_t at = 13; at < 19; ++at) bytes[at] = static_cast<std::byte>(at * 37);
  EXPECT_EQ(updated_checksum(checksum, before, internet_sum(piece)), internet_checksum(bytes));
}

}  // namespace
}  // namespace millrace::internet_checksum_test
