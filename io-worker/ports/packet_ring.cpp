// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What a kill leaves. Reading a frame is: note its ordinal, then its number, then mark it as taken,
// in a field that the kernel sets to zero when it fills the frame. Giving it back is one store, of
// its status, and comes after the ingress has published that all before `first_wanted` is sealed.
// So at any moment the frame with the highest number is one of:
//
//   ordinal >= first_wanted, marked    read, and to be read again
//   ordinal >= first_wanted, unmarked  not read yet: its reader died before it was marked
//   ordinal <  first_wanted, marked    sealed, and not given back yet
//   ordinal <  first_wanted, unmarked  given back; perhaps filled anew (the ring is full)
//   ordinal == kLeft                   given back; another stream's reader goes on behind it
//
// and those behind it, with older numbers, are not read yet.
//
// The note of what is not read yet is withdrawn before anything else is read: `first_wanted` may
// pass its ordinal with packets of the stream's other rings, or be that of another stream, while
// none reads this one; and its packet would seem to be sealed.
//
// Packets that are given up go back before anything is published: the last of them says so itself
// (kGivenUp), or the next reader would wait for it.

#include "io-worker/ports/packet_ring.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "shared/base/limits.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kFrameHeadBytes = 128;  // the kernel's headers and ours before the packet
constexpr std::uint32_t kNoteOffset = 56;       // behind the kernel's headers, aligned
constexpr std::uint16_t kTriesMax = 2;
constexpr std::uint16_t kGivenUp = UINT16_MAX;  // instead of tries
constexpr std::uint64_t kLeft = UINT64_MAX;     // instead of an ordinal

constexpr std::uint32_t block_bytes_for(std::uint32_t frame_bytes) {
  return frame_bytes > kRingBlockBytes / 4 ? kLargeBlockBytes : kRingBlockBytes;
}

std::uint32_t status_of(tpacket2_hdr& frame) noexcept {
  return std::atomic_ref(frame.tp_status).load(std::memory_order_acquire);
}

}  // namespace

/// Lies in the room that PACKET_RESERVE keeps: the kernel writes nothing here.
struct PacketRing::Note {
  std::uint64_t number;   ///< of the frame's packet in the ring, plus 1; 0: never read
  std::uint64_t ordinal;  ///< of it in the stream
  std::uint16_t tries;    ///< readers that began with this packet after the death of another one
  std::uint16_t shape;    ///< of the first frame: its size in units of TPACKET_ALIGNMENT
};
static_assert(sizeof(tpacket2_hdr) == 32 && TPACKET2_HDRLEN == 52);

std::size_t PacketRingShape::bytes() const noexcept {
  return std::size_t{blocks()} * block_bytes();
}

std::uint32_t PacketRingShape::block_bytes() const noexcept { return block_bytes_for(frame_bytes); }

PacketRingShape packet_ring_shape(std::uint32_t frames, std::uint32_t room) {
  const std::uint32_t frame_bytes =
      (room + kFrameHeadBytes + TPACKET_ALIGNMENT - 1) & ~(TPACKET_ALIGNMENT - 1);
  const std::uint32_t per_block = block_bytes_for(frame_bytes) / frame_bytes;
  return {frame_bytes, per_block, (frames + per_block - 1) / per_block * per_block};
}

tpacket2_hdr& PacketRing::frame(std::uint32_t index) const noexcept {
  return *reinterpret_cast<tpacket2_hdr*>(
      base_ + std::size_t{index / shape_.frames_per_block} * shape_.block_bytes() +
      std::size_t{index % shape_.frames_per_block} * shape_.frame_bytes);
}

PacketRing::Note& PacketRing::note(std::uint32_t index) const noexcept {
  static_assert(kNoteOffset >= TPACKET2_HDRLEN &&
                kNoteOffset + sizeof(Note) <= TPACKET_ALIGN(TPACKET2_HDRLEN) + kRingReserveBytes);
  return *reinterpret_cast<Note*>(reinterpret_cast<std::byte*>(&frame(index)) + kNoteOffset);
}

std::uint32_t PacketRing::before(std::uint32_t index, std::uint32_t count) const noexcept {
  return index >= count ? index - count : index + shape_.frame_count - count;
}

void PacketRing::mark_as_new() noexcept {
  note(0).shape = static_cast<std::uint16_t>(shape_.frame_bytes / TPACKET_ALIGNMENT);
}

bool PacketRing::is_of_this_shape() const noexcept {
  return note(0).shape == shape_.frame_bytes / TPACKET_ALIGNMENT;
}

bool PacketRing::is_taken(std::uint32_t index) const noexcept {
  tpacket2_hdr& at = frame(index);
  return (status_of(at) & TP_STATUS_USER) != 0 && at.tp_padding[0] != 0;
}

/// Sets next_ and number_ to the first frame that no reader has taken, and withdraws the note of a
/// reader that began to take it.
void PacketRing::find_last(std::uint64_t first_wanted) noexcept {
  std::uint32_t last = 0;
  for (std::uint32_t i = 1; i < shape_.frame_count; ++i) {
    if (note(i).number > note(last).number) last = i;
  }
  const std::uint64_t noted = note(last).number;
  if (noted == 0) return;
  const std::uint64_t ordinal = note(last).ordinal;
  const bool left = ordinal == kLeft;
  if (!left) ordinals_end_ = ordinal + 1;
  const bool taken =
      left || ordinal < first_wanted || is_taken(last) || note(last).tries == kGivenUp;
  next_ = taken ? (last + 1) % shape_.frame_count : last;
  number_ = taken ? noted : noted - 1;
  if (!taken) std::atomic_ref(note(last).number).store(0, std::memory_order_release);
}

std::uint32_t PacketRing::count_taken() const noexcept {
  std::uint32_t count = 0;
  while (count < shape_.frame_count) {
    const std::uint32_t index = before(next_, count + 1);
    if (!is_taken(index) || note(index).number != number_ - count) break;
    ++count;
  }
  return count;
}

void PacketRing::resume(std::uint64_t first_wanted) noexcept {
  find_last(first_wanted);
  taken_ = count_taken();
  release_below(first_wanted);
  if (taken_ != 0 && note(before(next_, taken_)).tries >= kTriesMax) {
    given_up_ = taken_;
    std::atomic_ref(note(before(next_, 1)).tries).store(kGivenUp, std::memory_order_release);
    release_below(ordinals_end_);
  }
  again_ = again_left_ = taken_;
  next_ = before(next_, taken_);
  number_ -= taken_;
  taken_ = 0;
}

const tpacket2_hdr* PacketRing::next() const noexcept {
  tpacket2_hdr& at = frame(next_);
  return taken_ != shape_.frame_count && (status_of(at) & TP_STATUS_USER) != 0 ? &at : nullptr;
}

std::optional<std::uint64_t> PacketRing::ordinal_again() const noexcept {
  if (again_left_ == 0) return std::nullopt;
  return note(next_).ordinal;
}

void PacketRing::take(std::uint64_t ordinal) noexcept {
  Note& mine = note(next_);
  if (again_left_ != 0) [[unlikely]] {
    if (again_left_-- == again_) ++mine.tries;
  } else {
    mine.tries = 0;
    std::atomic_ref(mine.ordinal).store(ordinal, std::memory_order_relaxed);
    std::atomic_ref(mine.number).store(number_ + 1, std::memory_order_release);
  }
  ++number_;
  std::atomic_ref(frame(next_).tp_padding[0]).store(1, std::memory_order_release);
  if (++next_ == shape_.frame_count) next_ = 0;
  ++taken_;
}

std::uint64_t PacketRing::ordinal_of_first_taken() const noexcept {
  return note(before(next_, taken_)).ordinal;
}

bool PacketRing::leave() noexcept {
  if (taken_ != 0 || again_left_ != 0) return false;
  if (number_ != 0) {
    std::atomic_ref(note(before(next_, 1)).ordinal).store(kLeft, std::memory_order_release);
  }
  return true;
}

void PacketRing::release_below(std::uint64_t ordinal) noexcept {
  while (taken_ != 0 && ordinal_of_first_taken() < ordinal) {
    std::atomic_ref(frame(before(next_, taken_)).tp_status)
        .store(TP_STATUS_KERNEL, std::memory_order_release);
    --taken_;
  }
}

}  // namespace millrace
