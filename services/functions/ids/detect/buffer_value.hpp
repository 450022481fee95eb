// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace millrace {

/// What there is of a buffer at this moment. Borrowed.
struct BufferValue {
  std::span<const std::byte> bytes;
  std::uint64_t base = 0;   ///< bytes of the buffer in front of these, which are no longer there
  std::uint32_t seen = 0;   ///< of `bytes`, those at its begin that were looked at before
  bool is_complete = true;  ///< nothing will follow
};

/// By memcmp(), which compilers do not make of std::ranges::equal() over std::byte.
inline bool is_equal(std::span<const std::byte> one, std::span<const std::byte> other) noexcept {
  return one.size() == other.size() &&
         (one.empty() || std::memcmp(one.data(), other.data(), one.size()) == 0);
}

}  // namespace millrace
