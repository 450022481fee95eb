// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/ipv6_address.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

Ipv6Address read(std::string_view text) {
  Ipv6Address address;
  EXPECT_TRUE(parse_ipv6(text, address)) << text;
  return address;
}

TEST(Ipv6Address, IsReadInEachFormAndWrittenInOne) {
  EXPECT_EQ(read("2001:0DB8:0:0:0:0:0:1"), (Ipv6Address{0x20010db800000000, 1}));
  EXPECT_EQ(ipv6_text(read("2001:0DB8:0:0:0:0:0:1")), "2001:db8::1");
  EXPECT_EQ(read("::"), Ipv6Address{});
  EXPECT_EQ(read("1:2:3:4:5:6:7:8"), (Ipv6Address{0x0001000200030004, 0x0005000600070008}));
  EXPECT_EQ(read("64:ff9b::10.1.2.3"), (Ipv6Address{0x0064ff9b00000000, 0x0a010203}));
}

TEST(Ipv6Address, WhatIsNoneIsRefused) {
  Ipv6Address address;
  using std::string_literals::operator""s;
  for (const std::string& text :
       {"1:2:3:4:5:6:7"s, "1:2:3:4:5:6:7:8:9"s, "::1::"s, "10.1.2.3"s, "g::"s, "::1 "s, " ::1"s,
        "::1%eth0"s, "[::1]"s, "::12345"s, ""s, "::1\0"s, std::string(500, ':'),
        "2001:0db8:0000:0000:0000:0000:255.255.255.2550"s}) {
    EXPECT_FALSE(parse_ipv6(text, address)) << text;
  }
}

TEST(Ipv6Address, BytesAndMasksCountFromTheLeft) {
  const Ipv6Address address = read("0102:0304:0506:0708:090a:0b0c:0d0e:0f10");
  for (std::uint32_t i = 0; i < 16; ++i) EXPECT_EQ(address.byte(i), i + 1);
  EXPECT_EQ(ipv6_mask(0), Ipv6Address{});
  EXPECT_EQ(ipv6_mask(1), read("8000::"));
  EXPECT_EQ(ipv6_mask(64), (Ipv6Address{~0ull, 0}));
  EXPECT_EQ(ipv6_mask(65), (Ipv6Address{~0ull, 1ull << 63}));
  EXPECT_EQ(ipv6_mask(128), (Ipv6Address{~0ull, ~0ull}));
}

TEST(Ipv6Address, NeverRoutedIsWhatRfc4291And6890Say) {
  for (const char* text : {"::", "::1", "fe80::", "fe80::1", "febf:ffff::1", "ff00::", "ff02::1",
                           "ffff::", "::ffff:0.0.0.0", "::ffff:255.255.255.255"}) {
    EXPECT_TRUE(never_routed(read(text))) << text;
  }
  for (const char* text :
       {"::2", "::1.2.3.4", "::1:ffff:0:0", "1::1", "1::ffff:1.2.3.4", "64:ff9b::1.2.3.4",
        "2001:db8::1", "fc00::1", "fdff::1", "fe7f:ffff::", "fec0::", "feff::1"}) {
    EXPECT_FALSE(never_routed(read(text))) << text;
  }
}

}  // namespace
}  // namespace millrace
