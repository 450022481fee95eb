// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/function.hpp"
#include "services/functions/stream/overlap_policy.hpp"
#include "shared/base/limits.hpp"

/// The byte streams of one lane, in the lane's state: found by the tuple of their flow, and blocks
/// that hold bytes of them. What a batch has changed is taken back when its worker dies
/// (LaneUndoLog).
///
/// Memory, zero at the start: a head of one line; buckets of 4 bytes, one or two a stream; streams
/// of two lines; blocks of kStreamBlockBytes. References are numbers + 1; 0: none.

namespace millrace {

inline constexpr std::uint32_t kStreamBlockBytes = 1024;

/// Bytes of one direction that follow each other, as segments have brought them. One without bytes
/// stands in front of the block that has taken its place.
struct StreamBlock {
  std::uint32_t sequence;      ///< of the first byte
  std::uint32_t next, before;  ///< of the same direction, in the order of their bytes
  std::uint32_t bytes;
  SegmentExtent segment;  ///< the whole one that has brought the first of them
  std::byte data[kStreamBlockBytes - 24];

  std::uint32_t end() const noexcept { return sequence + bytes; }
};
static_assert(sizeof(StreamBlock) == kStreamBlockBytes);
inline constexpr std::uint32_t kStreamBlockRoom = sizeof(StreamBlock::data);

/// One direction. Blocks in front of `next` hold what has been read, and may be sent once more;
/// those behind it have passed and wait for what is missing in front of them.
struct StreamSide {
  std::uint32_t start;        ///< sequence of the first byte of all
  std::uint32_t next;         ///< of the first byte that has not been read
  std::uint32_t asked;        ///< where another SYN that has passed begins a stream
  std::uint32_t first, last;  ///< blocks
  std::uint32_t blocks;       ///< how many
  std::uint32_t read;         ///< bytes that have been read; at most UINT32_MAX
  std::uint8_t is_known;      ///< 1: `start` and `next` say something
  std::uint8_t has_asked;     ///< 1: `asked` says something
  std::uint8_t is_over;       ///< 1: no more is read, `next` stays; 2: and the receiver has it all
  std::uint8_t is_picked_up;  ///< 1: `start` is that of the first segment that was seen
};

struct Stream {
  FlowTuple tuple;     ///< of the flow's direction 0
  std::uint32_t link;  ///< the next one of its bucket, or free one
  std::uint32_t padding[3];
  std::uint32_t rounds[2];  ///< by the flow's direction: how often 2^32 bytes have been read
  StreamSide side[2];       ///< likewise

  /// Place behind the bytes of a direction that have been read, from its first byte on.
  std::uint64_t position(std::uint8_t direction) const noexcept {
    return std::uint64_t{rounds[direction]} << 32 | (side[direction].next - side[direction].start);
  }
};
static_assert(sizeof(Stream) == 2 * kCacheLine && offsetof(Stream, side) == kCacheLine);
static_assert(std::is_trivially_copyable_v<Stream>);

/// A cheap view. One thread, which changes the lane's state at that moment. Pointers are good until
/// the stream ends. While it is used, no other table ends a stream of the same state.
class StreamTable {
 public:
  struct Shape {
    std::uint32_t streams = 0, blocks = 0;  ///< 1 or more
  };
  /// Lines of the state that one call changes at most: begin(); end(); take() and link() together
  /// for each block; release().
  static constexpr std::uint32_t kLinesOfBegin = 4, kLinesOfEnd = 9, kLinesOfBlock = 4,
                                 kLinesOfRelease = 3;

  static std::uint64_t bytes_for(const Shape& shape) noexcept;
  /// `state`: of bytes_for(shape). `secret`: for a table that has none yet, and keeps it.
  StreamTable(const LaneState& state, const Shape& shape,
              const std::array<std::uint64_t, 2>& secret) noexcept;

  /// Null: there is none.
  Stream* find(const FlowTuple& tuple) const noexcept;
  /// One that there is not. Null: the table is full.
  Stream* begin(const FlowTuple& tuple) noexcept;
  /// Nothing if there is none.
  void end(const FlowTuple& tuple) noexcept;

  /// To be written; one line.
  StreamSide& change_side(Stream& stream, std::uint8_t direction) noexcept;
  /// To write Stream::rounds; one line.
  Stream& change_rounds(Stream& stream) noexcept;

  /// Null for 0.
  StreamBlock* block(std::uint32_t reference) const noexcept;
  /// Reference of the last block of the side that begins at `sequence` or in front of it; 0: there
  /// is none.
  std::uint32_t block_at(const StreamSide& side, std::uint32_t sequence) const noexcept;
  /// To write its fields; its data behind `bytes` are free to be written without.
  StreamBlock& change_block(std::uint32_t reference) noexcept;
  std::uint32_t free_blocks() const noexcept;
  std::uint32_t all_blocks() const noexcept { return shape_.blocks; }
  /// An empty block with that sequence behind block `before` of the side, or in front of all with
  /// 0. `side` is under change; free_blocks() is not 0. Returns its reference.
  std::uint32_t put_block(StreamSide& side, std::uint32_t before, std::uint32_t sequence) noexcept;
  /// Gives back the first `count` blocks of the side, which is under change.
  void release(StreamSide& side, std::uint32_t count) noexcept;

  std::uint32_t streams() const noexcept;  ///< that there are
  const Shape& shape() const noexcept { return shape_; }

 private:
  struct Head;
  Head& head() const noexcept;
  Head& change_head_of_blocks() noexcept;
  std::uint32_t take_block(Head& head) noexcept;
  template <typename T>
  T* at(std::uint64_t offset) const noexcept;
  std::uint32_t* bucket_of(const FlowTuple& tuple) const noexcept;
  Stream* stream(std::uint32_t reference) const noexcept;
  std::uint32_t* reference_to(const FlowTuple& tuple) const noexcept;

  LaneState state_;
  Shape shape_;
  mutable std::uint32_t found_ = 0;  ///< that find() has found last, and has not ended since
};

}  // namespace millrace
