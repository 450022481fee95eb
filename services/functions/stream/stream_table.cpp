// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/stream_table.hpp"

#include <bit>

#include "services/functions/flow/same_tuple.hpp"
#include "shared/base/check.hpp"
#include "shared/base/siphash.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t buckets_for(std::uint32_t streams) noexcept {
  return std::bit_ceil(streams);
}

std::uint64_t whole_lines(std::uint64_t bytes) noexcept {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

std::uint64_t streams_at(const StreamTable::Shape& shape) noexcept {
  return whole_lines(kCacheLine +
                     std::uint64_t{buckets_for(shape.streams)} * sizeof(std::uint32_t));
}

std::uint64_t blocks_at(const StreamTable::Shape& shape) noexcept {
  return streams_at(shape) + std::uint64_t{shape.streams} * sizeof(Stream);
}

}  // namespace

struct StreamTable::Head {
  std::uint64_t secret[2];
  std::uint32_t streams;        ///< that there are
  std::uint32_t fresh_streams;  ///< of these, numbers from this on have never been used
  std::uint32_t free_stream;    ///< they hang by `link`
  std::uint32_t blocks;         ///< in use
  std::uint32_t fresh_blocks;
  std::uint32_t free_block;  ///< they hang by `next`
  // Those that `batch` has released hang apart, from the first one to the last: were it taken back,
  // they would be in use again, and their data are not in the undo log.
  std::uint32_t released_block, last_released;
  std::uint32_t padding[2];
  std::uint64_t batch;
};

std::uint64_t StreamTable::bytes_for(const Shape& shape) noexcept {
  return blocks_at(shape) + std::uint64_t{shape.blocks} * sizeof(StreamBlock);
}

StreamTable::StreamTable(const LaneState& state, const Shape& shape,
                         const std::array<std::uint64_t, 2>& secret) noexcept
    : state_(state), shape_(shape) {
  static_assert(sizeof(Head) == kCacheLine);
  MILLRACE_CHECK(shape.streams >= 1 && shape.blocks >= 1 && state.bytes.size() >= bytes_for(shape));
  if ((head().secret[0] | head().secret[1]) != 0) return;
  Head& head = state_.change(this->head());
  head.secret[0] = secret[0];
  head.secret[1] = secret[1];
}

template <typename T>
T* StreamTable::at(std::uint64_t offset) const noexcept {
  return reinterpret_cast<T*>(state_.bytes.data() + offset);
}

StreamTable::Head& StreamTable::head() const noexcept { return *at<Head>(0); }

std::uint32_t* StreamTable::bucket_of(const FlowTuple& tuple) const noexcept {
  const std::uint64_t hash =
      siphash13(std::as_bytes(std::span(&tuple, 1)), {head().secret[0], head().secret[1]});
  return at<std::uint32_t>(kCacheLine) + (hash & (buckets_for(shape_.streams) - 1));
}

Stream* StreamTable::stream(std::uint32_t reference) const noexcept {
  MILLRACE_CHECK(reference >= 1 && reference <= shape_.streams);
  return at<Stream>(streams_at(shape_)) + (reference - 1);
}

/// The word that refers to it, or 0 at the end of its bucket.
std::uint32_t* StreamTable::reference_to(const FlowTuple& tuple) const noexcept {
  std::uint32_t* reference = bucket_of(tuple);
  while (*reference != 0 && !is_same_tuple(stream(*reference)->tuple, tuple)) {
    reference = &stream(*reference)->link;
  }
  return reference;
}

Stream* StreamTable::find(const FlowTuple& tuple) const noexcept {
  // A segment asks for its stream several times.
  if (found_ != 0 && is_same_tuple(stream(found_)->tuple, tuple)) return stream(found_);
  found_ = *reference_to(tuple);
  return found_ == 0 ? nullptr : stream(found_);
}

Stream* StreamTable::begin(const FlowTuple& tuple) noexcept {
  if (head().streams == shape_.streams) return nullptr;
  Head& head = state_.change(this->head());
  ++head.streams;
  std::uint32_t reference = head.free_stream;
  if (reference == 0) reference = ++head.fresh_streams;
  Stream* const begun = stream(reference);
  state_.change(*begun);
  head.free_stream = begun->link;  // 0 of a fresh one
  std::uint32_t* const bucket = bucket_of(tuple);
  *begun = Stream{.tuple = tuple, .link = *bucket, .padding = {}, .rounds = {}, .side = {}};
  state_.change(*bucket) = reference;
  return begun;
}

void StreamTable::end(const FlowTuple& tuple) noexcept {
  std::uint32_t* const word = reference_to(tuple);
  if (*word == 0) return;
  found_ = 0;
  const std::uint32_t reference = *word;
  Stream& ended = *stream(reference);
  for (std::uint8_t direction = 0; direction < 2; ++direction) {
    if (ended.side[direction].blocks == 0) continue;
    StreamSide& side = change_side(ended, direction);
    release(side, side.blocks);
  }
  state_.change(*word) = ended.link;
  Head& head = state_.change(this->head());
  state_.change(ended.link) = head.free_stream;
  head.free_stream = reference;
  --head.streams;
}

StreamSide& StreamTable::change_side(Stream& stream, std::uint8_t direction) noexcept {
  return state_.change(stream.side[direction]);
}

Stream& StreamTable::change_rounds(Stream& stream) noexcept {
  state_.change(stream.rounds);
  return stream;
}

StreamBlock* StreamTable::block(std::uint32_t reference) const noexcept {
  if (reference == 0) return nullptr;
  MILLRACE_CHECK(reference <= shape_.blocks);
  return at<StreamBlock>(blocks_at(shape_)) + (reference - 1);
}

/// From the end of the side that is nearer.
std::uint32_t StreamTable::block_at(const StreamSide& side, std::uint32_t sequence) const noexcept {
  if (side.first == 0) return 0;
  const StreamBlock& first = *block(side.first);
  const StreamBlock& last = *block(side.last);
  if (sequence_distance(first.sequence, sequence) < 0) return 0;
  if (sequence_distance(sequence, last.sequence) <= 0) return side.last;
  if (sequence_distance(first.sequence, sequence) > sequence_distance(sequence, last.sequence)) {
    std::uint32_t at = side.last;
    while (sequence_distance(sequence, block(at)->sequence) > 0) at = block(at)->before;
    return at;
  }
  std::uint32_t at = side.first;
  for (std::uint32_t next = block(at)->next;
       next != 0 && sequence_distance(sequence, block(next)->sequence) <= 0;
       next = block(at)->next) {
    at = next;
  }
  return at;
}

StreamBlock& StreamTable::change_block(std::uint32_t reference) noexcept {
  StreamBlock* const changed = block(reference);
  MILLRACE_CHECK(changed != nullptr);
  state_.change(state_.offset_of(changed), offsetof(StreamBlock, data));
  return *changed;
}

std::uint32_t StreamTable::free_blocks() const noexcept { return shape_.blocks - head().blocks; }

std::uint32_t StreamTable::streams() const noexcept { return head().streams; }

/// What an earlier batch has released is free from here on.
StreamTable::Head& StreamTable::change_head_of_blocks() noexcept {
  Head& head = state_.change(this->head());
  const std::uint64_t batch = state_.undo.batch();
  if (head.batch == batch) return head;
  head.batch = batch;
  if (head.released_block == 0) return head;
  change_block(head.last_released).next = head.free_block;
  head.free_block = head.released_block;
  head.released_block = 0;
  return head;
}

/// One that the batch itself has released only where there is no other, and then with its data in
/// the undo log. The block is under change.
std::uint32_t StreamTable::take_block(Head& head) noexcept {
  std::uint32_t* list = &head.free_block;
  if (*list == 0 && head.fresh_blocks != shape_.blocks) {
    change_block(++head.fresh_blocks);
    return head.fresh_blocks;
  }
  if (*list == 0) list = &head.released_block;
  const std::uint32_t reference = *list;
  StreamBlock& taken = change_block(reference);
  if (list == &head.released_block) state_.change(state_.offset_of(taken.data), taken.bytes);
  *list = taken.next;
  return reference;
}

std::uint32_t StreamTable::put_block(StreamSide& side, std::uint32_t before,
                                     std::uint32_t sequence) noexcept {
  MILLRACE_CHECK(free_blocks() != 0);
  Head& head = change_head_of_blocks();
  ++head.blocks;
  const std::uint32_t reference = take_block(head);
  StreamBlock& put = *block(reference);
  put.sequence = sequence;
  put.bytes = 0;
  put.before = before;
  put.next = before == 0 ? side.first : block(before)->next;
  (before == 0 ? side.first : change_block(before).next) = reference;
  (put.next == 0 ? side.last : change_block(put.next).before) = reference;
  ++side.blocks;
  return reference;
}

void StreamTable::release(StreamSide& side, std::uint32_t count) noexcept {
  if (count == 0) return;
  MILLRACE_CHECK(count <= side.blocks);
  const std::uint32_t first = side.first;
  std::uint32_t last = side.last;
  if (count != side.blocks) {
    last = first;
    for (std::uint32_t i = 1; i < count; ++i) last = block(last)->next;
  }
  Head& head = change_head_of_blocks();
  StreamBlock& end = change_block(last);
  side.first = end.next;
  end.next = head.released_block;
  if (head.released_block == 0) head.last_released = last;
  head.released_block = first;
  head.blocks -= count;
  side.blocks -= count;
  (side.first == 0 ? side.last : change_block(side.first).before) = 0;
}

}  // namespace millrace
