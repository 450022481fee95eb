// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "shared/layout/batch.hpp"

namespace millrace {

/// One batch in private memory, laid out as in the segment: for tests, benchmarks and
/// `millrace try`. Packet i lies in buffer i, kBufferHeadroom behind its start. One thread.
class BatchArena {
 public:
  /// `capacity`: packets, 1..kBatchCapacityMax; `stride`: bytes of a buffer, above kBufferHeadroom.
  explicit BatchArena(std::uint32_t capacity = kBatchCapacityDefault,
                      std::uint32_t stride = kBufferStrideDefault);

  /// The most bytes of a packet; a longer packet is `oversize`.
  std::uint32_t room() const { return stride_ - kBufferHeadroom; }
  std::uint32_t count() const { return count_; }
  bool full() const { return count_ == capacity_; }
  /// Empties the batch. Header and columns are zeroed; the buffers keep their bytes.
  void clear();
  /// Copies a packet in as ingress would: verdict pass, output kOutputDefault, `flow` 0. CHECKs
  /// that the batch is not full and the packet fits. Returns its index. `wire_length` at least
  /// packet.size(); 0: the same.
  std::uint32_t add(std::span<const std::byte> packet, std::uint32_t wire_length = 0);
  /// The packets so far. Valid until clear(), add(), or the end of the arena.
  Batch batch() const;

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  using Memory = std::unique_ptr<std::byte[], Free>;
  static Memory allocate(std::size_t bytes);

  std::uint32_t capacity_;
  std::uint32_t stride_;
  std::uint32_t count_ = 0;
  ColumnOffsets offsets_;
  Memory slot_;
  Memory buffers_;
};

}  // namespace millrace
