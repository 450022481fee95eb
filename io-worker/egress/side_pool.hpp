// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "shared/actor/context.hpp"

namespace millrace {

/// The egress's own buffers: for copies, fragments, packets that wait, and frames that functions
/// made. Only this egress takes and frees them. A free buffer is marked as in its hand, a used
/// buffer `side` or, in a transmit queue that holds buffers, `tx`. A successor finds the free
/// buffers by their marks.
class SidePool {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// Scans the marks; the entry has been granted, so nothing else changes them.
  explicit SidePool(const ActorContext& context);
  /// An empty buffer, marked `side`; kNone without one.
  std::uint32_t take() noexcept;
  void put(std::uint32_t buffer) noexcept;
  /// True for a buffer of this pool, or of another egress's.
  bool is_side(std::uint32_t buffer) const noexcept {
    return is_side_buffer(*context_.plan, buffer);
  }
  /// Bytes of a packet that fit into a buffer.
  std::uint32_t room() const noexcept { return area_.stride - kBufferHeadroom; }
  /// The start of the packet: kBufferHeadroom after the start of the buffer.
  std::byte* data(std::uint32_t buffer) const noexcept {
    return area_.at(buffer) + kBufferHeadroom;
  }
  std::uint32_t free() const noexcept { return count_; }
  bool all_here() const noexcept { return count_ == size_; }

 private:
  void find_free() noexcept;

  ActorContext context_;
  BufferArea area_;
  std::uint32_t first_, size_;
  std::uint32_t hand_, used_;  ///< marks
  std::vector<std::uint32_t> stack_;
  std::uint32_t count_ = 0;
};

}  // namespace millrace
