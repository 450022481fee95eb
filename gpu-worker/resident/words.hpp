// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/device_function.hpp"
#include "shared/base/limits.hpp"

/// The words that pass from the CPU to the dispatcher and on to blocks, 64 bits each: one store
/// publishes one, one load sees all of it. Each carries the lap of its ring, so that a reader needs
/// no index to tell a new word from the one that stood there before. Laps count from 1; a zeroed
/// ring is empty. Back to the CPU go the results and nothing else: it has put kWordPending in their
/// places. (A mark behind them would cost a fence, which waits for writes to arrive: 0.9 us. A ring
/// of completions would cost two atomic operations more, 2 to 3 us.)

namespace millrace::resident {

constexpr std::uint64_t field(std::uint64_t word, unsigned at, unsigned bits) {
  return word >> at & ((std::uint64_t{1} << bits) - 1);
}

/// CPU to dispatcher: a batch. slot 16, count 16, chain 8, keyed 1, nothing 3, part bits 4, lap 16.
struct Submission {
  std::uint32_t slot = 0;
  std::uint32_t count = 0;      ///< packets; 0: stop
  std::uint32_t chain = 0;      ///< which functions with which tables
  std::uint32_t part_bits = 0;  ///< a block takes 2^part_bits packets
  bool keyed = false;           ///< the slot's column of keys is filled, and enough
  constexpr std::uint64_t word(std::uint32_t lap) const {
    return slot | std::uint64_t{count} << 16 | std::uint64_t{chain} << 32 |
           std::uint64_t{keyed} << 40 | std::uint64_t{part_bits} << 44 |
           std::uint64_t{lap & 0xffff} << 48;
  }
  static constexpr Submission from_word(std::uint64_t word) {
    return {static_cast<std::uint32_t>(field(word, 0, 16)),
            static_cast<std::uint32_t>(field(word, 16, 16)),
            static_cast<std::uint32_t>(field(word, 32, 8)),
            static_cast<std::uint32_t>(field(word, 44, 4)), field(word, 40, 1) != 0};
  }
  static constexpr bool has_lap(std::uint64_t word, std::uint32_t lap) {
    return field(word, 48, 16) == (lap & 0xffff);
  }
};

/// Dispatcher to a block: part of a batch. slot 16, count - 1 8, part 6, part bits 3, chain 8,
/// keyed 1, lap 22.
struct Ticket {
  std::uint32_t slot = 0;
  std::uint32_t count = 1;  ///< packets of the whole batch, 1..256
  std::uint32_t part = 0;   ///< packets [part << part_bits, part + 1 << part_bits) of it
  std::uint32_t part_bits = 0;
  std::uint32_t chain = 0;
  bool keyed = false;
  constexpr std::uint64_t word(std::uint32_t lap) const {
    return slot | std::uint64_t{count - 1} << 16 | std::uint64_t{part} << 24 |
           std::uint64_t{part_bits} << 30 | std::uint64_t{chain} << 33 |
           std::uint64_t{keyed} << 41 | std::uint64_t{lap & 0x3fffff} << 42;
  }
  static constexpr Ticket from_word(std::uint64_t word) {
    return {static_cast<std::uint32_t>(field(word, 0, 16)),
            static_cast<std::uint32_t>(field(word, 16, 8)) + 1,
            static_cast<std::uint32_t>(field(word, 24, 6)),
            static_cast<std::uint32_t>(field(word, 30, 3)),
            static_cast<std::uint32_t>(field(word, 33, 8)),
            field(word, 41, 1) != 0};
  }
  static constexpr bool has_lap(std::uint64_t word, std::uint32_t lap) {
    return field(word, 42, 22) == (lap & 0x3fffff);
  }
};

/// Packets of a ticket, as a power of two. If only headers are read: always as many as a ticket can
/// have. Whole frames are much work: few packets while blocks are idle, so that many blocks share a
/// batch (with single packets p50 is higher again); many under load, as a ticket costs a block
/// about 10 us of waiting.
inline constexpr std::uint32_t kPartBitsMax = 5, kFramePartBitsMin = 1;
inline constexpr std::uint32_t kPartsMax = 32;  ///< of a batch
static_assert(kTicketPackets == 1u << kPartBitsMax);
static_assert(kBatchCapacityMax <= kPartsMax << kPartBitsMax && kBatchCapacityMax <= 256);
constexpr std::uint32_t parts_of(std::uint32_t count, std::uint32_t part_bits) {
  return (count + (1u << part_bits) - 1) >> part_bits;
}
/// The part bits for whole frames of a batch of `count` packets, with `packets_under_way` including
/// it: the largest that leaves no block without a ticket, else the smallest.
constexpr std::uint32_t frame_part_bits(std::uint32_t count, std::uint32_t packets_under_way,
                                        std::uint32_t blocks) {
  std::uint32_t bits = kFramePartBitsMin;
  while (parts_of(count, bits) > kPartsMax) ++bits;
  while (bits < kPartBitsMax && packets_under_way >> (bits + 1) >= blocks) ++bits;
  return bits;
}

/// A ring of 2^bits words that is never full: its size is above all that can be in it.
struct RingSize {
  std::uint32_t bits = 0;
  constexpr std::uint32_t entries() const { return 1u << bits; }
  constexpr std::uint32_t place(std::uint32_t number) const { return number & (entries() - 1); }
  /// The lap of word number `number`; a ring's first word has lap 1.
  constexpr std::uint32_t lap(std::uint32_t number) const { return (number >> bits) + 1; }
};
/// The size of a ring for `count` words at once.
constexpr RingSize ring_size(std::uint32_t count) {
  RingSize size{5};
  while (size.entries() < count) ++size.bits;
  return size;
}

static_assert(Ticket::from_word(Ticket{65535, 256, 63, 5, 255}.word(5)).count == 256);
static_assert(Ticket::from_word(Ticket{65535, 256, 63, 5, 255}.word(5)).part_bits == 5);
static_assert(Ticket::has_lap(Ticket{65535, 256, 63, 5, 255, true}.word(0x400005), 5));
static_assert(Ticket::from_word(Ticket{65535, 256, 63, 5, 255, true}.word(5)).keyed);
static_assert(Submission::from_word(Submission{1, 2, 255, 5, true}.word(7)).keyed);
static_assert(Submission::has_lap(Submission{1, 2, 3, 5}.word(0x10007), 7));

}  // namespace millrace::resident
