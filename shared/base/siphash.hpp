// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace millrace {

/// SipHash-1-3 (Aumasson and Bernstein, 2012): without the key one cannot choose inputs
/// that collide. 64 bits of the 128-bit key in each number. Some 1 ns for each 8 bytes.
inline std::uint64_t siphash13(std::span<const std::byte> bytes,
                               const std::array<std::uint64_t, 2>& key) noexcept {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t a = key[0] ^ 0x736f6d6570736575, b = key[1] ^ 0x646f72616e646f6d;
  std::uint64_t c = key[0] ^ 0x6c7967656e657261, d = key[1] ^ 0x7465646279746573;
  const auto round = [&] {
    a += b, c += d;
    b = std::rotl(b, 13) ^ a, d = std::rotl(d, 16) ^ c;
    a = std::rotl(a, 32);
    c += b, a += d;
    b = std::rotl(b, 17) ^ c, d = std::rotl(d, 21) ^ a;
    c = std::rotl(c, 32);
  };
  const auto take = [&](std::uint64_t word) {
    d ^= word;
    round();
    a ^= word;
  };
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    take(word);
  }
  std::uint64_t last = bytes.size() << 56;
  for (std::size_t i = 0; at + i < bytes.size(); ++i) {
    last |= std::to_integer<std::uint64_t>(bytes[at + i]) << 8 * i;
  }
  take(last);
  c ^= 0xff;
  round(), round(), round();
  return a ^ b ^ c ^ d;
}

}  // namespace millrace
