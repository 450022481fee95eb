// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "shared/packet/wire_bytes.hpp"

/// Reads a message of length-prefixed parts from its begin. What does not lie within it is zero or
/// cut, and the cursor is no longer whole.

namespace millrace {

class WireCursor {
 public:
  explicit WireCursor(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

  bool is_empty() const noexcept { return rest_.empty(); }
  std::size_t size() const noexcept { return rest_.size(); }
  bool is_whole() const noexcept { return is_whole_; }

  std::uint8_t u8() noexcept {
    const auto bytes = take(1);
    return bytes.size() == 1 ? wire_bytes::u8(bytes, 0) : 0;
  }
  std::uint16_t u16() noexcept {
    const auto bytes = take(2);
    return bytes.size() == 2 ? wire_bytes::u16(bytes, 0) : 0;
  }
  std::size_t u24() noexcept {
    const auto bytes = take(3);
    return bytes.size() == 3
               ? std::size_t{wire_bytes::u8(bytes, 0)} << 16 | wire_bytes::u16(bytes, 1)
               : 0;
  }
  std::span<const std::byte> take(std::size_t size) noexcept {
    is_whole_ = is_whole_ && size <= rest_.size();
    const auto taken = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

 private:
  std::span<const std::byte> rest_;
  bool is_whole_ = true;
};

inline std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace millrace
