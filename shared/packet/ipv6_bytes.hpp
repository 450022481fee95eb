// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "shared/base/mac.hpp"

namespace millrace {

/// An IPv6 address in network order, as it lies in a packet.
using Ipv6Bytes = std::array<std::uint8_t, 16>;

/// ff02::1 and ff02::2 (RFC 4291 2.7.1).
inline constexpr Ipv6Bytes kIpv6AllNodes = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
inline constexpr Ipv6Bytes kIpv6AllRouters = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};

/// :: (RFC 4291 2.5.2).
constexpr bool is_unspecified(const Ipv6Bytes& address) noexcept { return address == Ipv6Bytes{}; }

/// ::1 (RFC 4291 2.5.3).
constexpr bool is_loopback(const Ipv6Bytes& address) noexcept {
  return address == Ipv6Bytes{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
}

/// fe80::/10 (RFC 4291 2.5.6).
constexpr bool is_link_local(const Ipv6Bytes& address) noexcept {
  return address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
}

/// ff00::/8 (RFC 4291 2.7).
constexpr bool is_multicast(const Ipv6Bytes& address) noexcept { return address[0] == 0xff; }

/// ff02::1:ffXX:XXXX with the last three bytes of `address` (RFC 4291 2.7.1).
constexpr Ipv6Bytes solicited_node(const Ipv6Bytes& address) noexcept {
  return {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, address[13], address[14], address[15]};
}

/// An address of ff02::1:ff00:0/104.
constexpr bool is_solicited_node(const Ipv6Bytes& address) noexcept {
  return address == solicited_node(address);
}

/// 33:33 and the last four bytes of `address`, a multicast address (RFC 2464 7).
constexpr MacAddress multicast_mac(const Ipv6Bytes& address) noexcept {
  return {0x33, 0x33, address[12], address[13], address[14], address[15]};
}

/// fe80::/64 and the modified EUI-64 of `mac` (RFC 4291 appendix A, RFC 2464 5).
constexpr Ipv6Bytes link_local_of(const MacAddress& mac) noexcept {
  return {
      0xfe,   0x80,   0,    0,    0,      0,      0,     0, static_cast<std::uint8_t>(mac[0] ^ 2),
      mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
}

/// `address` with all bits behind the first `length` (0 to 128) cleared.
constexpr Ipv6Bytes ipv6_prefix_of(const Ipv6Bytes& address, std::uint8_t length) noexcept {
  Ipv6Bytes prefix{};
  for (std::size_t at = 0; at < prefix.size(); ++at) {
    const int bits = std::clamp(int{length} - static_cast<int>(at) * 8, 0, 8);
    prefix[at] = static_cast<std::uint8_t>(address[at] & (0xff00 >> bits));
  }
  return prefix;
}

}  // namespace millrace
