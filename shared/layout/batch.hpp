// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "shared/layout/slot.hpp"

/// A cheap view of one batch: spans over the columns of a slot and over its packets. Borrowed:
/// valid while the holder owns the slot. Tests and `millrace try` make the same view over private
/// memory (batch_arena.hpp).

namespace millrace {

/// Where packets lie. Buffer i is [base + i * stride, + stride).
struct BufferArea {
  std::byte* base = nullptr;
  std::uint32_t stride = kBufferStrideDefault;  ///< bytes
  std::byte* at(std::uint32_t buffer) const { return base + std::size_t{buffer} * stride; }
};

struct Batch {
  SlotHeader* header = nullptr;
  BufferArea buffers;
  std::uint32_t count = 0;     ///< packets; every span below but `result` has this many
  std::uint32_t capacity = 0;  ///< of the slot
  std::uint32_t edition = 0;   ///< of the tables that a GPU computes it with (stage_edition())
  std::span<std::uint32_t> buffer;
  std::span<std::uint16_t> length;
  std::span<std::uint16_t> offset;
  std::span<std::uint8_t> verdict;
  std::span<std::uint8_t> output;
  std::span<std::uint32_t> wire_length;
  std::span<std::uint32_t> flow;
  std::span<std::uint32_t> classes;
  std::span<std::uint8_t> reason;
  std::span<std::uint32_t> next_hop;
  std::span<FlowKey> key;
  std::uint32_t* result = nullptr;  ///< of the stage: see results()

  std::byte* data(std::uint32_t packet) const {
    return buffers.at(buffer[packet]) + offset[packet];
  }
  std::span<std::byte> bytes(std::uint32_t packet) const { return {data(packet), length[packet]}; }
  bool passes(std::uint32_t packet) const {
    return verdict[packet] == static_cast<std::uint8_t>(Verdict::kPass);
  }
  void drop(std::uint32_t packet, Reason why) const {
    verdict[packet] = static_cast<std::uint8_t>(Verdict::kDrop);
    reason[packet] = static_cast<std::uint8_t>(why);
  }
  /// Results of the stage's function number `function` (0..kStageFunctionCountMax-1), one word a
  /// packet.
  std::span<std::uint32_t> results(std::uint32_t function) const {
    return {result + std::size_t{function} * capacity, count};
  }
};

/// Packets of the batch that somebody has dropped. A few loads.
inline std::uint32_t dropped_in(const Batch& batch) noexcept {
  static_assert(static_cast<int>(Verdict::kPass) == 0 && static_cast<int>(Verdict::kDrop) == 1);
  const std::uint8_t* const verdict = batch.verdict.data();
  std::uint32_t count = 0, at = 0;
  for (std::uint64_t eight = 0; at + 8 <= batch.count; at += 8) {
    std::memcpy(&eight, verdict + at, 8);  // a copy of fixed size is a load
    count += static_cast<std::uint32_t>(std::popcount(eight));
  }
  for (; at < batch.count; ++at) count += verdict[at];
  return count;
}

/// View of the slot at `slot`, laid out by `at` for `capacity` packets; `count` of them are in it.
inline Batch view_of(std::byte* slot, const ColumnOffsets& at, std::uint32_t capacity,
                     std::uint32_t count, BufferArea buffers) {
  const auto column = [&]<typename T>(std::uint32_t offset, T*) {
    return std::span<T>(reinterpret_cast<T*>(slot + offset), count);
  };
  Batch batch;
  batch.header = reinterpret_cast<SlotHeader*>(slot);
  batch.buffers = buffers;
  batch.count = count;
  batch.capacity = capacity;
  batch.buffer = column(at.buffer, static_cast<std::uint32_t*>(nullptr));
  batch.length = column(at.length, static_cast<std::uint16_t*>(nullptr));
  batch.offset = column(at.offset, static_cast<std::uint16_t*>(nullptr));
  batch.verdict = column(at.verdict, static_cast<std::uint8_t*>(nullptr));
  batch.output = column(at.output, static_cast<std::uint8_t*>(nullptr));
  batch.wire_length = column(at.wire_length, static_cast<std::uint32_t*>(nullptr));
  batch.flow = column(at.flow, static_cast<std::uint32_t*>(nullptr));
  batch.classes = column(at.classes, static_cast<std::uint32_t*>(nullptr));
  batch.reason = column(at.reason, static_cast<std::uint8_t*>(nullptr));
  batch.next_hop = column(at.next_hop, static_cast<std::uint32_t*>(nullptr));
  batch.key = column(at.key, static_cast<FlowKey*>(nullptr));
  batch.result = reinterpret_cast<std::uint32_t*>(slot + at.result);
  return batch;
}

}  // namespace millrace
