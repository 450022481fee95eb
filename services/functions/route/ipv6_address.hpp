// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace {

/// Host byte order: `high` holds the first eight bytes.
struct Ipv6Address {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Ipv6Address&) const = default;

  /// Byte `at` of the address, 0..15.
  constexpr std::uint32_t byte(std::uint32_t at) const noexcept {
    return static_cast<std::uint32_t>((at < 8 ? high : low) >> (56 - at % 8 * 8)) & 255;
  }
};
static_assert(sizeof(Ipv6Address) == 16);

/// The first `length` bits set.
constexpr Ipv6Address ipv6_mask(std::uint32_t length) noexcept {
  const auto upper = [](std::uint32_t bits) {
    return bits == 0 ? 0 : ~std::uint64_t{0} << (64 - bits);
  };
  return {upper(length < 64 ? length : 64), upper(length < 64 ? 0 : length - 64)};
}

constexpr Ipv6Address operator&(Ipv6Address a, Ipv6Address b) noexcept {
  return {a.high & b.high, a.low & b.low};
}

/// As it lies in a packet.
constexpr std::array<std::uint8_t, 16> ipv6_bytes(Ipv6Address address) noexcept {
  std::array<std::uint8_t, 16> bytes{};
  for (std::uint32_t at = 0; at < bytes.size(); ++at) {
    bytes[at] = static_cast<std::uint8_t>(address.byte(at));
  }
  return bytes;
}
constexpr Ipv6Address ipv6_address(const std::array<std::uint8_t, 16>& bytes) noexcept {
  Ipv6Address address{};
  for (std::size_t i = 0; i < 8; ++i) {
    address.high = address.high << 8 | bytes[i];
    address.low = address.low << 8 | bytes[i + 8];
  }
  return address;
}

/// An address in one of the forms of RFC 4291 2.2, nothing around it, no zone.
bool parse_ipv6(std::string_view text, Ipv6Address& address);
/// As in RFC 5952.
std::string ipv6_text(Ipv6Address address);

/// fe80::/10 (RFC 4291 2.5.6).
constexpr bool is_link_local(Ipv6Address address) noexcept {
  return address.high >> 54 == 0xfe80 >> 6;
}

/// An address that no packet may be forwarded from or to: :: (RFC 4291 2.5.2), ::1 (2.5.3),
/// fe80::/10 (2.5.6), ff00::/8 (2.7; there is no multicast routing here), ::ffff:0:0/96 (RFC 6890).
constexpr bool never_routed(Ipv6Address address) noexcept {
  const bool special = (address.low <= 1) | (address.low >> 32 == 0xffff);
  return ((address.high == 0) & special) | is_link_local(address) | (address.high >> 56 == 0xff);
}

}  // namespace millrace
