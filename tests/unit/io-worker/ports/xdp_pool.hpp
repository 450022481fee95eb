// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "tests/unit/io-worker/ports/test_pool.hpp"

namespace millrace::test {

/// A TestPool that knows which buffers are held.
class HoldingPool final : public BufferSource {
 public:
  explicit HoldingPool(std::uint32_t count, std::uint32_t stride = kBufferStrideDefault)
      : pool_(count, 7, stride) {}
  std::uint32_t take(std::span<std::uint32_t> out) noexcept override { return pool_.take(out); }
  bool take_exactly(std::uint32_t buffer) noexcept override { return pool_.take_exactly(buffer); }
  void give_back(std::span<const std::uint32_t> buffers) noexcept override {
    for (const std::uint32_t buffer : buffers) std::erase(held, buffer);
    pool_.give_back(buffers);
  }
  void hold(std::span<const std::uint32_t> buffers) noexcept override {
    held.insert(held.end(), buffers.begin(), buffers.end());
  }
  BufferArea area() const noexcept override { return pool_.area(); }
  std::uint32_t first() const noexcept override { return pool_.first(); }
  std::uint32_t count() const noexcept override { return pool_.count(); }

  /// All packets that wait, their buffers given back.
  std::vector<Taken> take_all(RxQueue& queue) {
    std::vector<Taken> all;
    RxPacket out[32];
    for (std::uint32_t count = 0; (count = queue.poll(*this, out)) != 0;) {
      for (const RxPacket& packet : std::span(out).first(count)) {
        all.push_back({pool_.bytes_of(packet), packet});
        give_back(std::span(&packet.buffer, 1));
      }
    }
    return all;
  }
  std::size_t free_count() const { return pool_.free_count(); }

  std::vector<std::uint32_t> held;

 private:
  TestPool pool_;
};

}  // namespace millrace::test
