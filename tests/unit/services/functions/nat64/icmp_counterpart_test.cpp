// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/icmp_counterpart.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(IcmpCounterpart, CodesOfUnreachableAreThoseOfRfc7915) {  // 4.2; -1: dropped
  constexpr int kCodes[] = {0, 0, -1, 4, -1, 0, 0, 0, 0, 1, 1, 0, 0, 1, -1, 1, -1};
  for (std::uint8_t code = 0; code < std::size(kCodes); ++code) {
    if (code == 2 || code == 4) continue;
    const auto found = icmpv6_counterpart({3, code}, 100);
    EXPECT_EQ(found.has_value(), kCodes[code] >= 0) << int{code};
    if (found) {
      EXPECT_EQ(*found, (Icmpv6Error{1, static_cast<std::uint8_t>(kCodes[code]), 0})) << int{code};
    }
  }
  EXPECT_EQ(icmpv6_counterpart({3, 2}, 100), Icmpv6Error::unknown_next_header(6));
}

TEST(IcmpCounterpart, AnMtuIsTwentyBytesMoreAndGuessedWhereThereIsNone) {
  EXPECT_EQ(icmpv6_counterpart({3, 4, 1400}, 1500), Icmpv6Error::packet_too_big(1420));
  EXPECT_EQ(icmpv6_counterpart({3, 4, 0}, 1500), Icmpv6Error::packet_too_big(1512));  // RFC 1191
  EXPECT_EQ(icmpv6_counterpart({3, 4, 0}, 60), Icmpv6Error::packet_too_big(1280));
  EXPECT_EQ(icmpv6_counterpart({3, 4, 68}, 60), Icmpv6Error::packet_too_big(1280));
  EXPECT_EQ(icmp_counterpart(Icmpv6Error::packet_too_big(1400)), icmp_fragmentation_needed(1380));
  EXPECT_EQ(icmp_counterpart(Icmpv6Error::packet_too_big(3)), icmp_fragmentation_needed(1260));
  EXPECT_EQ(icmp_counterpart(Icmpv6Error::packet_too_big(1u << 31)),
            icmp_fragmentation_needed(65535));
}

TEST(IcmpCounterpart, PointersNameTheFieldOfTheOtherHeader) {
  constexpr int kIpv6[] = {0,  1, 4, 4, -1, -1, -1, -1, 7,  6, -1,
                           -1, 8, 8, 8, 8,  24, 24, 24, 24, -1};
  for (std::uint8_t at = 0; at < std::size(kIpv6); ++at) {
    const auto found = icmpv6_counterpart(icmp_parameter_problem(at), 100);
    EXPECT_EQ(found ? static_cast<int>(found->rest) : -1, kIpv6[at]) << int{at};
  }
  for (std::uint32_t at = 0; at <= 40; ++at) {
    const int begin[] = {0, 1, -1, -1, 2, 2, 9, 8};
    const int expected = at < 8 ? begin[at] : at < 24 ? 12 : at < 40 ? 16 : -1;
    const auto found = icmp_counterpart(Icmpv6Error::erroneous_field(at));
    EXPECT_EQ(found ? static_cast<int>(found->rest >> 24) : -1, expected) << at;
  }
}

TEST(IcmpCounterpart, CodesOfIcmpv6AreThoseOfRfc7915) {  // 5.2
  constexpr std::uint8_t kCodes[] = {1, 10, 1, 1, 3};
  for (std::uint8_t code = 0; code < std::size(kCodes); ++code) {
    EXPECT_EQ(icmp_counterpart({1, code, 0}), (IcmpError{3, kCodes[code]}));
  }
  EXPECT_EQ(icmp_counterpart({1, 5, 0}), std::nullopt);
  EXPECT_EQ(icmp_counterpart({3, 1, 0}), (IcmpError{11, 1}));
  EXPECT_EQ(icmp_counterpart(Icmpv6Error::unknown_next_header(40)), kIcmpProtocolUnreachable);
  EXPECT_EQ(icmp_counterpart(Icmpv6Error::unknown_option(40)), std::nullopt);
}

TEST(IcmpCounterpart, OthersHaveNone) {
  for (const std::uint8_t type : {0, 4, 5, 8, 13}) {
    EXPECT_EQ(icmpv6_counterpart({type, 0}, 100), std::nullopt) << int{type};
  }
  EXPECT_EQ(icmpv6_counterpart({12, 1}, 100), std::nullopt);
  EXPECT_EQ(icmp_counterpart({128, 0, 0}), std::nullopt);
}

}  // namespace
}  // namespace millrace
