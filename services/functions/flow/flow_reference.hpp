// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "services/functions/flow/flow_table.hpp"

/// A reference in a bucket of FlowTable, 32 bits: the flow's number + 1, its direction, and a tag
/// of the tuple's hash. 0: none. For flow_table.cpp.

namespace millrace {

inline constexpr std::uint32_t kReferences = kCacheLine / sizeof(std::uint32_t);  ///< of a bucket
inline constexpr std::uint32_t kDirectionBit = 1u << FlowTable::kNumberBits;
inline constexpr std::uint32_t kTagShift = FlowTable::kNumberBits + 1;  ///< 7 bits, not all 0

constexpr std::uint32_t flow_of(std::uint32_t reference) noexcept {
  return (reference & (kDirectionBit - 1)) - 1;
}
constexpr std::uint8_t direction_of(std::uint32_t reference) noexcept {
  return static_cast<std::uint8_t>(reference >> FlowTable::kNumberBits & 1);
}

/// Bit i: reference i of the bucket is zero.
inline std::uint32_t zeros_of(const std::uint32_t* bucket) noexcept {
  static_assert(kReferences == 16);
  const auto eight = [](const std::uint32_t* at) {
    const __m256i references = _mm256_load_si256(reinterpret_cast<const __m256i*>(at));
    const __m256i is_zero = _mm256_cmpeq_epi32(references, _mm256_setzero_si256());
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(is_zero)));
  };
  return eight(bucket) | eight(bucket + 8) << 8;
}

}  // namespace millrace
