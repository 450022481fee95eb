// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shared/base/flow_key.hpp"
#include "shared/base/limits.hpp"
#include "shared/base/reason.hpp"
#include "shared/layout/side_list.hpp"

/// A slot holds one batch: a 128-byte header, then columns (structure of arrays) of
/// `batch_capacity` entries.
///
/// | offset | size | field                | written by                                            |
/// |-------:|-----:|----------------------|-------------------------------------------------------|
/// |      0 |    4 | owner                | the taker of the slot; between start and finish of   |
/// |        |      |                      | a take nothing else is written                        |
/// |      4 |    4 | state                | the owner (slot_state.hpp)                            |
/// |      8 |    8 | generation           | ingress, when it opens the slot; 40 bits used         |
/// |     16 |    8 | sequence             | ingress at seal; per (stream, lane), from 1           |
/// |     24 |    8 | received_total       | ingress at seal; lane's running count, this batch too |
/// |     32 |    8 | position             | ingress at seal; source's ordinal after the last one  |
/// |     40 |    2 | stream               | ingress                                               |
/// |     42 |    2 | lane                 | ingress; of the topology, not of the path             |
/// |     44 |    2 | count                | ingress at seal; packets, 1..batch_capacity           |
/// |     46 |    2 | flags                | ingress: kSlotCut, and 0 at open; hub: kSlotStandIn;  |
/// |        |      |                      | a worker: kSlotHinted                                 |
/// |     48 |    8 | received_bytes_total | ingress at seal; running like received_total          |
/// |     56 |    8 | gpu_holder           | holder_word() of what may complete the batch: set by  |
/// |        |      |                      | the producer before a push to a gpu; then changed by  |
/// |        |      |                      | compare-and-swap by what takes the batch back         |
/// |     64 |    8 | time_first_tsc       | ingress; arrival of the first packet                  |
/// |     72 |    8 | time_sealed_tsc      | ingress at seal                                       |
/// |     80 |    8 | time_stage_tsc       | the worker that finished the last stage; 0: untimed   |
/// |     88 |    2 | side_count           | a worker: records of the side list (side_list.hpp)    |
/// |     90 |    2 | side_bytes           | a worker: bytes that they have                        |
/// |     92 |    4 | hint_literals        | a worker, with kSlotHinted: payload_hint.hpp          |
/// |     96 |   32 | hint_clean           | likewise; a bit for each packet, 32 in a word         |

namespace millrace {

/// Of SlotHeader::flags.
inline constexpr std::uint16_t kSlotStandIn = 1;  ///< fills the hole of a quarantined slot; empty
inline constexpr std::uint16_t kSlotCut = 2;      ///< some packet is shorter than on the wire
inline constexpr std::uint16_t kSlotHinted = 4;   ///< `hint_literals`, `hint_clean` say something

struct alignas(kCacheLine) SlotHeader {
  std::atomic<std::uint32_t> owner;
  std::atomic<std::uint32_t> state;
  std::uint64_t generation;
  std::uint64_t sequence;
  std::uint64_t received_total;
  std::uint64_t position;
  std::uint16_t stream;
  std::uint16_t lane;
  std::uint16_t count;
  std::uint16_t flags;
  std::uint64_t received_bytes_total;
  std::atomic<std::uint64_t> gpu_holder;
  std::uint64_t time_first_tsc;
  std::uint64_t time_sealed_tsc;
  std::uint64_t time_stage_tsc;
  std::uint16_t side_count;
  std::uint16_t side_bytes;
  std::uint32_t hint_literals;
  std::uint32_t hint_clean[kBatchCapacityMax / 32];
};

/// It fills the hole of a slot in quarantine, and has no packets.
inline bool is_stand_in(const SlotHeader& header) { return (header.flags & kSlotStandIn) != 0; }

static_assert(sizeof(SlotHeader) == 128 && alignof(SlotHeader) == 64);
static_assert(offsetof(SlotHeader, owner) == 0 && offsetof(SlotHeader, state) == 4);
static_assert(offsetof(SlotHeader, generation) == 8 && offsetof(SlotHeader, sequence) == 16);
static_assert(offsetof(SlotHeader, received_total) == 24 && offsetof(SlotHeader, position) == 32);
static_assert(offsetof(SlotHeader, stream) == 40 && offsetof(SlotHeader, lane) == 42);
static_assert(offsetof(SlotHeader, count) == 44 && offsetof(SlotHeader, flags) == 46);
static_assert(offsetof(SlotHeader, received_bytes_total) == 48);
static_assert(offsetof(SlotHeader, gpu_holder) == 56);
static_assert(offsetof(SlotHeader, time_first_tsc) == 64 &&
              offsetof(SlotHeader, time_sealed_tsc) == 72);
static_assert(offsetof(SlotHeader, time_stage_tsc) == 80);
static_assert(offsetof(SlotHeader, side_count) == 88 && offsetof(SlotHeader, side_bytes) == 90);
static_assert(offsetof(SlotHeader, hint_literals) == 92 && offsetof(SlotHeader, hint_clean) == 96);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// Owner word: the actor and which of its lives. Zero is never a valid owner word (incarnations
/// start at 1).
struct Owner {
  std::uint16_t actor = 0;
  std::uint16_t incarnation = 0;
  friend constexpr bool operator==(Owner, Owner) = default;
  constexpr std::uint32_t word() const { return std::uint32_t{incarnation} << 16 | actor; }
  static constexpr Owner from_word(std::uint32_t word) {
    return {static_cast<std::uint16_t>(word), static_cast<std::uint16_t>(word >> 16)};
  }
};

/// What may complete a batch that is with a GPU: the incarnation, and the batch's generation, so
/// that a late completion cannot claim the batch that the slot holds by then.
constexpr std::uint64_t holder_word(Owner owner, std::uint64_t generation) {
  return generation << 32 | owner.word();
}
constexpr Owner owner_of_holder(std::uint64_t holder) {
  return Owner::from_word(static_cast<std::uint32_t>(holder));
}

/// Columns of a slot, in this order behind the header, each `capacity` entries, each starting on a
/// cache line.
///
/// | column      | bytes | meaning                                                             |
/// |-------------|------:|---------------------------------------------------------------------|
/// | buffer      |     4 | index of the packet's buffer                                        |
/// | length      |     2 | bytes in the buffer (0 is possible: an empty frame)                 |
/// | offset      |     2 | of the first byte from the buffer's start                           |
/// | verdict     |     1 | Verdict                                                             |
/// | output      |     1 | port to transmit on; kOutputDefault: the path's `to`                |
/// | classes     |     4 | mask of classes set so far; 0 in a topology without classes         |
/// | reason      |     1 | Reason of a packet that does not go on; of others it says nothing   |
/// | key         |    16 | FlowKey; only on paths that have them (PlanPath::has_keys)          |
/// | wire_length |     4 | with kSlotCut: bytes on the wire, `length` or more                  |
/// | result      | 4 x 8 | of a GPU: a word for each function: result[f * capacity + packet]   |
///
/// Behind them, not by packet: the side list's records, and the bytes that they have.
///
/// Each line crosses to another core, so an ingress writes only what is read: not `wire_length`
/// when all packets are whole, not `classes` when there are none, and of what lies behind them
/// `key` at most.
struct ColumnOffsets {
  std::uint32_t buffer, length, offset, verdict, output, classes, reason, key, wire_length, result,
      side, side_bytes;
  std::uint32_t slot_bytes;  ///< header and all columns: the stride of the slot table
};

inline constexpr std::uint8_t kOutputDefault = 255;

constexpr std::uint32_t align_to_line(std::uint32_t bytes) {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

/// `capacity`: packets a slot, 1..kBatchCapacityMax.
constexpr ColumnOffsets column_offsets(std::uint32_t capacity) {
  ColumnOffsets at{};
  std::uint32_t end = sizeof(SlotHeader);
  const auto place = [&](std::uint32_t bytes_each) {
    const std::uint32_t start = end;
    end += align_to_line(capacity * bytes_each);
    return start;
  };
  at.buffer = place(4);
  at.length = place(2);
  at.offset = place(2);
  at.verdict = place(1);
  at.output = place(1);
  at.classes = place(4);
  at.reason = place(1);
  at.key = place(sizeof(FlowKey));
  at.wire_length = place(4);
  at.result = place(kResultWordBytes * kStageFunctionCountMax);
  at.side = place(sizeof(SideRecord));
  at.side_bytes = end;
  end += kSideBytesMax;
  // An odd number of lines: consecutive slots start in different cache sets.
  at.slot_bytes = (end / kCacheLine % 2 == 0) ? end + static_cast<std::uint32_t>(kCacheLine) : end;
  return at;
}

static_assert(column_offsets(64).buffer == 128);
static_assert(column_offsets(64).slot_bytes % (2 * kCacheLine) == kCacheLine);

}  // namespace millrace
