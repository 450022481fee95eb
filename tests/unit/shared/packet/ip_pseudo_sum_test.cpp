// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/ip_pseudo_sum.hpp"

#include <gtest/gtest.h>

#include <array>

namespace millrace::ip_pseudo_sum_test {
namespace {

/// All words of the pseudo header, one after the other.
std::uint16_t slow_sum(std::span<const std::byte> addresses, std::uint8_t protocol,
                       std::uint32_t bytes) {
  std::uint32_t sum = protocol + (bytes >> 16) + (bytes & 0xffff);
  for (std::size_t i = 0; i < addresses.size(); i += 2) {
    sum += std::to_integer<std::uint32_t>(addresses[i]) << 8 |
           std::to_integer<std::uint32_t>(addresses[i + 1]);
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

template <std::size_t kBytes>
std::array<std::byte, kBytes> header(unsigned first) {
  std::array<std::byte, kBytes> ip;
  for (std::size_t i = 0; i < kBytes; ++i) ip[i] = static_cast<std::byte>(i * 37 + 11);
  ip[0] = static_cast<std::byte>(first);
  return ip;
}

TEST(IpPseudoSum, IsOfTheAddressesThatTheHeaderHas) {
  const auto ipv4 = header<20>(0x45);
  EXPECT_EQ(ip_pseudo_sum(ipv4, 6, 1460), slow_sum(std::span(ipv4).subspan(12, 8), 6, 1460));
  const auto ipv6 = header<40>(0x60);
  EXPECT_EQ(ip_pseudo_sum(ipv6, 17, 65535), slow_sum(std::span(ipv6).subspan(8, 32), 17, 65535));
}

}  // namespace
}  // namespace millrace::ip_pseudo_sum_test
