// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

namespace millrace {

/// FNV-1a over the bytes of the words, low byte first (Fowler, Noll, Vo; offset basis and prime of
/// the 64-bit form). For layout hashes and checksums of images; not against an adversary.
constexpr std::uint64_t fnv1a(std::initializer_list<std::uint64_t> words) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (std::uint64_t word : words) {
    for (int byte = 0; byte < 8; ++byte, word >>= 8) {
      hash = (hash ^ (word & 0xff)) * 0x100000001b3ull;
    }
  }
  return hash;
}

}  // namespace millrace
