// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/base/mac.hpp"

#include <charconv>
#include <cstdio>

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

std::string mac_text(const MacAddress& mac) {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
                mac[4], mac[5]);
  return text;
}

}  // namespace millrace
