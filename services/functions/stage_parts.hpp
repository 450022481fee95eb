// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "services/functions/function_in_parts.hpp"
#include "shared/base/prefetch.hpp"

/// How a function works through the packets of a batch: some at a time, while the lines of those
/// behind them are on their way.

namespace millrace {

/// Packets whose lines are on their way while those before them are worked on: as many as a core
/// has line fill buffers (16 since Ice Lake); more would only stop it.
inline constexpr std::size_t kPacketsAhead = 16;

/// Packets of a batch, and where they lie.
class Part {
 public:
  /// The next ones of `rest`, at most `most` of them, which is kFramesMax at most.
  void take(const Batch& batch, std::span<const std::uint16_t>& rest, std::size_t most) noexcept {
    packets_ = rest.first(std::min(rest.size(), most));
    rest = rest.subspan(packets_.size());
    if (!packets_.empty()) locate_frames(batch, packets_, frames_);
  }
  bool empty() const noexcept { return packets_.empty(); }
  Selection packets() const noexcept { return {packets_}; }
  const Frames& frames() const noexcept { return frames_; }

  /// Asks for the first `bytes_max` bytes of packets [from, to) of the part, of those that there
  /// are.
  void prefetch(const Batch& batch, std::size_t from, std::size_t to,
                std::uint32_t bytes_max) const noexcept {
    if (bytes_max == 0) return;
    to = std::min(to, packets_.size());
    if (bytes_max <= kCacheLine) {
      for (; from < to; ++from) prefetch_for_write(frames_[from]);
      return;
    }
    for (; from < to; ++from) {
      const std::byte* const frame = frames_[from];
      const std::uint32_t bytes = std::min<std::uint32_t>(bytes_max, batch.length[packets_[from]]);
      // Headers are mostly changed next: fetched with ownership, or each store would wait for it.
      if (bytes != 0) prefetch_for_write(frame);
      for (std::uint32_t at = kCacheLine; at < bytes; at += kCacheLine)
        __builtin_prefetch(frame + at);
    }
  }

 private:
  std::span<const std::uint16_t> packets_;
  Frames frames_;
};

/// compute() of all selected packets, some at a time; the lines of the next ones are on their way.
/// `prefetch_bytes`: from each frame's start; 0: they are there.
inline void compute_all(Function& function, const Batch& batch, Selection selected,
                        std::span<std::uint32_t> results, std::uint32_t prefetch_bytes) noexcept {
  if (prefetch_bytes == 0) return function.compute(batch, selected, results);
  std::array<Part, 2> parts;
  std::span<const std::uint16_t> rest = selected.packets;
  Part* now = parts.data();
  Part* next = now + 1;
  now->take(batch, rest, kPacketsAhead);
  now->prefetch(batch, 0, kPacketsAhead, prefetch_bytes);
  while (!now->empty()) {
    next->take(batch, rest, kPacketsAhead);
    next->prefetch(batch, 0, kPacketsAhead, prefetch_bytes);
    function.compute(batch, now->packets(), results);
    std::swap(now, next);
  }
}

/// The same, and finish of each part behind its compute. Twice as many packets at a time: the lines
/// of half of the next ones are asked for in front of either call, so that they take as long as
/// what is done meanwhile. `call`: what finish is told; its packets are all that are selected, and
/// afterwards those of the last part.
inline void run_in_parts(FunctionInParts& function, FinishContext& call,
                         std::span<std::uint32_t> results, std::uint32_t prefetch_bytes) noexcept {
  constexpr std::size_t kMost = 2 * kPacketsAhead;
  static_assert(kMost <= kFramesMax);
  const Batch& batch = call.batch;
  std::array<Part, 2> parts;
  std::span<const std::uint16_t> rest = call.selected.packets;
  Part* now = parts.data();
  Part* next = now + 1;
  now->take(batch, rest, kMost);
  now->prefetch(batch, 0, kMost, prefetch_bytes);
  while (!now->empty()) {
    next->take(batch, rest, kMost);
    next->prefetch(batch, 0, kPacketsAhead, prefetch_bytes);
    function.compute_part(batch, now->packets(), now->frames(), results);
    next->prefetch(batch, kPacketsAhead, kMost, prefetch_bytes);
    call.selected = now->packets();
    function.finish_part(call, now->frames());
    std::swap(now, next);
  }
}

}  // namespace millrace
