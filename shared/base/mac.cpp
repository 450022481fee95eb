// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/base/mac.hpp"

#include <charconv>

namespace millrace {

bool parse_mac(std::string_view text, MacAddress& mac) noexcept {
  if (text.size() != 17) return false;
  for (std::size_t i = 0; i < mac.size(); ++i) {
    const char* digits = text.data() + i * 3;
    const auto [end, error] = std::from_chars(digits, digits + 2, mac[i], 16);
    if (error != std::errc{} || end != digits + 2 || (i < 5 && digits[2] != ':')) return false;
  }
  return true;
}

}  // namespace millrace
