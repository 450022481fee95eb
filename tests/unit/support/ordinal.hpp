// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "shared/layout/batch.hpp"

namespace millrace::test {

/// Packets of these tests hold their number in bytes 16..23.
inline std::uint64_t ordinal_of(const Batch& batch, std::uint32_t packet) {
  std::uint64_t ordinal = 0;
  std::memcpy(&ordinal, batch.data(packet) + 16, sizeof ordinal);
  return ordinal;
}

}  // namespace millrace::test
