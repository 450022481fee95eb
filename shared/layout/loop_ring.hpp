// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "shared/base/hooks.hpp"
#include "shared/base/limits.hpp"
#include "shared/config/plan.hpp"

/// Packets on their way from an egress to a receive queue of a port of device `loop`, copied into
/// fixed entries. There is a ring for each (stream of a loop, egress): one producer, one consumer.
/// The first queue of a loop with ticks has one more, which its ingress fills itself, without a
/// ledger: what it puts there is born there.
///
///     LoopHeader | (LoopEntry | bytes of a packet)[depth]
///
/// Indexes count packets and only grow; packet number n is in entry n modulo depth. Each word has
/// one writer, so that a kill between any two stores loses no packet and doubles none:
///
/// - The producer fills entries behind `head`, which nothing reads. What becomes visible with a
///   flip of a lane's ledger is noted before the flip (intend()), and made visible after it
///   (commit()). A producer that dies before the flip has sent nothing: recovery drops the batch.
///   One that dies behind it has sent: recovery finishes for it (settle()). So the ledger's flip is
///   the moment of transmission.
/// - The consumer notes a packet's ordinal in its entry before it hands the packet on, and lets go
///   of entries, by one store of `tail`, when their packets are in sealed batches. Its successor
///   reads what lies between again, with the same ordinals.

namespace millrace {

struct alignas(kCacheLine) LoopHeader {
  // Of the producer; of recovery while the producer is dead.
  std::atomic<std::uint64_t> head;          ///< behind the newest packet
  std::atomic<std::uint64_t> intent_flips;  ///< of the ledger, with the packets in it; 0: none
  std::uint64_t intent_head;                ///< `head` then
  std::uint32_t intent_stream, intent_lane;
  std::uint64_t padding_0[4];
  // Of the consumer.
  alignas(kCacheLine) std::atomic<std::uint64_t> tail;  ///< behind the newest that is let go of
  std::uint64_t padding_1[7];
};
static_assert(sizeof(LoopHeader) == 128 && offsetof(LoopHeader, head) == 0);
static_assert(offsetof(LoopHeader, intent_flips) == 8 && offsetof(LoopHeader, intent_head) == 16);
static_assert(offsetof(LoopHeader, intent_stream) == 24);
static_assert(offsetof(LoopHeader, intent_lane) == 28 && offsetof(LoopHeader, tail) == 64);

/// In front of a packet's bytes.
struct LoopEntry {
  std::atomic<std::uint64_t> ordinal;  ///< and one, as the consumer has read it; 0: not read yet
  std::uint32_t wire_length;
  std::uint16_t length;
  std::uint16_t padding_0;
};
static_assert(sizeof(LoopEntry) == 16 && offsetof(LoopEntry, ordinal) == 0);
static_assert(offsetof(LoopEntry, wire_length) == 8 && offsetof(LoopEntry, length) == 12);

inline constexpr std::uint32_t kLoopTicks = UINT32_MAX;
inline constexpr std::uint32_t kLoopTicksDepth = 4;  ///< ticks that are not sealed yet

/// Where a ring lies, and between which actors.
struct LoopPlace {
  std::uint32_t stream = 0;  ///< of a port of device `loop`
  std::uint32_t egress = 0;  ///< number; kLoopTicks: the stream's own ingress
  std::uint32_t depth = 0;   ///< packets; a power of two
  std::uint64_t start = 0;   ///< in the segment
};

/// Bytes of an entry: a packet in it is as long as one in a buffer can be.
std::uint32_t loop_entry_bytes(std::uint32_t buffer_stride);
std::uint64_t loop_ring_bytes(std::uint32_t depth, std::uint32_t buffer_stride);
/// All rings of the topology, by stream, then by egress; `start` is 0.
std::vector<LoopPlace> loop_places(const Plan& plan);

/// View of one ring.
class LoopRing {
 public:
  LoopRing() = default;
  LoopRing(std::byte* base, std::uint32_t depth, std::uint32_t buffer_stride);

  std::uint64_t head() const noexcept { return header().head.load(std::memory_order_acquire); }
  std::uint64_t tail() const noexcept { return header().tail.load(std::memory_order_acquire); }
  std::uint32_t depth() const noexcept { return depth_; }
  /// Bytes that a packet can have.
  std::uint32_t room() const noexcept { return room_; }
  LoopEntry& entry(std::uint64_t number) const noexcept {
    return *reinterpret_cast<LoopEntry*>(at(number));
  }
  std::byte* bytes(std::uint64_t number) const noexcept { return at(number) + sizeof(LoopEntry); }

  // Producer.

  /// Fills the entry of a packet that is to come; `packet` has at most room() bytes.
  void put(std::uint64_t number, std::span<const std::byte> packet,
           std::uint32_t wire_length) const noexcept {
    LoopEntry& to = entry(number);
    to.ordinal.store(0, std::memory_order_relaxed);
    to.wire_length = wire_length;
    to.length = static_cast<std::uint16_t>(packet.size());
    std::memcpy(bytes(number), packet.data(), packet.size());
  }
  /// What was put in front of `head` is transmitted when the ledger of (stream, lane) has flipped
  /// `flips` times.
  void intend(std::uint64_t head, std::uint32_t stream, std::uint32_t lane,
              std::uint64_t flips) const noexcept {
    LoopHeader& to = header();
    hook(HookPoint::kLoopIntent);
    to.intent_flips.store(0, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    to.intent_head = head;
    to.intent_stream = stream;
    to.intent_lane = lane;
    to.intent_flips.store(flips, std::memory_order_release);
  }
  /// It has.
  void commit(std::uint64_t head) const noexcept {
    hook(HookPoint::kLoopHead);
    header().head.store(head, std::memory_order_release);
  }
  /// In place of a dead producer, before anything else amends its ledgers: what they say was
  /// transmitted is in the ring afterwards, and nothing else. `flips_of(stream, lane)`: how often
  /// that ledger has flipped. May be repeated.
  template <typename FlipsOf>
  void settle(FlipsOf&& flips_of) const noexcept {
    LoopHeader& from = header();
    const std::uint64_t flips = from.intent_flips.load(std::memory_order_acquire);
    if (flips == 0) return;
    if (flips_of(from.intent_stream, from.intent_lane) >= flips) {
      from.head.store(from.intent_head, std::memory_order_release);
    }
    from.intent_flips.store(0, std::memory_order_release);
  }

  // Consumer.

  void let_go_until(std::uint64_t tail) const noexcept {
    hook(HookPoint::kLoopTail);
    header().tail.store(tail, std::memory_order_release);
  }

 private:
  LoopHeader& header() const noexcept { return *reinterpret_cast<LoopHeader*>(base_); }
  std::byte* at(std::uint64_t number) const noexcept {
    return base_ + sizeof(LoopHeader) + (number & (depth_ - 1)) * entry_bytes_;
  }

  std::byte* base_ = nullptr;
  std::uint32_t depth_ = 0, room_ = 0;
  std::size_t entry_bytes_ = 0;
};

}  // namespace millrace
