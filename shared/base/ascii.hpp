// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

/// Letters of protocols and files, whatever the locale is. Bytes above 127 stay as they are.

namespace millrace {

constexpr char ascii_lower(char letter) noexcept {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

constexpr unsigned char ascii_lower(unsigned char byte) noexcept {
  return byte >= 'A' && byte <= 'Z' ? static_cast<unsigned char>(byte | 0x20u) : byte;
}

inline std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) letter = ascii_lower(letter);
  return lower;
}

constexpr bool is_ascii_alnum(char letter) noexcept {
  const char low = ascii_lower(letter);
  return (low >= 'a' && low <= 'z') || (letter >= '0' && letter <= '9');
}

constexpr bool starts_with_nocase(std::string_view text, std::string_view begin) noexcept {
  return text.size() >= begin.size() &&
         std::equal(begin.begin(), begin.end(), text.begin(),
                    [](char a, char b) { return ascii_lower(a) == ascii_lower(b); });
}

}  // namespace millrace
