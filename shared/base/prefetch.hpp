// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Fetching cache lines that another core wrote last. A store to such a line waits for its
/// ownership; asked for ahead of time, many come at once.

namespace millrace {

/// Fetches the line with ownership, for a store to come (PREFETCHW; processors without it do
/// nothing).
inline void prefetch_for_write(const void* at) noexcept {
  asm volatile("prefetchw %0" ::"m"(*static_cast<const char*>(at)));
}

inline void prefetch_lines_for_write(const void* first, std::size_t bytes) noexcept {
  constexpr std::size_t kLine = 64, kAtOnce = 4;
  const char* line = static_cast<const char*>(first);
  std::size_t left = (bytes + kLine - 1) / kLine;
  for (; left >= kAtOnce; left -= kAtOnce, line += kAtOnce * kLine) {
    prefetch_for_write(line);
    prefetch_for_write(line + kLine);
    prefetch_for_write(line + 2 * kLine);
    prefetch_for_write(line + 3 * kLine);
  }
  for (; left != 0; --left, line += kLine) prefetch_for_write(line);
}

}  // namespace millrace
