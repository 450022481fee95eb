// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "shared/base/check.hpp"

namespace millrace {

/// Puts batches back in sequence, for every (stream, lane). As large as the slots of a stream, so
/// it cannot overflow and needs no time-out: a hole exists only while an actor owns that batch. The
/// window is memory of this process. Its batches are held by this actor, so recovery finds them by
/// owner word and state, and a successor gets them again.
class OrderWindow {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// `depth`: most slots that one stream can have in flight, stand-ins included.
  OrderWindow(std::uint32_t stream_count, std::uint32_t lane_count, std::uint32_t depth)
      : lane_count_(lane_count),
        mask_(std::bit_ceil(depth + 1) - 1),
        slot_(std::size_t{stream_count} * lane_count * (mask_ + 1), kNone),
        waiting_in_(std::size_t{stream_count} * lane_count, 0) {}

  /// Puts a batch in. `next`: the sequence number to be released next, at most `sequence`.
  void insert(std::uint32_t stream, std::uint32_t lane, std::uint64_t next, std::uint64_t sequence,
              std::uint32_t slot) noexcept {
    MILLRACE_CHECK(sequence >= next && sequence - next <= mask_);
    std::uint32_t& place = at(stream, lane, sequence);
    MILLRACE_CHECK(place == kNone && slot != kNone);
    place = slot;
    ++waiting_;
    ++waiting_in_[std::size_t{stream} * lane_count_ + lane];
  }
  /// Takes the batch of `sequence` out, or kNone when it is not here.
  std::uint32_t remove(std::uint32_t stream, std::uint32_t lane, std::uint64_t sequence) noexcept {
    std::uint32_t& place = at(stream, lane, sequence);
    const std::uint32_t slot = place;
    if (slot != kNone) {
      place = kNone;
      --waiting_;
      --waiting_in_[std::size_t{stream} * lane_count_ + lane];
    }
    return slot;
  }
  std::uint32_t waiting() const noexcept { return waiting_; }
  std::uint32_t waiting(std::uint32_t stream, std::uint32_t lane) const noexcept {
    return waiting_in_[std::size_t{stream} * lane_count_ + lane];
  }

 private:
  std::uint32_t& at(std::uint32_t stream, std::uint32_t lane, std::uint64_t sequence) noexcept {
    return slot_[(std::size_t{stream} * lane_count_ + lane) * (mask_ + 1) + (sequence & mask_)];
  }
  std::uint32_t lane_count_;
  std::uint32_t mask_;
  std::uint32_t waiting_ = 0;
  std::vector<std::uint32_t> slot_;
  std::vector<std::uint32_t> waiting_in_;  ///< by stream and lane
};

}  // namespace millrace
