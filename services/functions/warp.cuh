// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// What the 32 threads of a warp, or some of a block, do together.

namespace millrace {

inline constexpr unsigned kWholeWarp = 0xffffffff;

/// Threads [0, count): of all words of a structure, each some.
template <typename T>
__device__ inline void copy_words(const T& from, T& to, std::uint32_t thread, std::uint32_t count) {
  static_assert(sizeof(T) % sizeof(std::uint32_t) == 0);
  const auto* source = reinterpret_cast<const std::uint32_t*>(&from);
  auto* target = reinterpret_cast<std::uint32_t*>(&to);
  for (std::uint32_t i = thread; i < sizeof(T) / sizeof(std::uint32_t); i += count) {
    target[i] = source[i];
  }
}

/// Sum of `value` over the lanes before this one; `total` receives that of all.
__device__ inline std::uint32_t sum_before(std::uint32_t value, std::uint32_t& total) {
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint32_t sum = value;
  for (std::uint32_t step = 1; step < 32; step *= 2) {
    const std::uint32_t other = __shfl_up_sync(kWholeWarp, sum, step);
    if (lane >= step) sum += other;
  }
  total = __shfl_sync(kWholeWarp, sum, 31);
  return sum - value;
}

}  // namespace millrace
