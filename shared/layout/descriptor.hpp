// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// What a link carries: 8 bytes that name a batch. Slot 16 bits, generation 40, stage 8. The
/// producer writes it from what it owns; the consumer checks it against the slot (a mismatch is a
/// bug on a CPU link, and a stale completion on a GPU's).

namespace millrace {

inline constexpr std::uint64_t kGenerationMask = (std::uint64_t{1} << 40) - 1;

struct Descriptor {
  std::uint16_t slot = 0;
  std::uint8_t stage = 0;
  std::uint64_t generation = 0;  ///< 40 bits
  friend constexpr bool operator==(Descriptor, Descriptor) = default;
  constexpr std::uint64_t word() const {
    return slot | (generation & kGenerationMask) << 16 | std::uint64_t{stage} << 56;
  }
  static constexpr Descriptor from_word(std::uint64_t word) {
    return {static_cast<std::uint16_t>(word), static_cast<std::uint8_t>(word >> 56),
            word >> 16 & kGenerationMask};
  }
};

}  // namespace millrace
