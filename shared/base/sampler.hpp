// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace millrace {

/// Chooses one of so many things, each with the same chance whatever came before it: things that
/// come in a fixed order, as the lanes of a turn do, are chosen alike, which a count would not do.
/// Three instructions (a linear congruential generator, of which the high bits are good).
class Sampler {
 public:
  explicit Sampler(std::uint64_t seed) : state_(seed) {}
  /// One of `each` from now on; 1, as at the beginning: all.
  void take_one_of(std::uint32_t each) noexcept { highest_ = UINT32_MAX / each; }
  /// Whether the next one is chosen.
  bool takes() noexcept {
    // Knuth's MMIX.
    state_ = state_ * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
    return state_ >> 32 <= highest_;
  }

 private:
  std::uint64_t state_;
  std::uint32_t highest_ = UINT32_MAX;
};

}  // namespace millrace
