// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "io-worker/ports/port.hpp"

namespace millrace::test {

/// A pool in private memory: a LIFO, as the ingress has it. Aborts the test when a buffer is given
/// back that is not out.
class TestPool final : public BufferSource {
 public:
  explicit TestPool(std::uint32_t count, std::uint32_t first = 7,
                    std::uint32_t stride = kBufferStrideDefault)
      : first_(first),
        count_(count),
        stride_(stride),
        memory_(std::size_t{first + count} * stride) {
    for (std::uint32_t i = 0; i < count; ++i) free_.push_back(first + i);
  }

  std::uint32_t take(std::span<std::uint32_t> out) noexcept override {
    const auto taken = static_cast<std::uint32_t>(std::min(out.size(), free_.size()));
    for (std::uint32_t i = 0; i < taken; ++i) {
      out[i] = free_.back();
      free_.pop_back();
    }
    return taken;
  }
  bool take_exactly(std::uint32_t buffer) noexcept override {
    const auto found = std::find(free_.begin(), free_.end(), buffer);
    if (found == free_.end()) return false;
    free_.erase(found);
    return true;
  }
  void give_back(std::span<const std::uint32_t> buffers) noexcept override {
    for (const std::uint32_t buffer : buffers) {
      if (buffer < first_ || buffer >= first_ + count_ ||
          std::find(free_.begin(), free_.end(), buffer) != free_.end()) {
        std::abort();
      }
      free_.push_back(buffer);
    }
  }
  BufferArea area() const noexcept override {
    return {const_cast<std::byte*>(memory_.data()), stride_};
  }
  std::uint32_t first() const noexcept override { return first_; }
  std::uint32_t count() const noexcept override { return count_; }

  std::size_t free_count() const { return free_.size(); }
  std::string bytes_of(const RxPacket& packet) const {
    return {reinterpret_cast<const char*>(area().at(packet.buffer)) + packet.offset, packet.length};
  }
  void give_back(const RxPacket& packet) { give_back(std::span(&packet.buffer, 1)); }

 private:
  std::uint32_t first_, count_, stride_;
  std::vector<std::byte> memory_;
  std::vector<std::uint32_t> free_;
};

/// A packet as it left a queue, its buffer already given back.
struct Taken {
  std::string bytes;
  RxPacket packet;
};

/// Polls until nothing comes any more or `limit` packets came; gives every buffer back at once.
inline std::vector<Taken> take_all(RxQueue& queue, TestPool& pool, std::size_t limit = SIZE_MAX,
                                   std::size_t burst = 32) {
  std::vector<Taken> all;
  std::vector<RxPacket> out(burst);
  while (all.size() < limit) {
    const std::uint32_t count =
        queue.poll(pool, std::span(out).first(std::min(burst, limit - all.size())));
    if (count == 0) break;
    for (std::uint32_t i = 0; i < count; ++i) {
      all.push_back({pool.bytes_of(out[i]), out[i]});
      pool.give_back(out[i]);
    }
  }
  return all;
}

inline PlanPort make_port(std::string device, Settings settings) {
  PlanPort port;
  port.name = "lan";
  port.device = std::move(device);
  port.settings = std::move(settings);
  port.mac = "02:00:00:00:00:01";
  return port;
}

}  // namespace millrace::test
