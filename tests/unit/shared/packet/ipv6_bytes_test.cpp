// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/ipv6_bytes.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace millrace {
namespace {

/// The C library reads addresses for these tests.
Ipv6Bytes ipv6_of_text(const char* text) {
  Ipv6Bytes address;
  EXPECT_EQ(inet_pton(AF_INET6, text, address.data()), 1) << text;
  return address;
}

TEST(Ipv6Bytes, KnowsKindsOfAddressesAsTheCLibraryDoes) {
  for (const char* text :
       {"::", "::1", "::2", "1::", "fe80::", "febf::1", "fec0::", "fe7f::", "ff00::", "ff02::1",
        "feff::1", "2001:db8::1", "::ffff:1.2.3.4", "::1:0:0:1"}) {
    const Ipv6Bytes address = ipv6_of_text(text);
    in6_addr other;
    inet_pton(AF_INET6, text, &other);
    EXPECT_EQ(is_unspecified(address), IN6_IS_ADDR_UNSPECIFIED(&other) != 0) << text;
    EXPECT_EQ(is_loopback(address), IN6_IS_ADDR_LOOPBACK(&other) != 0) << text;
    EXPECT_EQ(is_link_local(address), IN6_IS_ADDR_LINKLOCAL(&other) != 0) << text;
    EXPECT_EQ(is_multicast(address), IN6_IS_ADDR_MULTICAST(&other) != 0) << text;
  }
}

TEST(Ipv6Bytes, FindsTheSolicitedNodeAddress) {
  // The example of RFC 4291 2.7.1.
  EXPECT_EQ(solicited_node(ipv6_of_text("4037::1:800:200e:8c6c")),
            ipv6_of_text("ff02::1:ff0e:8c6c"));
  EXPECT_TRUE(is_solicited_node(ipv6_of_text("ff02::1:ff0e:8c6c")));
  for (const char* text : {"ff02::1:fe0e:8c6c", "ff02::2:ff0e:8c6c", "ff05::1:ff0e:8c6c", "ff02::1",
                           "fe02::1:ff0e:8c6c", "ff02:1::1:ff0e:8c6c"}) {
    EXPECT_FALSE(is_solicited_node(ipv6_of_text(text))) << text;
  }
}

TEST(Ipv6Bytes, NamesTheAllNodesAndAllRoutersGroups) {
  EXPECT_EQ(kIpv6AllNodes, ipv6_of_text("ff02::1"));
  EXPECT_EQ(kIpv6AllRouters, ipv6_of_text("ff02::2"));
}

TEST(Ipv6Bytes, MapsAGroupToItsMacAddress) {
  EXPECT_EQ(multicast_mac(ipv6_of_text("ff02::1:ff0e:8c6c")),
            (MacAddress{0x33, 0x33, 0xff, 0x0e, 0x8c, 0x6c}));
}

TEST(Ipv6Bytes, MakesALinkLocalAddressOfAMacAddress) {
  // The example of RFC 2464 5, and one with the local bit set.
  EXPECT_EQ(link_local_of({0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde}),
            ipv6_of_text("fe80::3656:78ff:fe9a:bcde"));
  EXPECT_EQ(link_local_of({2, 0, 0, 0, 0, 1}), ipv6_of_text("fe80::ff:fe00:1"));
}

TEST(Ipv6Bytes, ClearsTheBitsBehindAPrefix) {
  std::mt19937 random(5);
  for (int length = 0; length <= 128; ++length) {
    Ipv6Bytes address;
    for (std::uint8_t& byte : address) byte = static_cast<std::uint8_t>(random());
    Ipv6Bytes expected = address;
    for (int bit = length; bit < 128; ++bit) {
      const auto at = static_cast<std::size_t>(bit / 8);
      expected[at] = static_cast<std::uint8_t>(expected[at] & ~(0x80 >> bit % 8));
    }
    EXPECT_EQ(ipv6_prefix_of(address, static_cast<std::uint8_t>(length)), expected) << length;
  }
}

}  // namespace
}  // namespace millrace
