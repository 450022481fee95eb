// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/layout/batch_arena.hpp"

/// Batches of given frames, and what a function has changed in one.

namespace millrace {

/// Empties `arena` and puts `frames` into it.
inline Batch batch_of(BatchArena& arena, std::span<const std::vector<std::byte>> frames) {
  arena.clear();
  for (const std::vector<std::byte>& frame : frames) arena.add(frame);
  return arena.batch();
}

/// Header and columns but the results, then the packets.
inline std::vector<std::byte> snapshot(const Batch& batch) {
  const auto* slot = reinterpret_cast<const std::byte*>(batch.header);
  std::vector<std::byte> bytes(slot, slot + column_offsets(batch.capacity).result);
  for (std::uint32_t packet = 0; packet < batch.count; ++packet) {
    const std::span<const std::byte> frame = batch.bytes(packet);
    bytes.insert(bytes.end(), frame.begin(), frame.end());
  }
  return bytes;
}

/// The result words of the stage's function `function`.
inline std::vector<std::uint32_t> words(const Batch& batch, std::uint32_t function = 0) {
  const std::span<const std::uint32_t> results = batch.results(function);
  return {results.begin(), results.end()};
}

}  // namespace millrace
