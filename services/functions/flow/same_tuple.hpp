// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>

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
constexpr bool is_same_tuple(const FlowTuple& one, const FlowTuple& other) noexcept {
  return has_same_words(one, other);
}
constexpr bool is_same_address(const Ipv6Bytes& one, const Ipv6Bytes& other) noexcept {
  return has_same_words(one, other);
}

}  // namespace millrace
