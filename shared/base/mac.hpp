// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace millrace {

using MacAddress = std::array<std::uint8_t, 6>;

/// "02:00:00:00:00:01", hex digits of either case, nothing around it. False: `mac` is undefined.
bool parse_mac(std::string_view text, MacAddress& mac) noexcept;

}  // namespace millrace
