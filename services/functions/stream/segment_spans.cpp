// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/segment_spans.hpp"

#include <algorithm>
#include <cstring>

namespace millrace {
namespace {

bool is_acknowledged(const StreamSegment& segment, std::uint32_t end) noexcept {
  const std::optional<std::uint32_t>& acknowledged = segment.acknowledged[segment.direction];
  return acknowledged && sequence_distance(end, *acknowledged) >= 0;
}

/// Of `count` bytes from `sequence` on: those that the receiver has, and does not look at again. A
/// keep-alive has one, of any value.
std::uint32_t acknowledged_of(const StreamSegment& segment, std::uint32_t sequence,
                              std::uint32_t count) noexcept {
  const std::optional<std::uint32_t>& acknowledged = segment.acknowledged[segment.direction];
  const std::int32_t seen = acknowledged ? sequence_distance(sequence, *acknowledged) : 0;
  return seen <= 0 ? 0 : std::min(count, static_cast<std::uint32_t>(seen));
}

/// The bytes of block `reference` from `sequence` on, in a block of their own behind it.
void keep_tail(StreamTable& table, StreamSide& side, std::uint32_t reference,
               std::uint32_t sequence) noexcept {
  const StreamBlock& from = *table.block(reference);
  StreamBlock& tail = table.change_block(table.put_block(side, reference, sequence));
  tail.bytes = from.end() - sequence;
  tail.segment = from.segment;
  std::memcpy(tail.data, from.data + (sequence - from.sequence), tail.bytes);
}

/// Takes what waits within `extent` out of its blocks, behind block `before`. No byte of a block is
/// written: the batch may be taken back. Returns the block behind which the new bytes come.
std::uint32_t take_out(StreamTable& table, StreamSide& side, std::uint32_t before,
                       const SegmentExtent& extent) noexcept {
  const auto cut = [&](std::uint32_t reference) -> StreamBlock& {
    if (sequence_distance(extent.end, table.block(reference)->end()) > 0) {
      keep_tail(table, side, reference, extent.end);
    }
    return table.change_block(reference);
  };
  const StreamBlock* const first = table.block(before);
  if (first != nullptr && sequence_distance(extent.begin, first->end()) > 0) {
    StreamBlock& block = cut(before);
    block.bytes = extent.begin - block.sequence;
  }
  std::uint32_t reference = first == nullptr ? side.first : first->next;
  while (reference != 0 && sequence_distance(table.block(reference)->sequence, extent.end) > 0) {
    StreamBlock& block = cut(reference);
    block.sequence = extent.begin;
    block.bytes = 0;
    before = reference;
    reference = block.next;
  }
  return before;
}

}  // namespace

/// How far find() has come.
struct SegmentSpans::Place {
  const StreamSegment& segment;
  std::uint32_t at = 0;      ///< in the segment
  std::uint32_t before = 0;  ///< the last block in front of it
  std::uint32_t reference = 0;
  const StreamBlock* block = nullptr;  ///< of `reference`: the next one, or that with the byte
  std::uint32_t looked_at = 0;         ///< blocks

  std::uint32_t sequence() const noexcept { return segment.sequence + at; }
  void go_on(const StreamTable& table, std::uint32_t to) noexcept {
    reference = to;
    block = table.block(to);
    ++looked_at;
  }
};

SegmentSpans::Found SegmentSpans::find(const StreamTable& table, const StreamSide& side,
                                       const StreamSegment& segment) noexcept {
  clear();
  next_ = side.next;
  const auto bytes = static_cast<std::uint32_t>(segment.data.size());
  const std::uint32_t first = table.block_at(side, segment.sequence);
  Place place{.segment = segment, .before = first};
  place.go_on(table, first);
  if (place.block == nullptr || sequence_distance(segment.sequence, place.block->end()) <= 0) {
    place.go_on(table, place.block == nullptr ? side.first : place.block->next);
  }
  while (place.at < bytes) {
    std::uint32_t end = bytes;
    if (place.block != nullptr && sequence_distance(place.block->sequence, segment.end()) > 0) {
      const std::int32_t until = sequence_distance(segment.sequence, place.block->sequence);
      end = static_cast<std::uint32_t>(std::max(until, static_cast<std::int32_t>(place.at)));
    }
    const Found found = end > place.at ? take_missing(place, end) : take_kept(table, place);
    if (found != Found::kAll) return found;
  }
  count_blocks(table, segment);
  return Found::kAll;
}

/// Nothing is kept of the bytes up to `end`.
SegmentSpans::Found SegmentSpans::take_missing(Place& place, std::uint32_t end) noexcept {
  const StreamSegment& segment = place.segment;
  const std::int32_t old = sequence_distance(place.sequence(), next_);
  const std::uint32_t read =
      old <= 0 ? place.at : std::min(end, place.at + static_cast<std::uint32_t>(old));
  if (read > place.at && segment.overlaps == OverlapPolicy::kNone &&
      !is_acknowledged(segment, segment.sequence + read)) {
    return Found::kConflict;
  }
  if (read < end && !add({place.before, read, end, false})) return Found::kTooMany;
  place.at = end;
  return Found::kAll;
}

/// The block has the next byte.
SegmentSpans::Found SegmentSpans::take_kept(const StreamTable& table, Place& place) noexcept {
  const StreamSegment& segment = place.segment;
  const StreamBlock& block = *place.block;
  const std::uint32_t sequence = place.sequence(), skip = sequence - block.sequence;
  const auto bytes = static_cast<std::uint32_t>(segment.data.size());
  const std::uint32_t count = std::min(bytes - place.at, block.bytes - skip);
  const std::uint32_t seen = acknowledged_of(segment, sequence, count);
  const bool is_same = std::memcmp(segment.data.data() + place.at + seen, block.data + skip + seen,
                                   count - seen) == 0;
  if (segment.overlaps == OverlapPolicy::kNone) {
    if (!is_same) return Found::kConflict;
  } else {
    if (place.looked_at > kLookedAtMax) return Found::kTooMany;
    const std::int32_t read = std::max(sequence_distance(sequence, next_), std::int32_t(seen));
    const std::uint32_t from = static_cast<std::uint32_t>(std::max(read, 0));
    const SegmentExtent& waits = block.segment;
    const SegmentExtent comes = segment.extent();
    const bool is_repeated = is_same && waits.begin == comes.begin && waits.end == comes.end;
    if (from < count && !is_repeated && counts_instead(segment.overlaps, waits, comes)) {
      const std::uint32_t before = skip + from == 0 ? block.before : place.reference;
      if (!add({before, place.at + from, place.at + count, true})) return Found::kTooMany;
      blocks_needed_ += sequence_distance(segment.end(), block.end()) > 0 ? 1 : 0;
    }
  }
  place.at += count;
  place.before = place.reference;
  place.go_on(table, block.next);
  return Found::kAll;
}

bool SegmentSpans::add(const Span& span) noexcept {
  if (count_ != 0 && spans_[count_ - 1].end == span.begin) {
    spans_[count_ - 1].end = span.end;
    spans_[count_ - 1].replaces = spans_[count_ - 1].replaces || span.replaces;
    return true;
  }
  if (count_ == kSpansMax) return false;
  spans_[count_++] = span;
  return true;
}

/// It continues the block in front of it. Where others may take the place of what waits, each block
/// that waits is of one segment, and no byte is written where one has been.
bool SegmentSpans::appends(const StreamTable& table, const StreamSegment& segment,
                           const Span& span) const noexcept {
  const StreamBlock* const block = table.block(span.before);
  const std::uint32_t sequence = segment.sequence + span.begin;
  if (block == nullptr || block->end() != sequence || span.replaces) return false;
  return segment.overlaps == OverlapPolicy::kNone || sequence_distance(sequence, next_) >= 0;
}

void SegmentSpans::count_blocks(const StreamTable& table, const StreamSegment& segment) noexcept {
  for (const Span& span : all()) {
    const std::uint32_t bytes = span.end - span.begin;
    const std::uint32_t room =
        appends(table, segment, span) ? kStreamBlockRoom - table.block(span.before)->bytes : 0;
    blocks_needed_ += (bytes - std::min(room, bytes) + kStreamBlockRoom - 1) / kStreamBlockRoom;
  }
}

void SegmentSpans::store(StreamTable& table, StreamSide& side,
                         const StreamSegment& segment) const noexcept {
  for (const Span& span : all()) {
    bool begins = !appends(table, segment, span);
    std::uint32_t last = span.before;
    if (span.replaces) {
      last =
          take_out(table, side, last, {segment.sequence + span.begin, segment.sequence + span.end});
    }
    for (std::uint32_t at = span.begin; at < span.end;) {
      begins = begins || table.block(last)->bytes == kStreamBlockRoom;
      if (begins) last = table.put_block(side, last, segment.sequence + at);
      StreamBlock& block = table.change_block(last);
      if (begins) block.segment = segment.extent();
      const std::uint32_t count = std::min(span.end - at, kStreamBlockRoom - block.bytes);
      std::memcpy(block.data + block.bytes, segment.data.data() + at, count);
      block.bytes += count;
      at += count;
      begins = false;
    }
  }
}

}  // namespace millrace
