// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "shared/base/error.hpp"
#include "shared/layout/latency.hpp"

/// What the processes of the path's model (path_model.cpp) share. They are forks of one process, so
/// that addresses hold in all of them.

namespace millrace::model {

inline constexpr std::uint32_t kBatch = 64;  ///< packets a slot
inline constexpr std::uint32_t kBufferBytes = 2176;
inline constexpr std::uint32_t kHeadroom = 128;
inline constexpr std::size_t kLine = 64;

/// Shared memory that is handed out and never given back; on huge pages where they are free.
class Arena {
 public:
  explicit Arena(std::size_t bytes) : bytes_((bytes + kHuge - 1) / kHuge * kHuge) {
    constexpr int kFlags = MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE;
    void* at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, kFlags | MAP_HUGETLB, -1, 0);
    huge_ = at != MAP_FAILED;
    if (!huge_) at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, kFlags, -1, 0);
    if (at == MAP_FAILED) throw Error("no memory for the model");
    base_ = static_cast<std::byte*>(at);
  }
  bool huge() const { return huge_; }
  /// `count` objects on lines of their own, zero at first.
  template <typename T>
  std::span<T> make(std::size_t count) {
    used_ = (used_ + kLine - 1) / kLine * kLine;
    const std::size_t bytes = count * sizeof(T);
    if (used_ + bytes > bytes_) throw Error("the model's memory is too small");
    T* first = new (base_ + used_) T[count]();
    used_ += bytes;
    return {first, count};
  }

 private:
  static constexpr std::size_t kHuge = std::size_t{2} << 20;
  std::size_t bytes_;
  std::size_t used_ = 0;
  std::byte* base_ = nullptr;
  bool huge_ = false;
};

/// Numbers from one producer to one consumer. Never overfull: it is deeper than what can be in it.
class Ring {
 public:
  void open(Arena& arena, std::uint32_t most) {
    const std::uint32_t depth = std::bit_ceil(most + 1);
    entries_ = arena.make<std::uint32_t>(depth).data();
    mask_ = depth - 1;
  }
  void push(std::span<const std::uint32_t> numbers) noexcept {
    std::uint32_t at = tail_.load(std::memory_order_relaxed);
    for (const std::uint32_t number : numbers) entries_[at++ & mask_] = number;
    tail_.store(at, std::memory_order_release);
  }
  /// Returns how many numbers it took.
  std::uint32_t pop(std::span<std::uint32_t> out) noexcept {
    const std::uint32_t at = head_.load(std::memory_order_relaxed);
    if (tail_seen_ - at < out.size()) tail_seen_ = tail_.load(std::memory_order_acquire);
    const auto count = static_cast<std::uint32_t>(
        std::min<std::size_t>(out.size(), std::uint32_t{tail_seen_ - at}));
    for (std::uint32_t i = 0; i < count; ++i) out[i] = entries_[(at + i) & mask_];
    if (count != 0) head_.store(at + count, std::memory_order_release);
    return count;
  }

 private:
  alignas(kLine) std::atomic<std::uint32_t> tail_{0};
  alignas(kLine) std::atomic<std::uint32_t> head_{0};
  std::uint32_t tail_seen_ = 0;                      ///< consumer's
  alignas(kLine) std::uint32_t* entries_ = nullptr;  ///< read by both
  std::uint32_t mask_ = 0;
};

/// A batch: its header, then columns.
struct alignas(kLine) Slot {
  std::atomic<std::uint32_t> owner;
  std::uint32_t count;
  std::uint64_t sequence;
  std::uint64_t first_tsc;
  std::uint16_t stream, lane;
  alignas(kLine) std::uint32_t buffer[kBatch];
  std::uint16_t length[kBatch], offset[kBatch];
  std::uint8_t verdict[kBatch], output[kBatch];
  std::uint32_t hop[kBatch];
};

/// What one actor has done, for the process that measures.
struct alignas(kLine) Tally {
  std::atomic<std::uint64_t> packets, batches, busy_ticks, missed, out_of_order;
};

/// Packets of an egress, by nanoseconds since their batch's first one was due or came.
struct alignas(kLine) Latency {
  std::atomic<std::uint64_t> packets[kLatencyBucketCount];
};

/// One receive queue: its slots, its buffers, and what comes back to it.
struct Stream {
  std::uint32_t slot_first = 0, slot_count = 0;
  std::uint32_t buffer_first = 0, buffer_count = 0;
  Ring free_slots, free_buffers;               ///< from its egress
  std::span<std::atomic<std::uint64_t>> done;  ///< by lane: batches that have left
  std::span<std::uint32_t> mark;               ///< by buffer: slot that has it
};

struct World {
  std::uint32_t lanes = 1;
  bool flow = false;
  bool restore = false;         ///< the source writes each packet's first line anew
  double packets_per_tick = 0;  ///< offered to each stream; 0: as many as it takes
  double ns_per_tick = 0;
  std::span<Slot> slots;
  std::span<std::byte> buffers;
  std::span<std::uint32_t> table;  ///< by the first 24 bits of an address
  std::span<Stream> streams;
  std::uint32_t workers = 1;
  std::span<Ring> to_worker;   ///< [stream][worker]
  std::span<Ring> to_egress;   ///< [worker][stream]; each stream has an egress of its own
  std::span<Latency> latency;  ///< by stream
  std::atomic<bool>* stop = nullptr;
  std::atomic<std::uint32_t>* ready = nullptr;
  std::uint32_t actors() const { return static_cast<std::uint32_t>(2 * streams.size()) + workers; }
  std::byte* frame(std::uint32_t buffer) const {
    return buffers.data() + std::size_t{buffer} * kBufferBytes + kHeadroom;
  }
  Ring& link_to_worker(std::uint32_t stream, std::uint32_t worker) const {
    return to_worker[stream * workers + worker];
  }
  Ring& link_to_egress(std::uint32_t worker, std::uint32_t stream) const {
    return to_egress[worker * streams.size() + stream];
  }
};

}  // namespace millrace::model
