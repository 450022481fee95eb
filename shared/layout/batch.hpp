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
  std::span<std::uint32_t> wire_lengths;  ///< says something with kSlotCut alone: wire_length()
  std::span<std::uint32_t> classes;
  std::span<std::uint8_t> reason;
  std::span<FlowKey> key;
  std::uint32_t* result = nullptr;  ///< of the stage: see results()
  SideList side;                    ///< what it asks of the egress

  std::byte* data(std::uint32_t packet) const {
    return buffers.at(buffer[packet]) + offset[packet];
  }
  std::span<std::byte> bytes(std::uint32_t packet) const { return {data(packet), length[packet]}; }
  /// Bytes of the packet on the wire; more than `length` when a capture was cut.
  std::uint32_t wire_length(std::uint32_t packet) const {
    return has_cut() ? wire_lengths[packet] : length[packet];
  }
  bool has_cut() const { return (header->flags & kSlotCut) != 0; }
  /// Makes the column of wire lengths valid: the first `count` packets are whole, and a following
  /// one is not.
  void begin_cut(std::uint32_t count) const {
    for (std::uint32_t i = 0; i < count; ++i) wire_lengths[i] = length[i];
    header->flags |= kSlotCut;
  }
  /// True when later functions see the packet.
  bool goes_on(std::uint32_t packet) const { return millrace::goes_on(verdict[packet]); }
  /// True when the packet will be transmitted.
  bool leaves(std::uint32_t packet) const { return millrace::leaves(verdict[packet]); }
  bool is_dropped(std::uint32_t packet) const { return millrace::is_dropped(verdict[packet]); }
  void drop(std::uint32_t packet, Reason why) const { end(packet, Verdict::kDrop, why); }
  /// Ends the packet here, as it should end.
  void consume(std::uint32_t packet, Reason why) const { end(packet, Verdict::kConsumed, why); }
  /// Lets the packet leave by `port` now. `why`: it has become an answer of that kind; kNone: it is
  /// unchanged.
  void finish(std::uint32_t packet, std::uint8_t port, Reason why = Reason::kNone) const {
    end(packet, Verdict::kDone, why);
    output[packet] = port;
  }
  /// Moves the packet's first byte: forward by `bytes` (the caller writes the new first bytes), or
  /// back by as many if negative. False, and nothing changed, when there is no room: at the
  /// buffer's start, or the packet's end.
  bool grow_front(std::uint32_t packet, std::int32_t bytes) const {
    const std::int32_t at = std::int32_t{offset[packet]} - bytes;
    const std::int32_t size = std::int32_t{length[packet]} + bytes;
    if (at < 0 || size < 0 || size > UINT16_MAX) return false;
    offset[packet] = static_cast<std::uint16_t>(at);
    set_length(packet, static_cast<std::uint16_t>(size));
    return true;
  }
  /// The same for its last byte: more room behind it, or less of it.
  bool grow_back(std::uint32_t packet, std::int32_t bytes) const {
    const std::int32_t size = std::int32_t{length[packet]} + bytes;
    if (size < 0 || size > UINT16_MAX) return false;
    if (offset[packet] + static_cast<std::uint32_t>(size) > buffers.stride) return false;
    set_length(packet, static_cast<std::uint16_t>(size));
    return true;
  }
  /// Results of the stage's function number `function` (0..kStageFunctionCountMax-1), one word a
  /// packet.
  std::span<std::uint32_t> results(std::uint32_t function) const {
    return {result + std::size_t{function} * capacity, count};
  }

 private:
  void end(std::uint32_t packet, Verdict fate, Reason why) const {
    verdict[packet] = static_cast<std::uint8_t>(fate);
    reason[packet] = static_cast<std::uint8_t>(why);
  }
  /// Sets both lengths: a packet that grows or shrinks was whole, or is no longer the cut one.
  void set_length(std::uint32_t packet, std::uint16_t bytes) const {
    length[packet] = bytes;
    if (has_cut()) [[unlikely]]
      wire_lengths[packet] = bytes;
  }
};

/// Packets of the batch by fate. A few loads.
struct Fates {
  std::uint32_t dropped = 0;   ///< is_dropped()
  std::uint32_t gone = 0;      ///< not goes_on(): those too
  std::uint32_t not_sent = 0;  ///< not leaves(): dropped or consumed
};
inline Fates fates_in(const Batch& batch) noexcept {
  static_assert(static_cast<int>(Verdict::kPass) == 0 && static_cast<int>(Verdict::kConsumed) == 3);
  constexpr std::uint64_t kLowBits = 0x0101'0101'0101'0101;
  const std::uint8_t* const verdict = batch.verdict.data();
  Fates fates;
  const auto count = [](std::uint64_t bits) {
    return static_cast<std::uint32_t>(std::popcount(bits & kLowBits));
  };
  for (std::uint32_t at = 0; at < batch.count; at += 8) {
    std::uint64_t eight = 0;
    if (at + 8 <= batch.count) [[likely]] {
      std::memcpy(&eight, verdict + at, 8);  // a copy of fixed size is a load
    } else {
      for (std::uint32_t i = at; i < batch.count; ++i) {
        eight |= std::uint64_t{verdict[i]} << (i - at) * 8;
      }
    }
    fates.not_sent += count(eight);
    fates.gone += count(eight | eight >> 1);
    fates.dropped += count(eight & ~(eight >> 1));
  }
  return fates;
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
  batch.wire_lengths = column(at.wire_length, static_cast<std::uint32_t*>(nullptr));
  batch.classes = column(at.classes, static_cast<std::uint32_t*>(nullptr));
  batch.reason = column(at.reason, static_cast<std::uint8_t*>(nullptr));
  batch.key = column(at.key, static_cast<FlowKey*>(nullptr));
  batch.result = reinterpret_cast<std::uint32_t*>(slot + at.result);
  batch.side = SideList({reinterpret_cast<SideRecord*>(slot + at.side), capacity},
                        {slot + at.side_bytes, kSideBytesMax}, &batch.header->side_count,
                        &batch.header->side_bytes);
  return batch;
}

}  // namespace millrace
