// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "io-worker/ports/port.hpp"
#include "shared/actor/context.hpp"

namespace millrace {

/// The empty buffers of one ingress: a private stack in front of the return rings, so that the
/// newest, still cached, goes out first. Each buffer in it is marked as in the ingress's hand;
/// after a restart the stack is filled by scanning the marks. No other process takes buffers.
class BufferPool final : public BufferSource {
 public:
  /// Scans the marks; the entry has been granted, so no other changes them.
  BufferPool(const ActorContext& context, std::uint32_t stream);
  std::uint32_t take(std::span<std::uint32_t> out) noexcept override;
  bool take_exactly(std::uint32_t buffer) noexcept override;
  std::uint32_t take_run(std::uint32_t first, std::uint32_t count) noexcept override;
  void give_back(std::span<const std::uint32_t> buffers) noexcept override;
  void hold(std::span<const std::uint32_t> buffers) noexcept override;
  BufferArea area() const noexcept override { return context_.segment.buffers(); }
  std::uint32_t first() const noexcept override { return first_; }
  std::uint32_t count() const noexcept override { return count_; }
  /// Puts buffers that the egress has given back on top, up to kBurstMax of them. Called in each
  /// round with packets: if the ring were read only when the stack is empty, the ring would be the
  /// pool, and all buffers would pass through the cache in turn.
  void collect_newest() noexcept;
  /// Empty buffers here and in the return rings; counted when asked in exact mode.
  std::uint32_t free() const noexcept;

 private:
  void collect() noexcept;
  void collect_from(SpscRing<std::uint32_t>& ring) noexcept;
  void put(std::span<const std::uint32_t> buffers) noexcept;

  ActorContext context_;
  std::uint32_t first_, count_;
  std::uint32_t hand_;  ///< mark of a buffer in this pool
  std::uint32_t held_;  ///< mark of a buffer in the receive queue
  std::array<SpscRing<std::uint32_t>, kReturnerCount> returned_;
  std::vector<std::uint32_t> stack_;
  std::uint32_t stacked_ = 0;
  bool exact_ = false;  ///< take_exactly or take_run was called: flags instead of the stack
  std::vector<std::uint8_t> free_;  ///< by buffer - first_, 1: free (in exact mode)
};

}  // namespace millrace
