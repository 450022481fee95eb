// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/stream_reader.hpp"

#include <algorithm>
#include <cstring>

#include "shared/base/check.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kSegmentBytesMax = 65'535;
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

bool StreamReader::is_acknowledged(const StreamSegment& segment, std::uint32_t end) const noexcept {
  const std::optional<std::uint32_t>& acknowledged = segment.acknowledged[segment.direction];
  return segment.is_picked_up || (acknowledged && distance(end, *acknowledged) >= 0);
}

/// Of `count` bytes from `sequence` on: those that the receiver has, and does not look at again. A
/// keep-alive has one, of any value.
std::uint32_t StreamReader::acknowledged_of(const StreamSegment& segment, std::uint32_t sequence,
                                            std::uint32_t count) noexcept {
  const std::optional<std::uint32_t>& acknowledged = segment.acknowledged[segment.direction];
  const std::int32_t seen = acknowledged ? distance(sequence, *acknowledged) : 0;
  return seen <= 0 ? 0 : std::min(count, static_cast<std::uint32_t>(seen));
}

StreamReader::Offer StreamReader::offer(const StreamTable& table,
                                        const StreamSegment& segment) noexcept {
  MILLRACE_CHECK(!segment.data.empty() && segment.data.size() <= kSegmentBytesMax);
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
  const std::uint32_t end = segment.sequence + static_cast<std::uint32_t>(segment.data.size());
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

StreamReader::Offer StreamReader::offer_at(const StreamTable& table,
                                           const StreamSegment& segment) noexcept {
  gap_count_ = blocks_needed_ = 0;
  offer_ = {};
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
    side_.start = side_.next = begins ? segment.sequence : *acknowledged;
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
  const std::uint32_t end = segment.sequence + static_cast<std::uint32_t>(segment.data.size());
  if (distance(kept_from, end) > span_max()) return Fate::kNoRoom;
  const Fate fate = compare(table, segment);
  if (fate != Fate::kPasses) return fate;
  return blocks_needed_ == 0 || has_room(table, segment) ? Fate::kPasses : Fate::kNoRoom;
}

/// What is ahead leaves room for fillers: without these nothing that waits would be read.
bool StreamReader::has_room(const StreamTable& table, const StreamSegment& segment) const noexcept {
  if (blocks_needed_ > table.free_blocks()) return false;
  if (distance(side_.next, segment.sequence) <= 0) return true;
  const std::uint64_t most =
      (2 * std::uint64_t{limits_.window} + kept()) / kStreamBlockRoom + kBlocksMin;
  return std::uint64_t{side_.blocks} + blocks_needed_ <= most &&
         table.free_blocks() - blocks_needed_ >= table.all_blocks() / 4;
}

/// Compares it with what is kept, and notes what is not.
StreamReader::Fate StreamReader::compare(const StreamTable& table,
                                         const StreamSegment& segment) noexcept {
  const std::uint32_t bytes = static_cast<std::uint32_t>(segment.data.size());
  std::uint32_t before = table.block_at(side_, segment.sequence);
  const StreamBlock* block = table.block(before);
  std::uint32_t reference = before;
  if (block == nullptr || distance(segment.sequence, block->end()) <= 0) {
    reference = block == nullptr ? side_.first : block->next;
    block = table.block(reference);
  }
  for (std::uint32_t at = 0; at < bytes;) {
    const std::uint32_t sequence = segment.sequence + at;
    std::uint32_t end = bytes;
    if (block != nullptr && distance(block->sequence, segment.sequence + bytes) > 0) {
      end = static_cast<std::uint32_t>(
          std::max(distance(segment.sequence, block->sequence), std::int32_t(at)));
    }
    if (end > at) {  // nothing is kept of [at, end)
      const std::int32_t old = distance(sequence, side_.next);
      const std::uint32_t read = old <= 0 ? at : std::min(end, at + std::uint32_t(old));
      if (read > at && !is_acknowledged(segment, segment.sequence + read)) return Fate::kConflicts;
      const Gap gap{before, read, end};
      if (read < end && !add_gap(table.block(before), gap, segment.sequence + read)) {
        return Fate::kNoRoom;
      }
      at = end;
      continue;
    }
    const std::uint32_t skip = sequence - block->sequence;
    const std::uint32_t count = std::min(bytes - at, block->bytes - skip);
    const std::uint32_t seen = acknowledged_of(segment, sequence, count);
    if (std::memcmp(segment.data.data() + at + seen, block->data + skip + seen, count - seen) !=
        0) {
      return Fate::kConflicts;
    }
    at += count;
    before = reference;
    reference = block->next;
    block = table.block(reference);
  }
  return Fate::kPasses;
}

/// `block`: that of `gap.before`; `sequence`: of the gap's first byte.
bool StreamReader::add_gap(const StreamBlock* block, const Gap& gap,
                           std::uint32_t sequence) noexcept {
  if (gap_count_ == kGapsMax) return false;
  gaps_[gap_count_++] = gap;
  const bool adjacent = block != nullptr && block->end() == sequence;
  const std::uint32_t room = adjacent ? kStreamBlockRoom - block->bytes : 0;
  const std::uint32_t rest = gap.end - gap.begin - std::min(room, gap.end - gap.begin);
  blocks_needed_ += (rest + kStreamBlockRoom - 1) / kStreamBlockRoom;
  return true;
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
  const std::uint64_t read = stream_ == nullptr ? 0 : stream_->position(direction_);
  return read +
         static_cast<std::uint32_t>(sequence - side_.start - static_cast<std::uint32_t>(read));
}

/// What the segment lets a receiver read: nothing, if it is not the filler.
StreamReader::Offer StreamReader::text_of(const StreamTable& table,
                                          const StreamSegment& segment) noexcept {
  const std::uint32_t end = segment.sequence + static_cast<std::uint32_t>(segment.data.size());
  std::byte* const begin = text_.data() + kept();
  std::byte* to = begin;
  const auto put = [&](const std::byte* from, std::uint32_t count) {
    std::memcpy(to, from, count);
    to += count;
    next_ += count;
  };
  const auto put_segment = [&] {
    if (distance(segment.sequence, next_) < 0 || distance(next_, end) <= 0) return false;
    put(segment.data.data() + (next_ - segment.sequence), end - next_);
    return true;
  };
  const auto put_blocks = [&] {
    for (const StreamBlock* block = table.block(table.block_at(side_, next_));
         block != nullptr && distance(next_, block->sequence) <= 0;
         block = table.block(block->next)) {
      if (distance(next_, block->end()) <= 0) continue;
      const std::uint32_t read = next_ - block->sequence;
      put(block->data + read, block->bytes - read);
    }
  };
  // Where a hole was given up, what waits behind it may come first.
  if (!put_segment()) {
    put_blocks();
    put_segment();
  }
  put_blocks();
  if (to == begin) return {.has_new = gap_count_ != 0};
  offer_ = {.text = {begin, to}, .has_new = true, .position = position_of(side_.next)};
  copy_read(table, limits_.carry);
  return offer_;
}

StreamReader::Offer StreamReader::whole(const StreamTable& table) noexcept {
  if (!offer_.text.empty()) copy_read(table, limits_.history);
  return offer_;
}

void StreamReader::store(StreamTable& table, StreamSide& side, const StreamSegment& segment,
                         const Gap& gap) noexcept {
  std::uint32_t before = gap.before;
  for (std::uint32_t at = gap.begin; at < gap.end;) {
    const std::uint32_t sequence = segment.sequence + at;
    const StreamBlock* const last = table.block(before);
    if (last == nullptr || last->end() != sequence || last->bytes == kStreamBlockRoom) {
      before = table.put_block(side, before, sequence);
    }
    StreamBlock& block = table.change_block(before);
    const std::uint32_t count = std::min(gap.end - at, kStreamBlockRoom - block.bytes);
    std::memcpy(block.data + block.bytes, segment.data.data() + at, count);
    block.bytes += count;
    at += count;
  }
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
  if (gap_count_ == 0 && next_ == side_.next) return true;
  if (stream_ == nullptr) begin(table, segment);
  if (stream_ == nullptr) return false;
  StreamSide& side = table.change_side(*stream_, segment.direction);
  if (side.is_known == 0) {
    side.is_known = 1;
    side.start = side.next = side_.start;
    side.is_picked_up = segment.is_picked_up ? 1 : 0;
  }
  for (std::uint32_t i = 0; i < gap_count_; ++i) store(table, side, segment, gaps_[i]);
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
