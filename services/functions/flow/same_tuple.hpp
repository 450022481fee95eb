// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <immintrin.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "services/functions/flow/flow_tuple.hpp"

namespace millrace {

/// What `==` says, in words of eight bytes: for tables that ask it several times for each packet.
/// (Compilers compare the members one by one, addresses by a call.)
template <typename Object>
constexpr bool has_same_words(const Object& one, const Object& other) noexcept {
  using Words = std::array<std::uint64_t, sizeof(Object) / sizeof(std::uint64_t)>;
  const Words here = std::bit_cast<Words>(one), there = std::bit_cast<Words>(other);
  std::uint64_t differs = 0;
  for (std::size_t i = 0; i < here.size(); ++i) differs |= here[i] ^ there[i];
  return differs == 0;
}
inline bool is_same_tuple(const FlowTuple& one, const FlowTuple& other) noexcept {
  constexpr std::size_t kRestAt = sizeof(__m256i);
  static_assert(sizeof(FlowTuple) == kRestAt + sizeof(std::uint64_t));
  const auto addresses = [](const FlowTuple& tuple) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&tuple));
  };
  const auto rest = [](const FlowTuple& tuple) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const std::byte*>(&tuple) + kRestAt, sizeof word);
    return word;
  };
  const __m256i differs = _mm256_xor_si256(addresses(one), addresses(other));
  return _mm256_testz_si256(differs, differs) != 0 && rest(one) == rest(other);
}
constexpr bool is_same_address(const Ipv6Bytes& one, const Ipv6Bytes& other) noexcept {
  return has_same_words(one, other);
}

}  // namespace millrace
