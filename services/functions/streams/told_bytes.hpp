// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "shared/base/limits.hpp"
#include "shared/layout/event_record.hpp"

/// Which bytes of one direction of a TCP connection have been told of, so that each is told of
/// once: the version that came first. No byte is kept. Positions count from the first byte of all,
/// or, where the beginning was not seen, from kStreamOrigin bytes in front of the first segment's.

namespace millrace {

/// Positions [begin, end), by their low 32 bits.
struct ToldRange {
  std::uint32_t begin, end;
};

/// In a lane's state; all zero: nothing is known.
struct ToldBytes {
  static constexpr std::uint32_t kAheadMax = 18;

  std::uint64_t first, next;  ///< [first, next) have been told of
  std::uint64_t seen;         ///< behind the last byte that was seen
  std::uint64_t lost;         ///< bytes that found no room on their way
  std::uint32_t start;        ///< sequence number of position 0
  std::uint32_t asked;        ///< where another SYN begins, if `has_asked`
  std::uint32_t fin;          ///< sequence number of the first FIN, if `has_fin`
  std::uint8_t is_known;      ///< 1: `start` says something
  std::uint8_t is_picked_up;  ///< 1: the beginning was not seen
  std::uint8_t has_asked : 1, has_fin : 1;
  std::uint8_t has_forgotten : 1;  ///< bytes have been told of that are in no range
  std::uint8_t spare : 5;
  std::uint8_t ahead_count;
  std::array<ToldRange, kAheadMax> ahead;  ///< behind `next`, in order, apart from each other

  bool is_empty() const noexcept { return first == next && ahead_count == 0; }
};
static_assert(sizeof(ToldBytes) == 3 * kCacheLine && std::is_trivially_copyable_v<ToldBytes>);

/// Bytes of a segment that have not been told of.
struct NewBytes {
  std::uint64_t position;
  std::uint32_t offset, bytes;  ///< in the segment
};
/// A segment brings as many pieces at most.
inline constexpr std::size_t kNewBytesMax = ToldBytes::kAheadMax + 2;

/// A stream begins with the byte of that number.
void begin_told(ToldBytes& told, std::uint32_t sequence) noexcept;
/// The same where the beginning was not seen.
void pick_up_told(ToldBytes& told, std::uint32_t sequence) noexcept;

/// Which of `bytes` bytes from `sequence` on are new; they count as told of from now on. Those at
/// `depth` bytes behind the begin, and further, are none; 0: all are. `bytes`: 1..65,535. With
/// kAheadMax ranges apart, further ones are new as often as they come until the receiver has
/// `acknowledged` them: then its application has the version that came before. Returns how many of
/// `out` there are. What is 2 GiB ahead or more, or in front of the first byte of all, is not new.
std::size_t tell_bytes(ToldBytes& told, std::uint32_t sequence, std::uint32_t bytes,
                       std::uint64_t depth, std::optional<std::uint32_t> acknowledged,
                       std::span<NewBytes, kNewBytesMax> out) noexcept;

}  // namespace millrace
