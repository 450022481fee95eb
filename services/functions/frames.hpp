// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/layout/batch.hpp"

/// Where the frames of many packets are, computed four at a time, before the first of them is read.

namespace millrace {

inline constexpr std::size_t kFramesMax = 64;  ///< packets that are treated at once

struct alignas(32) Frames {
  std::uint64_t address[kFramesMax];  ///< numbers, because vectors compute them
  std::byte* operator[](std::size_t i) const noexcept {
    return reinterpret_cast<std::byte*>(address[i]);
  }
};

/// Whether packets, which ascend and are not none, have consecutive places in the columns: those of
/// a batch without drops do.
inline bool side_by_side(std::span<const std::uint16_t> packets) noexcept {
  return packets.size() == packets.back() - packets.front() + std::size_t{1};
}

/// frames[i] is batch.data(packets[i]) afterwards, for 1..kFramesMax packets, which ascend.
void locate_frames(const Batch& batch, std::span<const std::uint16_t> packets,
                   Frames& frames) noexcept;

/// Calls `work` with packets, which ascend, and where they lie, at most kFramesMax at a time.
template <typename Work>
void for_each_part(const Batch& batch, std::span<const std::uint16_t> packets,
                   Work&& work) noexcept {
  Frames frames;
  while (!packets.empty()) {
    const std::span<const std::uint16_t> some = packets.first(std::min(packets.size(), kFramesMax));
    packets = packets.subspan(some.size());
    locate_frames(batch, some, frames);
    work(some, frames);
  }
}

}  // namespace millrace
