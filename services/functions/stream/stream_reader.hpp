// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "services/functions/stream/segment_spans.hpp"
#include "services/functions/stream/stream_segment.hpp"
#include "services/functions/stream/stream_table.hpp"

/// Reads byte streams of TCP as their receivers will read them, and says of each segment whether it
/// may pass. What a receiver gets is what has been read:
///
/// - A segment that continues the stream is the *filler*: its new bytes, and those that waited
///   behind them, are the text to be looked at. If the caller drops it, nothing has happened, and
///   the receiver delivers nothing of what follows.
/// - One that is ahead passes, and its bytes wait.
/// - Bytes that have passed once are kept until the receiver acknowledges them. A segment that
///   brings others for the same place does not pass (T. Ptacek and T. Newsham, Insertion, Evasion,
///   and Denial of Service, 1998; RFC 9293 3.10.7.4 leaves to receivers which ones they take),
///   unless it is known which ones its receiver takes (StreamSegment::overlaps).
/// - A direction that was picked up in its middle begins at its first segment, or where its
///   receiver asks for bytes in front of that. Bytes in front of it that the receiver has not
///   acknowledged do not pass: they would be read, and nothing has looked at them.

namespace millrace {

struct StreamLimits {
  std::uint32_t window = 1u << 20;  ///< bytes of a direction that are kept: 1..kStreamWindowMax,
                                    ///< beside those that are carried
  std::uint32_t depth = 0;          ///< bytes of a direction that are read; 0: all
  std::uint32_t carry = 0;          ///< read bytes that a text begins with: 0..kStreamCarryMax
  /// Read bytes of a direction that are kept for whole() and KeptBytes: 0..kStreamHistoryMax. Where
  /// more than half of the blocks are in use, only `carry` is.
  std::uint32_t history = 0;
  /// Bytes that the receiver has acknowledged and that have not come by are given up: for a
  /// function that lets pass what does not fit.
  bool skips = false;
  /// Data of a SYN (RFC 7413) are read when they come, and so are those behind a SYN+ACK. Their
  /// receiver may leave them out and take others: for such a function, too.
  bool fast_open = false;
};
inline constexpr std::uint32_t kStreamWindowMax = 16u << 20;
inline constexpr std::uint32_t kStreamCarryMax = 1024;
inline constexpr std::uint32_t kStreamHistoryMax = 64u << 10;

class StreamReader {
 public:
  /// Lines of the state that offer() and commit() of one segment change at most.
  static constexpr std::uint32_t kLinesOfSegment =
      StreamTable::kLinesOfBegin + 3 + StreamTable::kLinesOfRelease + SegmentSpans::kLinesOfStore;
  /// The same of skip() and the commit() behind it.
  static constexpr std::uint32_t kLinesOfSkip = 2 + StreamTable::kLinesOfRelease;
  /// The same of acknowledge().
  static constexpr std::uint32_t kLinesOfAcknowledgment = 1 + StreamTable::kLinesOfRelease;

  enum class Fate : std::uint8_t {
    kPasses,
    kConflicts,  ///< it is not what has passed before, or cannot be compared
    kNoRoom,     ///< no room to keep its bytes; its sender will send them once more
  };
  struct Offer {
    Fate fate = Fate::kPasses;
    std::span<const std::byte>
        text;                    ///< to be looked at; empty: nothing new. Until the next offer()
    std::uint32_t carry = 0;     ///< bytes of it that have been read before
    bool has_new = false;        ///< it brings bytes that had not passed so far
    std::uint64_t position = 0;  ///< of the first byte behind `carry`, from the stream's begin on
  };

  /// Allocates; throws std::bad_alloc. `limits` are right.
  explicit StreamReader(const StreamLimits& limits);

  /// What the segment is. Changes nothing.
  Offer offer(const StreamTable& table, const StreamSegment& segment) noexcept;
  /// With StreamLimits::skips: what waits behind a hole that the receiver has acknowledged.
  /// `segment` has no data. Empty text: nothing does. Behind it whole() and commit(), as behind
  /// offer().
  Offer skip(const StreamTable& table, const StreamSegment& segment) noexcept;
  /// The text that was offered last, with as many of the read bytes in front of it as are kept, and
  /// `history` allows. `table` is the same, unchanged since. Until the next offer().
  Offer whole(const StreamTable& table) noexcept;
  /// The segment that was offered last passes. `table` is the same, unchanged since. False: there
  /// is no room for a stream, and it must not pass.
  bool commit(StreamTable& table, const StreamSegment& segment) noexcept;
  /// A SYN of `direction`, with data from `first` on; `acknowledges`: of a SYN+ACK. False: it
  /// must not pass. A stream ends where the other side has asked for another one before, and gets
  /// it: a side alone cannot make the reader forget what it has read.
  bool handshake(StreamTable& table, const FlowTuple& tuple, std::uint8_t direction,
                 std::uint32_t first, std::optional<std::uint32_t> acknowledges) const noexcept;
  /// The other side has acknowledged bytes of `direction`: they need not be kept.
  void acknowledge(StreamTable& table, const FlowTuple& tuple, std::uint8_t direction,
                   std::uint32_t acknowledged) const noexcept;

 private:
  std::uint32_t kept() const noexcept;
  std::int64_t span_max() const noexcept;
  Offer offer_at(const StreamTable& table, const StreamSegment& segment) noexcept;
  bool is_behind(const StreamSegment& segment, std::uint32_t sequence) const noexcept;
  std::optional<std::uint32_t> begin_in_front(const StreamSegment& segment) const noexcept;
  std::uint32_t behind_hole(const StreamTable& table, const StreamSegment& segment,
                            std::uint32_t acknowledged) const noexcept;
  Fate place(const StreamTable& table, const StreamSegment& segment) noexcept;
  Fate repeat(const StreamTable& table, const StreamSegment& segment) noexcept;
  Fate compare(const StreamTable& table, const StreamSegment& segment) noexcept;
  std::span<const std::byte> piece_of(const StreamSegment& segment,
                                      const StreamBlock* block) const noexcept;
  Offer text_of(const StreamTable& table, const StreamSegment& segment) noexcept;
  void copy_read(const StreamTable& table, std::uint32_t count) noexcept;
  std::uint64_t position_of(std::uint32_t sequence) const noexcept;
  void begin(StreamTable& table, const StreamSegment& segment) noexcept;
  bool has_room(const StreamTable& table, const StreamSegment& segment) const noexcept;
  bool answers_data(const StreamSide& asking, std::uint32_t acknowledged) const noexcept;
  std::uint32_t forgettable(const StreamTable& table, const StreamSide& side,
                            std::uint32_t acknowledged) const noexcept;

  StreamLimits limits_;
  std::vector<std::byte> text_;
  // Of the segment that was offered last.
  StreamSide side_{};  ///< as it is before it
  Stream* stream_ = nullptr;
  bool is_moved_ = false;  ///< the direction begins in front of where it was picked up
  std::uint8_t direction_ = 0;
  std::uint32_t next_ = 0;  ///< as it is behind it
  Offer offer_{};
  SegmentSpans spans_;
};

}  // namespace millrace
