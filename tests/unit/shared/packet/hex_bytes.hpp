// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

/// The bytes of lower-case hexadecimal digits, in a block of exactly their size.
inline std::vector<std::byte> bytes_of_hex(std::string_view hex) {
  std::vector<std::byte> bytes(hex.size() / 2);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    bytes[at] = static_cast<std::byte>(std::stoi(std::string(hex.substr(at * 2, 2)), nullptr, 16));
  }
  return bytes;
}

inline std::string hex_of_bytes(std::span<const std::byte> bytes) {
  std::string hex;
  for (const std::byte byte : bytes) {
    hex += "0123456789abcdef"[std::to_integer<unsigned>(byte) / 16];
    hex += "0123456789abcdef"[std::to_integer<unsigned>(byte) % 16];
  }
  return hex;
}

}  // namespace millrace
