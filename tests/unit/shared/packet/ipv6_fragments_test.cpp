// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/ipv6_fragments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/shared/packet/hex_bytes.hpp"

namespace millrace::ipv6_fragments_test {
namespace {

using Bytes = std::vector<std::byte>;

std::size_t u16(std::span<const std::byte> bytes, std::size_t at) {
  return std::to_integer<std::size_t>(bytes[at]) << 8 | std::to_integer<std::size_t>(bytes[at + 1]);
}

Bytes packet(std::size_t payload_bytes, std::mt19937& random) {
  Bytes bytes = bytes_of_hex(
      "6012345600003a40"
      "20010db8000100000000000000000001"
      "20010db8000100000000000000000005");
  bytes[4] = static_cast<std::byte>(payload_bytes >> 8);
  bytes[5] = static_cast<std::byte>(payload_bytes);
  for (std::size_t i = 0; i < payload_bytes; ++i) bytes.push_back(std::byte(random() & 255));
  return bytes;
}

Bytes fragment(const Ipv6Fragments& fragments, std::uint32_t number) {
  Bytes out(9000, std::byte{0xee});
  out.resize(fragments.write(number, out));
  return out;
}

// Of Scapy: fragment6(IPv6(src, dst, fl=0x23456, tc=1)/IPv6ExtHdrFragment(id=0x11223344, nh=58)/
// bytes(range(24)), 64).
TEST(Ipv6Fragments, AreThoseOfScapy) {
  Bytes whole = bytes_of_hex(
      "6012345600183a4020010db800010000000000000000000120010db8000100000000000000000005");
  for (int i = 0; i < 24; ++i) whole.push_back(std::byte(i));
  const Ipv6Fragments fragments(whole, 63, 0x11223344);
  ASSERT_EQ(fragments.count(), 3U);
  const std::string header =
      "60123456001"
      "02c4020010db800010000000000000000000120010db8000100000000000000000005";
  EXPECT_EQ(hex_of_bytes(fragment(fragments, 0)), header + "3a000001112233440001020304050607");
  EXPECT_EQ(hex_of_bytes(fragment(fragments, 1)), header + "3a0000091122334408090a0b0c0d0e0f");
  EXPECT_EQ(hex_of_bytes(fragment(fragments, 2)), header + "3a000010112233441011121314151617");
  EXPECT_EQ(fragment(fragments, 3), Bytes());
}

// Of Scapy, as above, of a fragment at 16 bytes behind which more follow: its parts at 16 and 24.
TEST(Ipv6Fragments, OfAFragmentKeepItsPlaceAndIdentification) {
  const std::string addresses =
      "2c4020010db800010000000000000000000120010db8000100000000000000000005";
  const std::string data = "000102030405060708090a0b0c0d0e0f";
  for (const bool more : {false, true}) {
    const Bytes whole = bytes_of_hex("601234560018" + addresses + "3a00001" + (more ? "1" : "0") +
                                     "11223344" + data);
    const Ipv6Fragments fragments(whole, 56, 7);
    ASSERT_EQ(fragments.count(), 2U);
    const std::string front = "601234560010" + addresses + "3a0000";
    EXPECT_EQ(hex_of_bytes(fragment(fragments, 0)), front + "1111223344" + data.substr(0, 16));
    EXPECT_EQ(hex_of_bytes(fragment(fragments, 1)),
              front + (more ? "19" : "18") + "11223344" + data.substr(16));
    EXPECT_EQ(fragment(Ipv6Fragments(whole, 64, 7), 0), whole) << "it fits";
  }
  const Bytes beyond = bytes_of_hex("601234560018" + addresses + "3a00fff111223344" + data);
  EXPECT_EQ(Ipv6Fragments(beyond, 56, 7).count(), 0U);
}

TEST(Ipv6Fragments, FollowEachOtherFillTheMtuAndAreAllOfIt) {
  std::mt19937 random(7);
  for (const std::size_t mtu : {56U, 57U, 63U, 64U, 1280U, 1500U}) {
    for (int i = 0; i < 200; ++i) {
      const Bytes whole = packet(random() % 4200, random);
      const Ipv6Fragments fragments(whole, mtu, 7);
      ASSERT_GT(fragments.count(), 0U);
      if (whole.size() <= mtu) {
        EXPECT_EQ(fragments.count(), 1U);
        EXPECT_EQ(fragment(fragments, 0), whole);
        continue;
      }
      Bytes payload;
      for (std::uint32_t number = 0; number < fragments.count(); ++number) {
        const Bytes one = fragment(fragments, number);
        const bool last = number + 1 == fragments.count();
        ASSERT_LE(one.size(), mtu);
        if (!last) {
          EXPECT_GT(one.size() + 8, mtu) << "it has no room for 8 bytes more";
        }
        EXPECT_EQ(u16(one, 4), one.size() - 40);
        EXPECT_EQ(u16(one, 42), payload.size() | (last ? 0U : 1U));
        payload.insert(payload.end(), one.begin() + 48, one.end());
      }
      EXPECT_TRUE(std::ranges::equal(payload, std::span(whole).subspan(40)));
    }
  }
}

TEST(Ipv6Fragments, ThereAreNoneOfWhatCannotBeSent) {
  std::mt19937 random(1);
  const Bytes whole = packet(100, random);
  EXPECT_EQ(Ipv6Fragments(whole, 55, 1).count(), 0U) << "no room for 8 bytes";
  EXPECT_EQ(Ipv6Fragments(std::span(whole).first(139), 1500, 1).count(), 0U) << "cut";
  EXPECT_EQ(Ipv6Fragments(std::span(whole).first(39), 1500, 1).count(), 0U);
  const Bytes other = bytes_of_hex("45");
  EXPECT_EQ(Ipv6Fragments(other, 1500, 1).count(), 0U);
  Bytes small(60);
  EXPECT_EQ(Ipv6Fragments(whole, 80, 1).write(0, small), 0U) << "no room in what it is to fill";
}

}  // namespace
}  // namespace millrace::ipv6_fragments_test
