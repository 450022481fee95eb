// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/stream_reader.hpp"

#include <algorithm>
#include <cstring>

#include "shared/base/check.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kBlocksMin = 8;  // of a direction: some holes where the window is small

/// How far `to` is behind `from`.
std::int32_t distance(std::uint32_t from, std::uint32_t to) noexcept {
  return sequence_distance(from, to);
}

}  // namespace

StreamReader::StreamReader(const StreamLimits& limits)
    : limits_(limits), text_(std::size_t{kept()} + static_cast<std::size_t>(span_max())) {}

/// Read bytes that stand in front of a text at most.
std::uint32_t StreamReader::kept() const noexcept {
  return std::max(limits_.carry, limits_.history);
}

/// From the first byte that is kept to the last one. Whole blocks are given back.
std::int64_t StreamReader::span_max() const noexcept {
  return std::int64_t{limits_.window} + kept() + kStreamBlockRoom;
}

StreamReader::Offer StreamReader::offer(const StreamTable& table,
                                        const StreamSegment& segment) noexcept {
  MILLRACE_CHECK(!segment.data.empty() && segment.data.size() <= SegmentSpans::kSegmentBytesMax);
  return offer_at(table, segment);
}

StreamReader::Offer StreamReader::skip(const StreamTable& table,
                                       const StreamSegment& segment) noexcept {
  MILLRACE_CHECK(limits_.skips && segment.data.empty());
  offer_ = {};
  const Stream* const stream = table.find(segment.tuple);
  const std::optional<std::uint32_t>& acknowledged = segment.acknowledged[segment.direction];
  if (stream == nullptr || !acknowledged) return {};
  const StreamSide& side = stream->side[segment.direction];
  // Of most streams this is all: their blocks are far away.
  if (side.is_over != 0 || distance(side.next, *acknowledged) <= 0) return {};
  const StreamBlock* const last = table.block(side.last);
  if (last == nullptr || distance(side.next, last->end()) <= 0) return {};
  return offer_at(table, segment);
}

/// Of a reader that skips: where it goes on if its receiver does not ask for what is missing.
std::uint32_t StreamReader::behind_hole(const StreamTable& table, const StreamSegment& segment,
                                        std::uint32_t acknowledged) const noexcept {
  const std::uint32_t end = segment.end();
  if (distance(segment.sequence, side_.next) >= 0 && distance(side_.next, end) > 0) {
    return side_.next;  // it brings what is missing
  }
  std::uint32_t until = acknowledged;
  const auto stop_at = [&](std::uint32_t sequence) {
    if (distance(side_.next, sequence) > 0 && distance(sequence, until) > 0) until = sequence;
  };
  if (!segment.data.empty()) stop_at(segment.sequence);
  const StreamBlock* const read = table.block(table.block_at(side_, side_.next));
  const StreamBlock* const ahead = table.block(read == nullptr ? side_.first : read->next);
  if (ahead != nullptr) stop_at(ahead->sequence);
  return until;
}

/// Of a picked up direction: its receiver asks for bytes in front of `sequence`.
bool StreamReader::is_behind(const StreamSegment& segment, std::uint32_t sequence) const noexcept {
  const std::optional<std::uint32_t>& acknowledged = segment.acknowledged[segment.direction];
  if (limits_.skips || !segment.is_answered || !acknowledged) return false;
  const std::int32_t missing = distance(*acknowledged, sequence);
  return missing > 0 && missing <= std::int64_t{limits_.window};
}

/// Where a direction that was picked up begins, if the segment lies in front of that and brings
/// what the receiver asks for. What has been read is kept, and is read once more behind it. Of a
/// receiver that is not heard it must join what has been read, or that would wait for more.
std::optional<std::uint32_t> StreamReader::begin_in_front(
    const StreamSegment& segment) const noexcept {
  if (!segment.is_picked_up || limits_.skips) return std::nullopt;
  if (stream_->position(direction_) > limits_.window) return std::nullopt;
  const std::optional<std::uint32_t>& acknowledged = segment.acknowledged[segment.direction];
  if (segment.is_answered) {
    const bool is_asked = is_behind(segment, side_.start) &&
                          distance(segment.sequence, *acknowledged) >= 0 &&
                          distance(*acknowledged, segment.end()) > 0;
    return is_asked ? acknowledged : std::nullopt;
  }
  const bool joins =
      distance(segment.sequence, side_.start) > 0 && distance(side_.start, segment.end()) >= 0;
  return joins ? std::optional(segment.sequence) : std::nullopt;
}

StreamReader::Offer StreamReader::offer_at(const StreamTable& table,
                                           const StreamSegment& segment) noexcept {
  spans_.clear();
  offer_ = {};
  is_moved_ = false;
  direction_ = segment.direction;
  stream_ = table.find(segment.tuple);
  side_ = stream_ == nullptr ? StreamSide{} : stream_->side[segment.direction];
  if (side_.is_over != 0) return {.fate = repeat(table, segment)};
  const std::optional<std::uint32_t>& acknowledged = segment.acknowledged[segment.direction];
  const bool begins = segment.begins || segment.is_picked_up;
  if (segment.begins && side_.is_known != 0 && side_.start != segment.sequence) {
    return {.fate = Fate::kConflicts};
  }
  if (side_.is_known == 0) {
    // Its receiver has acknowledged where it begins.
    if (!acknowledged && !begins) return {.fate = Fate::kConflicts};
    side_.is_known = 1;
    const bool is_known_to_begin = begins && !is_behind(segment, segment.sequence);
    side_.start = side_.next = is_known_to_begin ? segment.sequence : *acknowledged;
  } else if (const auto front = begin_in_front(segment)) {
    is_moved_ = true;
    side_.start = side_.next = *front;
    side_.read = 0;
  } else if ((segment.is_picked_up || limits_.skips) && acknowledged &&
             distance(side_.next, *acknowledged) > 0) {
    // What was on its way before the first packet was seen, or what has not come by.
    side_.next = limits_.skips ? behind_hole(table, segment, *acknowledged) : *acknowledged;
  }
  next_ = side_.next;
  const Fate fate = place(table, segment);
  offer_ = fate == Fate::kPasses ? text_of(table, segment) : Offer{.fate = fate};
  return offer_;
}

/// Behind the depth: what has been read before still has to be the same.
StreamReader::Fate StreamReader::repeat(const StreamTable& table,
                                        const StreamSegment& segment) noexcept {
  const std::int32_t old = distance(segment.sequence, side_.next);
  if (side_.is_over == 2 || old <= 0) return Fate::kPasses;
  StreamSegment read = segment;
  read.data = read.data.first(std::min(read.data.size(), static_cast<std::size_t>(old)));
  return compare(table, read);
}

/// Whether it may have its place, and which of its bytes are new.
StreamReader::Fate StreamReader::place(const StreamTable& table,
                                       const StreamSegment& segment) noexcept {
  const StreamBlock* const first = table.block(side_.first);
  const bool keeps_read = first != nullptr && distance(first->sequence, side_.next) > 0;
  const std::uint32_t kept_from = keeps_read ? first->sequence : side_.next;
  const std::uint32_t end = segment.end();
  if (distance(kept_from, end) > span_max()) return Fate::kNoRoom;
  const Fate fate = compare(table, segment);
  if (fate != Fate::kPasses) return fate;
  return spans_.blocks_needed() == 0 || has_room(table, segment) ? Fate::kPasses : Fate::kNoRoom;
}

/// What is ahead leaves room for fillers: without these nothing that waits would be read.
bool StreamReader::has_room(const StreamTable& table, const StreamSegment& segment) const noexcept {
  const std::uint32_t needed = spans_.blocks_needed();
  if (needed > table.free_blocks()) return false;
  if (distance(side_.next, segment.sequence) <= 0) return true;
  const std::uint64_t most =
      (2 * std::uint64_t{limits_.window} + kept()) / kStreamBlockRoom + kBlocksMin;
  return std::uint64_t{side_.blocks} + needed <= most &&
         table.free_blocks() - needed >= table.all_blocks() / 4;
}

/// Compares it with what is kept, and notes what is not.
StreamReader::Fate StreamReader::compare(const StreamTable& table,
                                         const StreamSegment& segment) noexcept {
  switch (spans_.find(table, side_, segment)) {
    case SegmentSpans::Found::kConflict:
      return Fate::kConflicts;
    case SegmentSpans::Found::kTooMany:
      return Fate::kNoRoom;
    case SegmentSpans::Found::kAll:
      break;
  }
  return Fate::kPasses;
}

/// Puts more of the read bytes in front of the text, until it has `count` of them, or all that are
/// kept.
void StreamReader::copy_read(const StreamTable& table, std::uint32_t count) noexcept {
  std::byte* const end = text_.data() + kept();
  std::uint32_t there = offer_.carry;
  std::uint32_t wanted = side_.next - there;  // the end of the piece that is copied next
  for (std::uint32_t at = table.block_at(side_, wanted - 1); at != 0 && there < count;) {
    const StreamBlock& block = *table.block(at);
    if (distance(wanted, block.end()) < 0) break;  // a hole, behind which nothing is kept
    const std::uint32_t in_block = wanted - block.sequence;
    const std::uint32_t bytes = std::min(in_block, count - there);
    there += bytes;
    std::memcpy(end - there, block.data + in_block - bytes, bytes);
    wanted = block.sequence;
    at = block.before;
  }
  const std::uint32_t more = there - offer_.carry;
  offer_.text = {end - there, offer_.text.size() + more};
  offer_.carry = there;
}

/// Of the side that the segment is for; at or behind what has been read.
std::uint64_t StreamReader::position_of(std::uint32_t sequence) const noexcept {
  const bool is_new = stream_ == nullptr || is_moved_;
  const std::uint64_t read = is_new ? 0 : stream_->position(direction_);
  return read +
         static_cast<std::uint32_t>(sequence - side_.start - static_cast<std::uint32_t>(read));
}

/// What follows what has been read so far: of the segment where it counts, else of `block`, which
/// is the first one that ends behind that place.
std::span<const std::byte> StreamReader::piece_of(const StreamSegment& segment,
                                                  const StreamBlock* block) const noexcept {
  const bool is_kept = block != nullptr && distance(next_, block->sequence) <= 0;
  std::uint32_t end = is_kept ? block->end() : next_;
  for (const SegmentSpans::Span& span : spans_.all()) {
    const std::uint32_t begin = segment.sequence + span.begin, until = segment.sequence + span.end;
    if (distance(begin, next_) >= 0 && distance(next_, until) > 0) {
      return segment.data.subspan(next_ - segment.sequence, until - next_);
    }
    if (distance(next_, begin) > 0 && distance(begin, end) > 0) end = begin;
  }
  if (!is_kept) return {};
  return {block->data + (next_ - block->sequence), end - next_};
}

/// What the segment lets a receiver read: nothing, if it is not the filler.
StreamReader::Offer StreamReader::text_of(const StreamTable& table,
                                          const StreamSegment& segment) noexcept {
  std::byte* const begin = text_.data() + kept();
  std::byte* to = begin;
  const StreamBlock* block = table.block(table.block_at(side_, next_));
  if (block == nullptr) block = table.block(side_.first);
  for (;;) {
    while (block != nullptr && distance(next_, block->end()) <= 0) block = table.block(block->next);
    const std::span<const std::byte> piece = piece_of(segment, block);
    if (piece.empty()) break;
    std::memcpy(to, piece.data(), piece.size());
    to += piece.size();
    next_ += static_cast<std::uint32_t>(piece.size());
  }
  if (to == begin) return {.has_new = !spans_.all().empty()};
  offer_ = {.text = {begin, to}, .has_new = true, .position = position_of(side_.next)};
  copy_read(table, limits_.carry);
  return offer_;
}

StreamReader::Offer StreamReader::whole(const StreamTable& table) noexcept {
  if (!offer_.text.empty()) copy_read(table, limits_.history);
  return offer_;
}

/// Blocks with bytes that can be neither sent once more nor carried.
std::uint32_t StreamReader::forgettable(const StreamTable& table, const StreamSide& side,
                                        std::uint32_t acknowledged) const noexcept {
  const bool is_narrow = table.free_blocks() < table.all_blocks() / 2;
  const std::uint32_t carried = side.next - std::min(is_narrow ? limits_.carry : kept(), side.read);
  const std::uint32_t until = distance(carried, acknowledged) < 0 ? acknowledged : carried;
  std::uint32_t count = 0;
  for (const StreamBlock* block = table.block(side.first);
       block != nullptr && distance(block->end(), until) >= 0; block = table.block(block->next)) {
    ++count;
  }
  return count;
}

bool StreamReader::handshake(StreamTable& table, const FlowTuple& tuple, std::uint8_t direction,
                             std::uint32_t first,
                             std::optional<std::uint32_t> acknowledges) const noexcept {
  Stream* const stream = table.find(tuple);
  if (stream == nullptr) return true;
  const StreamSide &own = stream->side[direction], &other = stream->side[1 - direction];
  const bool is_own = own.is_known != 0 && own.start == first;
  if (!acknowledges) {
    if (is_own) return true;
    StreamSide& asking = table.change_side(*stream, direction);
    asking.asked = first;
    asking.has_asked = 1;
    return true;
  }
  if (other.has_asked != 0 && other.asked == *acknowledges) {
    if (other.is_known != 0 || own.is_picked_up != 0) {
      table.end(tuple);
      return true;
    }
    if (!is_own) return false;
    StreamSide& begun = table.change_side(*stream, static_cast<std::uint8_t>(1 - direction));
    begun.is_known = 1;
    begun.start = begun.next = *acknowledges;
    return true;
  }
  if (own.is_known == 0 && answers_data(other, *acknowledges)) {
    StreamSide& begun = table.change_side(*stream, direction);
    begun.is_known = 1;
    begun.start = begun.next = first;
    return true;
  }
  return is_own && other.is_known != 0 &&
         (other.start == *acknowledges || answers_data(other, *acknowledges));
}

/// Of a SYN+ACK for a SYN with data: it acknowledges some of them, or none.
bool StreamReader::answers_data(const StreamSide& asking,
                                std::uint32_t acknowledged) const noexcept {
  return limits_.fast_open && asking.is_known != 0 && asking.is_picked_up == 0 &&
         distance(asking.start, acknowledged) >= 0 && distance(acknowledged, asking.next) >= 0;
}

void StreamReader::acknowledge(StreamTable& table, const FlowTuple& tuple, std::uint8_t direction,
                               std::uint32_t acknowledged) const noexcept {
  Stream* const stream = table.find(tuple);
  if (stream == nullptr) return;
  const StreamSide& now = stream->side[direction];
  if (now.is_over == 1 && distance(now.next, acknowledged) >= 0) {
    StreamSide& side = table.change_side(*stream, direction);
    side.is_over = 2;
    table.release(side, side.blocks);
    return;
  }
  const std::uint32_t count = now.blocks == 0 ? 0 : forgettable(table, now, acknowledged);
  if (count != 0) table.release(table.change_side(*stream, direction), count);
}

/// Where the other direction begins is known too: nothing of it has passed so far.
void StreamReader::begin(StreamTable& table, const StreamSegment& segment) noexcept {
  stream_ = table.begin(segment.tuple);
  const auto other = static_cast<std::uint8_t>(1 - segment.direction);
  if (stream_ == nullptr || segment.is_picked_up || !segment.acknowledged[other]) return;
  StreamSide& side = table.change_side(*stream_, other);
  side.is_known = 1;
  side.start = side.next = *segment.acknowledged[other];
}

bool StreamReader::commit(StreamTable& table, const StreamSegment& segment) noexcept {
  if (side_.is_over != 0) return true;
  if (spans_.all().empty() && next_ == side_.next) return true;
  if (stream_ == nullptr) begin(table, segment);
  if (stream_ == nullptr) return false;
  StreamSide& side = table.change_side(*stream_, segment.direction);
  if (side.is_known == 0) {
    side.is_known = 1;
    side.start = side.next = side_.start;
    side.is_picked_up = segment.is_picked_up ? 1 : 0;
  }
  if (is_moved_) {
    side.start = side.next = side_.start;
    side.read = 0;
  }
  spans_.store(table, side, segment);
  if (next_ - side.start < side.next - side.start) {
    ++table.change_rounds(*stream_).rounds[segment.direction];
  }
  side.next = next_;
  side.read += std::min(next_ - side_.next, UINT32_MAX - side.read);
  if (limits_.depth != 0 && side.read >= limits_.depth) side.is_over = 1;
  if (const auto& acknowledged = segment.acknowledged[segment.direction]) {
    table.release(side, forgettable(table, side, *acknowledged));
  }
  return true;
}

}  // namespace millrace
