// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/route/own_filter.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace millrace::own_filter_test {
namespace {

/// What a router with so many ports has in its filter: of each network its own address and that of
/// the broadcast.
std::vector<std::uint32_t> addresses_of(std::uint32_t ports) {
  std::vector<std::uint32_t> own;
  for (std::uint32_t port = 0; port < ports; ++port) {
    own.push_back(0x0a000001 + (port << 8));
    own.push_back(0x0a0000ff + (port << 8));
  }
  return own;
}

std::vector<Ipv6Address> ipv6_addresses_of(std::uint32_t ports) {
  std::vector<Ipv6Address> own;
  for (std::uint64_t port = 0; port < ports; ++port) own.push_back({0x20010db8'00000000 | port, 1});
  return own;
}

/// Of 100,000 sources so many parts of 10,000 are taken for our own.
template <typename Source>
std::uint32_t taken(const OwnFilter& filter, Source source) {
  std::uint32_t count = 0;
  for (std::uint32_t number = 0; number < 100'000; ++number) {
    count += filter.may_have(OwnFilter::hash(source(number))) ? 1 : 0;
  }
  return count / 10;
}

TEST(OwnFilter, HasWhatWasAdded) {
  const std::vector<std::uint32_t> own = addresses_of(128);
  const OwnFilter filter = own_filter_of(own);
  for (const std::uint32_t address : own) EXPECT_TRUE(filter.may_have(OwnFilter::hash(address)));
  const std::vector<Ipv6Address> ipv6 = ipv6_addresses_of(128);
  const OwnFilter ipv6_filter = own_filter_of(ipv6);
  for (const Ipv6Address& address : ipv6) {
    EXPECT_TRUE(ipv6_filter.may_have(OwnFilter::hash(address)));
  }
  EXPECT_FALSE(OwnFilter{}.may_have(OwnFilter::hash(own.front())));
}

TEST(OwnFilter, FewSourcesAreTakenForOurs) {
  std::mt19937 random(1);
  const auto any = [&](std::uint32_t) { return static_cast<std::uint32_t>(random()); };
  EXPECT_LE(taken(own_filter_of(addresses_of(2)), any), 1u);
  EXPECT_LE(taken(own_filter_of(addresses_of(16)), any), 10u);
  EXPECT_LE(taken(own_filter_of(addresses_of(64)), any), 400u);
}

TEST(OwnFilter, FewHostsOfOurNetworksAreTakenForOurs) {
  // Of 2 and of 16 networks of 256 addresses, our two of which are 80 in 10,000.
  for (const std::uint32_t ports : {2u, 16u}) {
    const OwnFilter filter = own_filter_of(addresses_of(ports));
    const auto host = [&](std::uint32_t number) { return 0x0a000000 + number % (ports << 8); };
    EXPECT_LE(taken(filter, host), 95u) << ports;
    EXPECT_GE(taken(filter, host), 75u) << ports;
  }
}

TEST(OwnFilter, FewSourcesOfIpv6AreTakenForOurs) {
  std::mt19937_64 random(1);
  for (const std::uint32_t ports : {2u, 16u, 48u}) {
    const OwnFilter filter = own_filter_of(ipv6_addresses_of(ports));
    const auto any = [&](std::uint32_t) { return Ipv6Address{random(), random()}; };
    const auto host = [&](std::uint32_t number) {
      return Ipv6Address{std::uint64_t{0x20010db8'00000000} | number % ports, 2 + number / ports};
    };
    const auto interface = [&](std::uint32_t number) {
      return Ipv6Address{std::uint64_t{0x20010db8'00000000} | number % ports,
                         random() | 0x02000000};
    };
    EXPECT_LE(taken(filter, any), 60u) << ports;
    EXPECT_LE(taken(filter, host), 60u) << ports;
    EXPECT_LE(taken(filter, interface), 60u) << ports;
  }
}

}  // namespace
}  // namespace millrace::own_filter_test
