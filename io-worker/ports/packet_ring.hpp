// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/if_packet.h>

#include <cstddef>
#include <cstdint>
#include <optional>

/// Frames that the kernel fills for a packet socket (packet(7), PACKET_RX_RING, TPACKET_V2), read
/// by one process after another. The ring itself says where to go on: each frame has room of ours
/// behind the kernel's headers (PACKET_RESERVE). There a reader notes the frame's number in the
/// ring, and its ordinal in the stream, before it hands the packet on. The frame goes back to the
/// kernel only when its packet is in a sealed batch. So a reader may be killed between any two
/// stores, and the stream's next reader reads the packets that were not sealed. A reader of another
/// stream comes after leave().

namespace millrace {

/// How the memory is divided: into blocks, which frames do not cross.
struct PacketRingShape {
  std::uint32_t frame_bytes, frames_per_block, frame_count;

  std::uint32_t block_bytes() const noexcept;
  std::uint32_t blocks() const noexcept { return frame_count / frames_per_block; }
  std::size_t bytes() const noexcept;
  friend bool operator==(const PacketRingShape&, const PacketRingShape&) = default;
};
inline constexpr std::uint32_t kRingBlockBytes = 1u << 17;
inline constexpr std::uint32_t kLargeBlockBytes = 1u << 20;  ///< of frames longer than a quarter
inline constexpr std::uint32_t kRingReserveBytes = 16;       ///< to ask for by PACKET_RESERVE

/// At least `frames` frames for packets of up to `room` bytes.
PacketRingShape packet_ring_shape(std::uint32_t frames, std::uint32_t room);

/// One thread. The memory is borrowed; new memory is all zero.
class PacketRing {
 public:
  PacketRing(std::byte* base, const PacketRingShape& shape) : base_(base), shape_(shape) {}

  /// Writes the shape into a new ring, by which is_of() knows it again.
  void mark_as_new() noexcept;
  /// Whether this build made it, with this shape.
  bool is_of_this_shape() const noexcept;

  /// Finds where the stream's readers before have been: they had sealed all packets with ordinals
  /// below `first_wanted`. Packets from there on come again. Called before anything else.
  void resume(std::uint64_t first_wanted) noexcept;
  /// The frame to be read next; null: the kernel has filled no other.
  const tpacket2_hdr* next() const noexcept;
  /// The ordinal with which the packet in next() was read before: it must get the same again.
  /// Nothing: the packet is new.
  std::optional<std::uint64_t> ordinal_again() const noexcept;
  /// Takes the frame in next() and steps on. Ordinals ascend.
  void take(std::uint64_t ordinal) noexcept;
  /// Packets with smaller ordinals are sealed: gives their frames back to the kernel.
  void release_below(std::uint64_t ordinal) noexcept;
  /// Ends the reading by this stream. False while a frame that it took is not given back.
  bool leave() noexcept;

  /// True when no frame waits and none is taken: all frames are the kernel's.
  bool is_empty() const noexcept { return taken_ == 0 && next() == nullptr; }
  /// Above all ordinals that resume() found to be the stream's.
  std::uint64_t ordinals_end() const noexcept { return ordinals_end_; }
  const PacketRingShape& shape() const noexcept { return shape_; }
  std::uint32_t frames() const noexcept { return shape_.frame_count; }
  /// Packets that resume() found unsealed: they come again.
  std::uint32_t again() const noexcept { return again_; }
  /// Packets that two readers have died with, which resume() therefore left out.
  std::uint32_t given_up() const noexcept { return given_up_; }

 private:
  struct Note;
  tpacket2_hdr& frame(std::uint32_t index) const noexcept;
  Note& note(std::uint32_t index) const noexcept;
  std::uint32_t before(std::uint32_t index, std::uint32_t count) const noexcept;
  bool is_taken(std::uint32_t index) const noexcept;
  std::uint64_t ordinal_of_first_taken() const noexcept;
  void find_last(std::uint64_t first_wanted) noexcept;
  std::uint32_t count_taken() const noexcept;

  std::byte* base_;
  PacketRingShape shape_;
  std::uint32_t next_ = 0;    ///< index
  std::uint32_t taken_ = 0;   ///< frames before it that are not the kernel's yet
  std::uint64_t number_ = 0;  ///< of next_
  std::uint64_t ordinals_end_ = 0;
  std::uint32_t again_ = 0, given_up_ = 0;
  std::uint32_t again_left_ = 0;  ///< of again_, not read yet
};

}  // namespace millrace
