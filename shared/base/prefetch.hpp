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
  for (std::size_t at = 0; at < bytes; at += 64) {
    prefetch_for_write(static_cast<const char*>(first) + at);
  }
}

}  // namespace millrace
