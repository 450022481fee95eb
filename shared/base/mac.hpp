// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace {

using MacAddress = std::array<std::uint8_t, 6>;

/// All stations of a link.
inline constexpr MacAddress kBroadcastMac = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

/// Of several stations, kBroadcastMac among them (IEEE 802 8.2.2: the I/G bit).
constexpr bool is_group(const MacAddress& mac) noexcept { return (mac[0] & 1) != 0; }

/// Of one station: no group, and not all zero.
constexpr bool is_station(const MacAddress& mac) noexcept {
  return !is_group(mac) && mac != MacAddress{};
}

/// "02:00:00:00:00:01", hex digits of either case, nothing around it. False: `mac` is undefined.
bool parse_mac(std::string_view text, MacAddress& mac) noexcept;
/// The same text, hex digits in lower case.
std::string mac_text(const MacAddress& mac);

}  // namespace millrace
