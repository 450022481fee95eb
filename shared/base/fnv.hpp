// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

namespace millrace {

/// FNV-1a (Fowler, Noll, Vo; offset basis and prime of the 64-bit form): layout hashes, checksums
/// of images, names of what is in files; not against an adversary.
inline constexpr std::uint64_t kFnvBasis = 0xcbf29ce484222325ull;

/// The hash of what `hash` is of, with one more byte behind it.
constexpr std::uint64_t fnv1a_add(std::uint64_t hash, std::uint8_t byte) {
  return (hash ^ byte) * 0x100000001b3ull;
}

/// Of the bytes of the words, low byte first.
constexpr std::uint64_t fnv1a(std::initializer_list<std::uint64_t> words) {
  std::uint64_t hash = kFnvBasis;
  for (std::uint64_t word : words) {
    for (int byte = 0; byte < 8; ++byte, word >>= 8) {
      hash = fnv1a_add(hash, static_cast<std::uint8_t>(word));
    }
  }
  return hash;
}

}  // namespace millrace
