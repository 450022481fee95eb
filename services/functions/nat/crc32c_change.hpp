// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nmmintrin.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace {

/// By what to XOR the CRC32c of some bytes, one's complement or not, when `difference` is XORed
/// onto the part of them that has `behind` bytes behind it: the CRC is linear in them. Takes a step
/// for each 8 bytes.
inline std::uint32_t crc32c_change(std::span<const std::byte> difference,
                                   std::size_t behind) noexcept {
  std::uint64_t crc = 0;
  for (const std::byte byte : difference) {
    crc = _mm_crc32_u8(static_cast<std::uint32_t>(crc), std::to_integer<std::uint8_t>(byte));
  }
  for (; behind >= 8; behind -= 8) crc = _mm_crc32_u64(crc, 0);
  for (; behind > 0; --behind) crc = _mm_crc32_u8(static_cast<std::uint32_t>(crc), 0);
  return static_cast<std::uint32_t>(crc);
}

}  // namespace millrace
