// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "services/functions/stream/stream_segment.hpp"
#include "services/functions/stream/stream_table.hpp"

namespace millrace {

/// Which bytes of one segment count: those that are in no block so far, and, by the policy of its
/// receiver, those that take the place of others that wait.
class SegmentSpans {
 public:
  /// A segment has so many at most. More are not taken.
  static constexpr std::uint32_t kSpansMax = 8;
  /// So many blocks are looked at for a segment that may take the place of others.
  static constexpr std::uint32_t kLookedAtMax = 32;
  static constexpr std::uint32_t kSegmentBytesMax = 65'535;
  /// Lines of the state that store() changes at most, without the side.
  static constexpr std::uint32_t kLinesOfStore =
      (kSpansMax + kSegmentBytesMax / kStreamBlockRoom + 2) * (StreamTable::kLinesOfBlock + 2) +
      kLookedAtMax;

  enum class Found : std::uint8_t {
    kAll,
    kConflict,  ///< it is not what has passed before, or cannot be compared
    kTooMany,
  };
  /// Bytes [begin, end) of the segment, from its first one on, behind block `before`.
  struct Span {
    std::uint32_t before, begin, end;
    bool replaces;  ///< some of them take the place of others
  };

  void clear() noexcept { count_ = blocks_needed_ = 0; }
  /// Compares it with what is kept. `side`: of its direction.
  Found find(const StreamTable& table, const StreamSide& side,
             const StreamSegment& segment) noexcept;
  /// What find() has found last, in the order of their places.
  std::span<const Span> all() const noexcept { return {spans_.data(), count_}; }
  std::uint32_t blocks_needed() const noexcept { return blocks_needed_; }
  /// Puts them into blocks. Since find() neither table nor segment has changed; `side` is under
  /// change, and has blocks_needed() free blocks.
  void store(StreamTable& table, StreamSide& side, const StreamSegment& segment) const noexcept;

 private:
  struct Place;

  Found take_missing(Place& place, std::uint32_t end) noexcept;
  Found take_kept(const StreamTable& table, Place& place) noexcept;
  bool add(const Span& span) noexcept;
  void count_blocks(const StreamTable& table, const StreamSegment& segment) noexcept;
  bool appends(const StreamTable& table, const StreamSegment& segment,
               const Span& span) const noexcept;

  std::array<Span, kSpansMax> spans_{};
  std::uint32_t count_ = 0, blocks_needed_ = 0;
  std::uint32_t next_ = 0;  ///< of the side
};

}  // namespace millrace
