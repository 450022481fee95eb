// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <emmintrin.h>
#include <nmmintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "shared/base/clock.hpp"
#include "tests/bench/model_memory.hpp"

/// The three actors of the path's model. Each turn() returns packets that it has moved.

namespace millrace::model {

template <typename T>
T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// For those that a process alone writes.
inline void add(std::atomic<std::uint64_t>& word, std::uint64_t more) noexcept {
  word.store(word.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

// Bytes of an Ethernet frame with IPv4 and UDP.
inline constexpr std::uint32_t kTtlAt = 22, kProtocolAt = 23, kSourceAt = 26, kTargetAt = 30,
                               kPortsAt = 34;
inline constexpr std::uint8_t kTtl = 64;

class Ingress {
 public:
  Ingress(const World& world, std::uint32_t number, std::uint32_t worker_first,
          std::uint32_t worker_count, Tally& tally)
      : world_(world),
        stream_(world.streams[number]),
        number_(static_cast<std::uint16_t>(number)),
        worker_first_(worker_first),
        worker_count_(worker_count),
        tally_(tally),
        lanes_(world.lanes),
        free_slots_(stream_.slot_count),
        stock_(stream_.buffer_count) {
    std::iota(free_slots_.begin(), free_slots_.end(), stream_.slot_first);
    // Not in their order of memory, as after some time: an odd factor permutes a power of two.
    const std::uint32_t mask = std::bit_ceil(stream_.buffer_count) - 1;
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i <= mask; ++i) {
      const std::uint32_t buffer = i * 2'654'435'761u & mask;
      if (buffer < stream_.buffer_count) stock_[next++] = stream_.buffer_first + buffer;
    }
    for (std::uint32_t i = 0; i < kKept; ++i) {
      std::memcpy(kept_[i].data(), world_.frame(stream_.buffer_first + i), kLine);
    }
  }

  std::uint32_t turn() noexcept {
    std::uint32_t slots[kBatch];
    const std::uint32_t came = stream_.free_slots.pop(slots);
    free_slots_.insert(free_slots_.end(), slots, slots + came);
    const std::uint64_t now = tsc_now();
    std::uint32_t wanted = std::clamp(kBurstPerLane * world_.lanes, kBatch, kBurstMax);
    if (world_.packets_per_tick > 0) wanted = std::min(wanted, due(now));
    const std::uint32_t taken = take(wanted);
    const std::uint32_t placed = place(taken, now);
    for (std::uint32_t i = 0; i < lanes_.size(); ++i) leave_if_due(i);
    return placed;
  }

 private:
  static constexpr std::uint32_t kBurstPerLane = 32, kBurstMax = 256, kTurnsMax = 4, kDueMax = 4096,
                                 kAhead = 16, kKept = 64;
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Lane {
    std::uint32_t slot = kNone, count = 0, turns = 0;
    std::uint64_t sequence = 0;  ///< of the last batch that left
  };

  /// Packets that the source has for now; what is beyond kDueMax is missed.
  std::uint32_t due(std::uint64_t now) noexcept {
    if (start_ == 0) start_ = now;
    auto most =
        static_cast<std::uint64_t>(static_cast<double>(now - start_) * world_.packets_per_tick);
    if (most > given_ + kDueMax) {
      add(tally_.missed, most - given_ - kDueMax);
      given_ = most - kDueMax;
    }
    return static_cast<std::uint32_t>(most - std::min(most, given_));
  }

  std::uint32_t take(std::uint32_t wanted) noexcept {
    while (stock_.size() < wanted) {
      std::uint32_t came[kBurstMax];
      const std::uint32_t count = stream_.free_buffers.pop(came);
      if (count == 0) break;
      stock_.insert(stock_.end(), came, came + count);
    }
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(wanted, stock_.size()));
    for (std::uint32_t i = 0; i < count; ++i) burst_[i] = stock_[stock_.size() - 1 - i];
    stock_.resize(stock_.size() - count);
    return count;
  }

  std::uint32_t lane_of(const std::byte* frame) const noexcept {
    if (!world_.flow) return 0;
    const auto addresses =
        load<std::uint32_t>(frame + kSourceAt) ^ load<std::uint32_t>(frame + kTargetAt);
    std::uint32_t hash = _mm_crc32_u32(addresses, load<std::uint32_t>(frame + kPortsAt));
    hash = _mm_crc32_u8(hash, load<std::uint8_t>(frame + kProtocolAt));
    return static_cast<std::uint32_t>(std::uint64_t{hash} * lanes_.size() >> 32);
  }

  std::uint32_t place(std::uint32_t taken, std::uint64_t now) noexcept {
    std::uint32_t i = 0;
    for (; i < taken; ++i) {
      std::byte* frame = world_.frame(burst_[i]);
      if (world_.flow && i + kAhead < taken)
        _mm_prefetch(world_.frame(burst_[i + kAhead]), _MM_HINT_T0);
      if (world_.restore) std::memcpy(frame, kept_[i % kKept].data(), kLine);
      Lane& lane = lanes_[lane_of(frame)];
      if (lane.slot == kNone && !open(lane, now)) break;
      Slot& slot = world_.slots[lane.slot];
      stream_.mark[burst_[i] - stream_.buffer_first] = lane.slot;
      slot.buffer[lane.count] = burst_[i];
      slot.length[lane.count] = kLine - 4;
      slot.offset[lane.count] = kHeadroom;
      slot.output[lane.count] = 0;
      ++given_;
      if (++lane.count == kBatch) leave(lane);
    }
    // What found no slot is taken again first.
    for (std::uint32_t back = taken; back > i; --back) stock_.push_back(burst_[back - 1]);
    return i;
  }

  bool open(Lane& lane, std::uint64_t now) noexcept {
    if (free_slots_.empty()) return false;
    lane = {free_slots_.back(), 0, 0, lane.sequence};
    free_slots_.pop_back();
    Slot& slot = world_.slots[lane.slot];
    slot.owner.store(number_, std::memory_order_relaxed);
    slot.first_tsc = now;
    if (world_.packets_per_tick > 0) {
      slot.first_tsc = start_ + static_cast<std::uint64_t>(static_cast<double>(given_) /
                                                           world_.packets_per_tick);
    }
    return true;
  }

  void leave_if_due(std::uint32_t number) noexcept {
    Lane& lane = lanes_[number];
    if (lane.slot == kNone || lane.count == 0) return;
    const bool idle = stream_.done[number].load(std::memory_order_relaxed) == lane.sequence;
    const bool is_short = free_slots_.size() < lanes_.size() && lane.count >= kBatch / 2;
    if (idle || ++lane.turns >= kTurnsMax || is_short || free_slots_.empty()) leave(lane);
  }

  void leave(Lane& lane) noexcept {
    Slot& slot = world_.slots[lane.slot];
    const auto number = static_cast<std::uint16_t>(&lane - lanes_.data());
    slot.count = lane.count;
    slot.stream = number_;
    slot.lane = number;
    slot.sequence = ++lane.sequence;
    const std::uint32_t turn = world_.flow ? number : next_worker_++;
    world_.link_to_worker(number_, worker_first_ + turn % worker_count_).push({&lane.slot, 1});
    add(tally_.packets, lane.count);
    add(tally_.batches, 1);
    lane = {kNone, 0, 0, lane.sequence};
  }

  const World& world_;
  Stream& stream_;
  std::uint16_t number_;
  std::uint32_t worker_first_, worker_count_;
  Tally& tally_;
  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> free_slots_, stock_;
  std::array<std::uint32_t, kBurstMax> burst_;
  std::array<std::array<std::byte, kLine>, kKept> kept_;
  std::uint64_t start_ = 0, given_ = 0;
  std::uint32_t next_worker_ = 0;
};

class Worker {
 public:
  Worker(const World& world, std::uint32_t number, std::uint32_t stream_first,
         std::uint32_t stream_count, Tally& tally)
      : world_(world),
        number_(number),
        stream_first_(stream_first),
        stream_count_(stream_count),
        tally_(tally) {}

  std::uint32_t turn() noexcept {
    std::uint32_t packets = 0;
    for (std::uint32_t i = 0; i < stream_count_; ++i) {
      const std::uint32_t stream = stream_first_ + i;
      std::uint32_t number = 0;
      if (world_.link_to_worker(stream, number_).pop({&number, 1}) == 0) continue;
      Slot& slot = world_.slots[number];
      slot.owner.store(kOwner + number_, std::memory_order_relaxed);
      route(slot);
      packets += slot.count;
      add(tally_.packets, slot.count);
      add(tally_.batches, 1);
      world_.link_to_egress(number_, stream).push({&number, 1});
    }
    return packets;
  }

 private:
  static constexpr std::uint32_t kOwner = 1000;

  void route(Slot& slot) const noexcept {
    for (std::uint32_t i = 0; i < slot.count; ++i) {
      _mm_prefetch(world_.frame(slot.buffer[i]), _MM_HINT_T0);
    }
    for (std::uint32_t i = 0; i < slot.count; ++i) {
      std::byte* frame = world_.frame(slot.buffer[i]);
      const std::uint32_t target = __builtin_bswap32(load<std::uint32_t>(frame + kTargetAt));
      slot.hop[i] = world_.table[target >> 8];
      const auto ttl = load<std::uint8_t>(frame + kTtlAt);
      slot.verdict[i] = ttl > 1;
      // Packets come round: their time never runs out.
      frame[kTtlAt] = static_cast<std::byte>(ttl > 2 ? ttl - 1 : kTtl);
    }
  }

  const World& world_;
  std::uint32_t number_, stream_first_, stream_count_;
  Tally& tally_;
};

class Egress {
 public:
  Egress(const World& world, std::uint32_t number, std::uint32_t worker_first,
         std::uint32_t worker_count, Tally& tally)
      : world_(world),
        stream_(world.streams[number]),
        number_(number),
        worker_first_(worker_first),
        worker_count_(worker_count),
        tally_(tally),
        window_mask_(std::bit_ceil(stream_.slot_count + 1) - 1),
        window_(std::size_t{world.lanes} * (window_mask_ + 1), kNone),
        next_(world.lanes, 1) {}

  std::uint32_t turn() noexcept {
    std::uint32_t packets = 0;
    for (std::uint32_t i = 0; i < worker_count_; ++i) {
      std::uint32_t number = 0;
      if (world_.link_to_egress(worker_first_ + i, number_).pop({&number, 1}) == 0) continue;
      const Slot& slot = world_.slots[number];
      place_of(slot.lane, slot.sequence) = number;
      packets += release(slot.lane);
    }
    return packets;
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::uint32_t& place_of(std::uint32_t lane, std::uint64_t sequence) noexcept {
    return window_[std::size_t{lane} * (window_mask_ + 1) + (sequence & window_mask_)];
  }

  /// All batches of the lane that are next in order.
  std::uint32_t release(std::uint32_t lane) noexcept {
    std::uint32_t packets = 0;
    while (true) {
      const std::uint32_t number = std::exchange(place_of(lane, next_[lane]), kNone);
      if (number == kNone) return packets;
      Slot& slot = world_.slots[number];
      if (slot.sequence != next_[lane]) add(tally_.out_of_order, 1);
      send(slot);
      packets += slot.count;
      const auto since = static_cast<double>(std::max(tsc_now(), slot.first_tsc) - slot.first_tsc);
      const auto ns = static_cast<std::uint64_t>(since * world_.ns_per_tick);
      add(world_.latency[number_].packets[latency_bucket(ns)], slot.count);
      add(tally_.packets, slot.count);
      add(tally_.batches, 1);
      stream_.done[lane].store(next_[lane]++, std::memory_order_relaxed);
      stream_.free_slots.push({&number, 1});
    }
  }

  void send(Slot& slot) const noexcept {
    for (std::uint32_t i = 0; i < slot.count; ++i) {
      _mm_prefetch(world_.frame(slot.buffer[i]), _MM_HINT_T0);
    }
    for (std::uint32_t i = 0; i < slot.count; ++i) {
      if (slot.verdict[i] == 0) continue;
      std::byte* frame = world_.frame(slot.buffer[i]);
      const std::uint64_t macs[] = {slot.hop[i] * 0x9e3779b97f4a7c15u, 1};
      std::memcpy(frame, macs, 12);
    }
    stream_.free_buffers.push({slot.buffer, slot.count});
  }

  const World& world_;
  Stream& stream_;
  std::uint32_t number_, worker_first_, worker_count_;
  Tally& tally_;
  std::uint32_t window_mask_;
  std::vector<std::uint32_t> window_;
  std::vector<std::uint64_t> next_;
};

}  // namespace millrace::model
