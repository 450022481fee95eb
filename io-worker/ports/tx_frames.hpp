// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io-worker/ports/segment_run.hpp"
#include "shared/base/limits.hpp"

namespace millrace {

/// Packets as frames that the kernel takes in pieces: of a packet socket, or of a tap. With
/// `merges` an Offload stands in front of each frame, and successive segments of a TCP connection
/// are one (segment_run.hpp). One thread's; only the constructor allocates.
class TxFrames {
 public:
  explicit TxFrames(bool merges);
  TxFrames(const TxFrames&) = delete;  // pieces lead into it

  /// Makes the frames of the first kBatchCapacityMax packets at most. They lead to the packets'
  /// bytes; valid until the next call.
  void gather(std::span<const TxPacket> packets) noexcept;

  std::size_t count() const noexcept { return count_; }
  /// For writev(2) and the like, which do not write through them.
  std::span<iovec> pieces(std::size_t frame) noexcept;
  std::uint32_t packets_of(std::size_t frame) const noexcept { return packets_of_[frame]; }
  /// Of the first `frames` frames.
  std::uint32_t packets_in(std::size_t frames) const noexcept;

  /// The device has refused a frame of several packets: for some 40 ms gather() merges none.
  void pause_merging() noexcept;

 private:
  void add_piece(std::span<const std::byte> bytes) noexcept;

  const bool merges_;
  std::uint64_t merge_from_ = 0;  ///< time stamp
  std::vector<SegmentRun> runs_;
  std::array<std::uint32_t, kBatchCapacityMax> packets_of_{};
  std::array<std::uint32_t, kBatchCapacityMax + 1> first_piece_{};  ///< of each frame
  std::array<iovec, 2 * kBatchCapacityMax> pieces_{};
  std::size_t count_ = 0, piece_count_ = 0;
};

}  // namespace millrace
