// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "shared/base/limits.hpp"

/// The side list: what a batch asks of the egress beside its own packets. `finish` of a function
/// appends records; the egress executes them at their packet's turn, in order, with buffers of a
/// pool of its own. Both lie in the slot, behind its columns: as many records as packets, and
/// kSideBytesMax bytes that the records have.

namespace millrace {

inline constexpr std::uint32_t kSideBytesMax = 4096;  ///< of a slot; whole cache lines
static_assert(kSideBytesMax % kCacheLine == 0);

enum class SideKind : std::uint8_t {
  kCopy = 1,      ///< a copy of the packet, as it is at the end, leaves by `port`
  kFragment = 2,  ///< the packet, of IPv4 without DF or of IPv6 with a fragment header, leaves by
                  ///< `port` in parts of up to `argument` bytes; its fate is consumed{fragmented}
  kHold = 3,      ///< a copy waits for a neighbour (`argument`, `generation`: NeighbourHandle) and
  ///< then leaves by `port`, to its MAC address; its own fate is consumed{held}. The
  ///< first `ask` of its bytes are a frame that asks for the neighbour, by `port`
  ///< too. The others, if any, leave by `back` when the neighbour does not answer,
  ///< in front of `quoted` bytes of the packet behind its Ethernet header
  kSend = 4,    ///< the record's bytes, a whole frame, leave by `port`; `why` counts it
  kCopies = 5,  ///< as kCopy, of each packet whose bit is set in the record's bytes (bit i % 8 of
                ///< byte i / 8) and whose fate is one of `argument`, a CopyOf; `packet` is 0
};

/// Which packets a record kCopies is about, by what has become of them when they would leave.
enum class CopyOf : std::uint32_t { kAll = 0, kNotDropped = 1, kDropped = 2 };

/// Of a record kHold: the question for a neighbour of IPv6 (86), and an error of ICMPv6 (62) that
/// quotes headers of IPv6 and TCP (60).
inline constexpr std::uint32_t kHoldBytesMax = 208;

struct SideRecord {
  std::uint16_t packet;    ///< its number in the batch
  std::uint8_t kind;       ///< SideKind
  std::uint8_t port;       ///< number of the port
  std::uint32_t argument;  ///< see SideKind
  std::uint32_t generation;
  std::uint16_t bytes_at;  ///< of its bytes, in the slot's; SideList::add() sets it
  std::uint16_t bytes;     ///< 0: it has none; likewise
  std::uint8_t why;        ///< Reason that counts what is generated
  std::uint8_t back;       ///< kHold: port of the report
  std::uint16_t ask;       ///< kHold: bytes of the question
  std::uint16_t quoted;    ///< kHold: bytes of the packet that the report quotes
  std::uint16_t mtu;       ///< kHold: of `port`; a longer packet leaves in fragments
};
static_assert(sizeof(SideRecord) == 24 && alignof(SideRecord) == 4);
static_assert(offsetof(SideRecord, packet) == 0 && offsetof(SideRecord, kind) == 2);
static_assert(offsetof(SideRecord, port) == 3 && offsetof(SideRecord, argument) == 4);
static_assert(offsetof(SideRecord, generation) == 8 && offsetof(SideRecord, bytes_at) == 12);
static_assert(offsetof(SideRecord, bytes) == 14 && offsetof(SideRecord, why) == 16);
static_assert(offsetof(SideRecord, back) == 17 && offsetof(SideRecord, ask) == 18);
static_assert(offsetof(SideRecord, quoted) == 20 && offsetof(SideRecord, mtu) == 22);

/// The side list of one batch; a cheap view. The slot is ours.
class SideList {
 public:
  SideList() = default;
  /// `records`: as many as the slot has; `bytes`: kSideBytesMax of them. `count`, `used`: of the
  /// slot's header.
  SideList(std::span<SideRecord> records, std::span<std::byte> bytes, std::uint16_t* count,
           std::uint16_t* used)
      : records_(records), bytes_(bytes), count_(count), used_(used) {}

  /// Room for one more record with so many bytes.
  bool has_room(std::size_t bytes = 0) const noexcept {
    return count_ != nullptr && *count_ < records_.size() && *used_ + bytes <= bytes_.size();
  }
  /// Appends a record; its bytes are the caller's to write, and stay where they are. CHECK
  /// has_room() first: without room nothing happens, and the span is empty.
  std::span<std::byte> add(SideRecord record, std::size_t bytes = 0) const noexcept {
    if (!has_room(bytes)) return {};
    record.bytes_at = *used_;
    record.bytes = static_cast<std::uint16_t>(bytes);
    records_[*count_] = record;
    *used_ = static_cast<std::uint16_t>(*used_ + bytes);
    *count_ = static_cast<std::uint16_t>(*count_ + 1);
    return bytes_.subspan(record.bytes_at, bytes);
  }
  std::span<const SideRecord> records() const noexcept {
    return count_ == nullptr ? std::span<const SideRecord>() : records_.first(count());
  }
  /// Of a record of this list; empty where what stands in it lies outside.
  std::span<const std::byte> bytes_of(const SideRecord& record) const noexcept {
    if (std::size_t{record.bytes_at} + record.bytes > bytes_.size()) return {};
    return bytes_.subspan(record.bytes_at, record.bytes);
  }

 private:
  /// What stands in shared memory is bounded before it is used.
  std::size_t count() const noexcept {
    return *count_ < records_.size() ? *count_ : records_.size();
  }

  std::span<SideRecord> records_;
  std::span<std::byte> bytes_;
  std::uint16_t* count_ = nullptr;
  std::uint16_t* used_ = nullptr;
};

}  // namespace millrace
