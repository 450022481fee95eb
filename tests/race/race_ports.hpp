// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "io-worker/ports/port.hpp"
#include "shared/layout/segment.hpp"
#include "tests/race/race_world.hpp"

/// The two ports of the race test. `holds`: they keep buffers as a driver's rings do, and look
/// whether another has had them meanwhile.

namespace millrace::race {

/// Packets whose first bytes are their ordinal and a flow that follows from it; ends when the
/// traffic ends.
class NumberedRx : public RxQueue {
 public:
  NumberedRx(Arena& arena, std::uint32_t stream, bool holds);
  std::uint32_t poll(BufferSource& pool, std::span<RxPacket> out) noexcept override;
  void resume(std::uint64_t first_wanted) noexcept override { next_ = first_wanted; }
  bool exhausted() const noexcept override;
  std::uint64_t next_ready_ns() const noexcept override { return 50'000; }
  int wait_descriptor() noexcept override { return -1; }
  std::uint32_t held() const noexcept override { return held_; }

 private:
  static constexpr std::uint32_t kDepth = 32;
  std::uint32_t take(BufferSource& pool, std::span<std::uint32_t> out) noexcept;
  void fill(BufferSource& pool) noexcept;

  Arena& arena_;
  std::uint32_t stream_;
  bool holds_;
  std::uint64_t next_ = 0;
  std::array<std::uint32_t, kDepth> ring_{};
  std::uint32_t first_ = 0, held_ = 0;
};

/// Notes each ordinal that leaves.
class WitnessTx : public TxQueue {
 public:
  WitnessTx(Arena& arena, const SegmentView& segment, std::uint32_t stream, bool holds);
  std::uint32_t send(std::span<const TxPacket> packets) noexcept override;
  /// As a driver's queue does; the other one gets its packets one by one.
  bool reads_batches() const noexcept override { return holds_; }
  std::uint32_t send_of(const Batch& batch,
                        std::span<const std::uint16_t> packets) noexcept override;
  bool waits_when_full() const noexcept override { return holds_; }
  bool failed() const noexcept override { return false; }
  void flush() noexcept override {}
  bool holds_buffers() const noexcept override { return holds_; }
  std::uint32_t reclaim(std::span<std::uint32_t> out) noexcept override;

 private:
  static constexpr std::uint32_t kDepth = 64;
  static constexpr std::uint32_t kKept = 16;  ///< given back only when more are behind them
  struct Sent {
    std::uint32_t buffer;
    const std::byte* data;
    std::uint64_t ordinal;
  };
  void note(const TxPacket& packet) noexcept;
  void note_ordinal(const TxPacket& packet, std::uint64_t ordinal) noexcept;

  Arena& arena_;
  SegmentView segment_;
  std::uint32_t stream_;
  bool holds_;
  std::array<Sent, kDepth> ring_{};
  std::uint32_t first_ = 0, held_ = 0;
};

}  // namespace millrace::race
