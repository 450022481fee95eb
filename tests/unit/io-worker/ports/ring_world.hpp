// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <vector>

#include "io-worker/ports/packet_ring.hpp"

/// Rings without a kernel, and readers that are killed between any two stores.

namespace millrace::test {

inline constexpr PacketRingShape kSmallRing{kRingBlockBytes / 4, 4, 8};

/// The kernel's side: fills frames one after the other, as long as the next one is free. A packet
/// is its number, from 1.
class RingKernel {
 public:
  std::byte* base() { return memory_.data(); }
  tpacket2_hdr& frame(std::uint32_t index) {
    return *reinterpret_cast<tpacket2_hdr*>(
        base() + std::size_t{index / kSmallRing.frames_per_block} * kRingBlockBytes +
        std::size_t{index % kSmallRing.frames_per_block} * kSmallRing.frame_bytes);
  }
  /// False: dropped.
  bool receive() {
    tpacket2_hdr& at = frame(head_);
    if ((at.tp_status & TP_STATUS_USER) != 0) return false;
    at = {};
    at.tp_len = ++packet_;
    at.tp_status = TP_STATUS_USER;
    head_ = (head_ + 1) % kSmallRing.frame_count;
    return true;
  }
  /// The last one that was not dropped.
  std::uint32_t packet() const { return packet_; }

 private:
  std::vector<std::byte> memory_ = std::vector<std::byte>(kSmallRing.bytes());
  std::uint32_t head_ = 0, packet_ = 0;
};

/// What a frame was, to take back stores of a reader that should have died before them.
class FrameImage {
 public:
  explicit FrameImage(tpacket2_hdr& frame) : frame_(reinterpret_cast<std::byte*>(&frame)) {
    std::memcpy(image_.data(), frame_, image_.size());
  }
  void take_back_status() const { restore({0, 4}); }
  /// The last ones of take(), whose order is: ordinal, number, mark.
  void take_back_last_stores(std::size_t count) const {
    constexpr std::array<Field, 3> kLastFirst{Field{offsetof(tpacket2_hdr, tp_padding), 1}, kNumber,
                                              Field{64, 8}};
    for (std::size_t i = 0; i < count; ++i) restore(kLastFirst[i]);
  }
  /// Of the packet in the ring, as noted now.
  std::uint64_t number() const {
    std::uint64_t number;
    std::memcpy(&number, frame_ + kNumber.offset, sizeof number);
    return number;
  }

 private:
  struct Field {
    std::size_t offset, bytes;
  };
  static constexpr Field kNumber{56, 8};
  void restore(Field field) const {
    std::memcpy(frame_ + field.offset, image_.data() + field.offset, field.bytes);
  }

  std::byte* frame_;
  std::array<std::byte, 80> image_;
};

/// A ring that outlives its readers, and what is known of it.
struct KilledRing {
  RingKernel kernel;
  std::uint32_t sealed = 0;  ///< packets
  std::uint32_t deaths = 0;  ///< since its first unsealed packet came to be that
  bool held = false;
};

/// The readers of a stream, one after another, each of which is killed. The other half, which
/// seals, is here too: what it has sealed of a ring has to be every packet that the kernel took,
/// once, in order; and what a reader has read and not sealed, the next one has to read with the
/// same ordinals, in the same order, before anything else.
class KilledReaders {
 public:
  KilledReaders(std::mt19937_64& random, std::vector<KilledRing*> rings) : random_(random) {
    for (KilledRing* ring : rings) rings_.push_back({ring, ring_of(*ring)});
    begin();
  }

  void work() {
    read();
    seal();
    release(0);
  }
  /// Amid its work. False: it would be the third reader in a row to die with some packet, which is
  /// then given up.
  bool die() {
    read();
    seal();
    if (std::ranges::any_of(rings_, [](const Reading& at) { return at.of->deaths == 2; })) {
      return false;
    }
    if (up_to(1) == 0) release(4);
    if (last_taken_ && !unsealed_.empty() && up_to(1) == 0) {
      last_taken_->take_back_last_stores(1 + up_to(2));
      unsealed_.pop_back();
    }
    for (const Reading& at : rings_) at.of->deaths += has_unsealed_of(*at.of) ? 1 : 0;
    while (up_to(3) == 0) die_in_resume();
    ++lives_;
    begin();
    return true;
  }
  bool reads(const KilledRing& ring) {
    return std::ranges::find(rings_, &ring, &Reading::of) != rings_.end();
  }
  /// False: not yet.
  bool leave(KilledRing& ring) {
    const auto at = std::ranges::find(rings_, &ring, &Reading::of);
    const bool released = up_to(3) != 0;
    if (released) at->ring.release_below(published_);
    const bool left = at->ring.leave();
    if (left || released) {
      EXPECT_EQ(left, !has_unsealed_of(ring));
    }
    return left;
  }
  void forget(KilledRing& ring) {
    std::erase_if(rings_, [&](const Reading& at) { return at.of == &ring; });
  }
  /// After forget() of the other stream's.
  void join(KilledRing& ring) {
    rings_.push_back({&ring, ring_of(ring)});
    rings_.back().ring.resume(0);
    EXPECT_EQ(rings_.back().ring.again(), 0u);
  }
  /// The same, by a reader that comes after one that died before it could join. False: it must not
  /// die now.
  bool restart_with(KilledRing& ring) {
    if (!die()) return false;
    rings_.push_back({&ring, ring_of(ring)});
    begin();
    return true;
  }
  std::uint32_t lives() const { return lives_; }

 private:
  struct Reading {
    KilledRing* of;
    PacketRing ring;
  };
  struct Packet {
    KilledRing* ring;
    std::uint32_t number;
    std::uint64_t ordinal;
    friend bool operator==(const Packet&, const Packet&) = default;
  };

  std::uint64_t up_to(std::uint64_t most) { return random_() % (most + 1); }
  static PacketRing ring_of(KilledRing& ring) { return {ring.kernel.base(), kSmallRing}; }
  bool has_unsealed_of(const KilledRing& ring) const {
    return std::ranges::find(unsealed_, &ring, &Packet::ring) != unsealed_.end();
  }

  void begin() {
    read_ = 0;
    last_taken_.reset();
    next_ordinal_ = published_ + (up_to(1) == 0 ? 0 : up_to(1u << 22));
    std::size_t again = 0;
    for (Reading& at : rings_) {
      at.ring = ring_of(*at.of);
      at.ring.resume(published_);
      EXPECT_EQ(at.ring.given_up(), 0u);
      again += at.ring.again();
      next_ordinal_ = std::max(next_ordinal_, at.ring.ordinals_end());
    }
    EXPECT_EQ(again, unsealed_.size());
    if (!unsealed_.empty()) {
      EXPECT_GT(next_ordinal_, unsealed_.back().ordinal);
    }
  }
  void die_in_resume() {
    for (const Reading& at : rings_) {
      std::vector<FrameImage> images;
      for (std::uint32_t i = 0; i < kSmallRing.frame_count; ++i) {
        images.emplace_back(at.of->kernel.frame(i));
      }
      ring_of(*at.of).resume(published_);
      if (up_to(1) == 0) continue;
      const std::uint64_t from = images[up_to(images.size() - 1)].number();
      for (const FrameImage& image : images) {
        if (image.number() >= from) image.take_back_status();
      }
      return;
    }
  }

  Reading* next_again() {
    Reading* first = nullptr;
    for (Reading& at : rings_) {
      if (!at.ring.ordinal_again()) continue;
      if (first == nullptr || *at.ring.ordinal_again() < *first->ring.ordinal_again()) first = &at;
    }
    return first;
  }
  void read() {
    last_taken_.reset();
    for (std::uint64_t i = up_to(3); i != 0; --i) {
      Reading* at = next_again();
      const bool again = at != nullptr;
      if (!again && !rings_.empty()) at = &rings_[up_to(rings_.size() - 1)];
      if (at != nullptr && (again || (!at->of->held && at->ring.next() != nullptr))) take(*at);
    }
  }
  void take(Reading& at) {
    ASSERT_NE(at.ring.next(), nullptr);
    const std::uint32_t packet = at.ring.next()->tp_len;
    const auto again = at.ring.ordinal_again();
    if (again) {
      ASSERT_LT(read_, unsealed_.size());
      EXPECT_EQ(unsealed_[read_], (Packet{at.of, packet, *again}));
    } else {
      EXPECT_EQ(read_, unsealed_.size()) << "before all that was read before";
      next_ordinal_ += up_to(2);
      unsealed_.push_back({at.of, packet, next_ordinal_});
      last_taken_.emplace(const_cast<tpacket2_hdr&>(*at.ring.next()));
    }
    at.ring.take(again ? *again : next_ordinal_++);
    ++read_;
  }

  void seal() {
    std::uint64_t count = up_to(read_);
    const auto urgent = [](const Reading& at) { return at.of->deaths == 2; };
    if (read_ != 0 && std::ranges::any_of(rings_, urgent))
      count = std::max<std::uint64_t>(count, 1);
    for (; count != 0; --count, --read_) {
      const Packet& packet = unsealed_.front();
      EXPECT_EQ(packet.number, packet.ring->sealed + 1);
      packet.ring->sealed = packet.number;
      packet.ring->deaths = 0;
      published_ = packet.ordinal + 1;
      unsealed_.pop_front();
    }
    if (read_ != 0 && up_to(1) == 0) published_ = unsealed_.front().ordinal;
  }
  /// Of each ring all that is sealed, or not the last ones of that.
  void release(std::uint64_t less_at_most) {
    for (Reading& at : rings_) {
      at.ring.release_below(published_ - up_to(std::min(less_at_most, published_)));
    }
  }

  std::mt19937_64& random_;
  std::vector<Reading> rings_;
  std::uint64_t published_ = 0;     ///< what the dead tell the living
  std::uint64_t next_ordinal_ = 0;  ///< of this life, as all that follows
  std::deque<Packet> unsealed_;     ///< and of those before
  std::size_t read_ = 0;            ///< of them, in this life
  std::optional<FrameImage> last_taken_;
  std::uint32_t lives_ = 0;
};

}  // namespace millrace::test
