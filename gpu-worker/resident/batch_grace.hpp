// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "services/functions/reader_grace.hpp"

namespace millrace {

/// Knows which batches are at a device: they may still read what its tables referred to when they
/// were submitted. The data thread counts batches, modulo 2^32; the control thread asks.
class BatchGrace final : public ReaderGrace {
 public:
  // Data thread.
  /// Adds `count` submitted batches. Called before the device can know of the last one.
  void note_submitted(std::uint32_t count) noexcept {
    submitted_.store(count, std::memory_order_release);
  }
  /// The first `count` batches have all come back.
  void note_returned(std::uint32_t count) noexcept {
    returned_.store(count, std::memory_order_release);
  }

  // Control thread.
  std::uint64_t now() override { return submitted_.load(std::memory_order_seq_cst); }
  bool passed(std::uint64_t moment) override {
    const std::uint32_t beyond =
        returned_.load(std::memory_order_acquire) - static_cast<std::uint32_t>(moment);
    return static_cast<std::int32_t>(beyond) >= 0;
  }

 private:
  std::atomic<std::uint32_t> submitted_{0}, returned_{0};
};

}  // namespace millrace
