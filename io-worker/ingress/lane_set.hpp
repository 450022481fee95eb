// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "shared/base/limits.hpp"

namespace millrace {

/// A set of an ingress's lanes, by their place among them: a round visits these, not all lanes.
class LaneSet {
 public:
  void add(std::uint32_t lane) noexcept { words_[lane / 64] |= std::uint64_t{1} << lane % 64; }
  void remove(std::uint32_t lane) noexcept {
    words_[lane / 64] &= ~(std::uint64_t{1} << lane % 64);
  }
  void clear() noexcept { words_ = {}; }
  /// Calls visit(lane) for each lane, in ascending order, until visit returns false. Lanes added or
  /// removed meanwhile take effect next time. Returns false when visit did.
  template <typename Visit>
  bool each(Visit&& visit) const noexcept {
    for (std::uint32_t word = 0; word < words_.size(); ++word) {
      for (std::uint64_t left = words_[word]; left != 0; left &= left - 1) {
        if (!visit(word * 64 + static_cast<std::uint32_t>(std::countr_zero(left)))) return false;
      }
    }
    return true;
  }

 private:
  std::array<std::uint64_t, (kLaneCountMax + 63) / 64> words_{};
};

}  // namespace millrace
