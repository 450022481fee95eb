// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace millrace {

/// Stores a word of a live image, which readers may load at any moment: what was stored before is
/// visible with it.
inline void store_live(std::uint32_t& word, std::uint32_t value) noexcept {
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
}

}  // namespace millrace
