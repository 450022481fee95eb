// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/embedding.hpp"

#include <gtest/gtest.h>

#include "services/functions/route/ipv6_address.hpp"

namespace millrace {
namespace {

Ipv6Bytes bytes_of(const char* text) {
  Ipv6Address address;
  EXPECT_TRUE(parse_ipv6(text, address)) << text;
  return ipv6_bytes(address);
}

TEST(Embedding, GivesTheAddressesOfTheTableOfRfc6052) {  // 2.4, with 192.0.2.33
  constexpr struct {
    const char *prefix, *address;
  } kRows[] = {
      {"2001:db8::/32", "2001:db8:c000:221::"},
      {"2001:db8:100::/40", "2001:db8:1c0:2:21::"},
      {"2001:db8:122::/48", "2001:db8:122:c000:2:2100::"},
      {"2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::"},
      {"2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::"},
      {"2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33"},
      {"64:ff9b::/96", "64:ff9b::c000:221"},
  };
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.prefix);
    const auto embedding = Embedding::parse(row.prefix);
    ASSERT_TRUE(embedding);
    EXPECT_EQ(embedding->of(0xc0000221), bytes_of(row.address));
    EXPECT_EQ(embedding->ipv4_of(bytes_of(row.address)), 0xc0000221u);
    EXPECT_EQ(embedding->ipv4_of(bytes_of("2001:db9::1")), std::nullopt);
  }
}

TEST(Embedding, ASuffixIsNotLookedAtAndTheReservedByteIsZero) {
  const auto embedding = Embedding::parse("2001:db8::/32");
  EXPECT_EQ(embedding->ipv4_of(bytes_of("2001:db8:c000:221:0:1:2:3")), 0xc0000221u);
  EXPECT_EQ(embedding->ipv4_of(bytes_of("2001:db8:c000:221:100::")), std::nullopt);
}

TEST(Embedding, RefusesPrefixesThatRfc6052DoesNotKnow) {
  for (const char* text : {"64:ff9b::", "64:ff9b::/95", "64:ff9b::/128", "64:ff9b::1/96", "64/96",
                           "64:ff9b::/", "2001:db8:0:0:100::/96", "2001:db8:1::/32", ""}) {
    EXPECT_FALSE(Embedding::parse(text)) << text;
  }
}

TEST(Embedding, KnowsTheWellKnownPrefix) {
  EXPECT_TRUE(Embedding{}.is_well_known());
  EXPECT_TRUE(Embedding::parse("64:ff9b::/96")->is_well_known());
  EXPECT_FALSE(Embedding::parse("64:ff9b:1::/96")->is_well_known());
}

TEST(Embedding, TellsPrivateAddressesAndThoseOfNoHost) {
  for (const std::uint32_t address : {0x0a000001u, 0xac1f0001u, 0xc0a80001u, 0x647f0001u}) {
    EXPECT_TRUE(is_private_ipv4(address)) << address;
  }
  for (const std::uint32_t address : {0xac200001u, 0xc0000201u, 0x08080808u, 0x64800001u}) {
    EXPECT_FALSE(is_private_ipv4(address)) << address;
    EXPECT_FALSE(is_no_host_ipv4(address)) << address;
  }
  for (const std::uint32_t address : {0u, 0x7f000001u, 0xe0000001u, 0xffffffffu}) {
    EXPECT_TRUE(is_no_host_ipv4(address)) << address;
  }
}

}  // namespace
}  // namespace millrace
