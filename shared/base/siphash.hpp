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
class Siphash13 {
 public:
  explicit Siphash13(const std::array<std::uint64_t, 2>& key) noexcept
      : a_(key[0] ^ 0x736f6d6570736575),
        b_(key[1] ^ 0x646f72616e646f6d),
        c_(key[0] ^ 0x6c7967656e657261),
        d_(key[1] ^ 0x7465646279746573) {}
  void take(std::uint64_t word) noexcept {
    d_ ^= word;
    round();
    a_ ^= word;
  }
  /// `last`: the bytes behind the last whole word, and the number of all in the uppermost byte.
  std::uint64_t end(std::uint64_t last) noexcept {
    take(last);
    c_ ^= 0xff;
    round(), round(), round();
    return a_ ^ b_ ^ c_ ^ d_;
  }

 private:
  void round() noexcept {
    a_ += b_, c_ += d_;
    b_ = std::rotl(b_, 13) ^ a_, d_ = std::rotl(d_, 16) ^ c_;
    a_ = std::rotl(a_, 32);
    c_ += b_, a_ += d_;
    b_ = std::rotl(b_, 17) ^ c_, d_ = std::rotl(d_, 21) ^ a_;
    c_ = std::rotl(c_, 32);
  }

  std::uint64_t a_, b_, c_, d_;
};

inline std::uint64_t siphash13(std::span<const std::byte> bytes,
                               const std::array<std::uint64_t, 2>& key) noexcept {
  static_assert(std::endian::native == std::endian::little);
  Siphash13 hash(key);
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    hash.take(word);
  }
  std::uint64_t last = bytes.size() << 56;
  for (std::size_t i = 0; at + i < bytes.size(); ++i) {
    last |= std::to_integer<std::uint64_t>(bytes[at + i]) << 8 * i;
  }
  return hash.end(last);
}

/// The same of the bytes of `words`, in half the time.
template <std::size_t kWords>
std::uint64_t siphash13(const std::array<std::uint64_t, kWords>& words,
                        const std::array<std::uint64_t, 2>& key) noexcept {
  Siphash13 hash(key);
  for (const std::uint64_t word : words) hash.take(word);
  return hash.end(std::uint64_t{sizeof words} << 56);
}

}  // namespace millrace
