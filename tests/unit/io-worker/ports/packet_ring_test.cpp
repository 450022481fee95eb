// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/packet_ring.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/unit/io-worker/ports/ring_world.hpp"

namespace millrace {
namespace {

using test::FrameImage;
using test::KilledReaders;
using test::KilledRing;
using test::kSmallRing;
using test::RingKernel;

using Packets = std::vector<std::uint32_t>;

class PacketRingTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kFirst = 1000;  ///< ordinal of the stream's first packet

  void receive(int count) {
    for (int i = 0; i < count; ++i) ASSERT_TRUE(kernel_.receive());
  }
  /// The stream's next reader, when `sealed` packets have been sealed.
  PacketRing reader(std::uint64_t sealed) { return reader_of_another(kFirst + sealed); }
  PacketRing reader_of_another(std::uint64_t first_wanted) {
    PacketRing ring(kernel_.base(), kSmallRing);
    ring.resume(first_wanted);
    return ring;
  }
  /// Reads up to `limit` packets.
  Packets read(PacketRing& ring, std::size_t limit = SIZE_MAX) {
    Packets packets;
    while (packets.size() < limit) {
      const tpacket2_hdr* frame = ring.next();
      if (frame == nullptr) break;
      packets.push_back(frame->tp_len);
      ring.take(ring.ordinal_again() ? *ring.ordinal_again() : next_ordinal_++);
    }
    return packets;
  }
  /// Reads one packet, and dies before it has marked it.
  void die_while_taking(PacketRing& ring, std::uint64_t ordinal) {
    ASSERT_NE(ring.next(), nullptr);
    const FrameImage image(const_cast<tpacket2_hdr&>(*ring.next()));
    ring.take(ordinal);
    image.take_back_last_stores(1);
  }

  RingKernel kernel_;
  std::uint64_t next_ordinal_ = kFirst;
};

TEST_F(PacketRingTest, ItsShapeHasRoomForWhatWasAskedFor) {
  for (const std::uint32_t frames : {64u, 2048u, 65536u}) {
    for (const std::uint32_t room : {82u, 1522u, 9022u, 65'557u}) {
      const PacketRingShape shape = packet_ring_shape(frames, room);
      EXPECT_GE(shape.frame_count, frames);
      EXPECT_LT(shape.frame_count, frames + shape.frames_per_block);
      EXPECT_GE(shape.frame_bytes, room + 92) << "where the kernel puts a packet, with our room";
      EXPECT_EQ(shape.frame_bytes % TPACKET_ALIGNMENT, 0u);
      EXPECT_GE(shape.frames_per_block, 4u);
      EXPECT_LE(shape.frames_per_block * shape.frame_bytes, shape.block_bytes());
      EXPECT_EQ(shape.bytes(), std::size_t{shape.blocks()} * shape.block_bytes());
    }
  }
}

TEST_F(PacketRingTest, AnotherBuildsShapeIsSeen) {
  PacketRing ring(kernel_.base(), kSmallRing);
  EXPECT_FALSE(ring.is_of_this_shape());
  ring.mark_as_new();
  EXPECT_TRUE(PacketRing(kernel_.base(), kSmallRing).is_of_this_shape());
  EXPECT_FALSE(PacketRing(kernel_.base(), {kRingBlockBytes / 8, 8, 16}).is_of_this_shape());
}

TEST_F(PacketRingTest, FramesStayUntilTheirPacketsAreSealed) {
  PacketRing ring = reader(0);
  EXPECT_EQ(ring.next(), nullptr);
  EXPECT_TRUE(ring.is_empty());
  receive(8);
  EXPECT_FALSE(kernel_.receive());
  EXPECT_FALSE(ring.is_empty());
  EXPECT_EQ(read(ring), (Packets{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(ring.next(), nullptr) << "its own frames, still filled, must not come round again";
  EXPECT_FALSE(ring.is_empty());
  EXPECT_FALSE(kernel_.receive());
  ring.release_below(kFirst + 2);
  receive(2);
  EXPECT_FALSE(kernel_.receive());
  EXPECT_EQ(read(ring), (Packets{9, 10}));
}

TEST_F(PacketRingTest, TheNextReaderBeginsWithWhatWasNotSealed) {
  PacketRing ring = reader(0);
  receive(6);
  read(ring, 4);
  ring.release_below(kFirst + 2);  // 3 and 4 are in open batches, 5 and 6 unread
  PacketRing next = reader(2);
  EXPECT_EQ(next.again(), 2u);
  EXPECT_EQ(next.ordinals_end(), kFirst + 4);
  ASSERT_NE(next.next(), nullptr);
  EXPECT_EQ(next.next()->tp_len, 3u);
  EXPECT_EQ(next.ordinal_again(), kFirst + 2) << "with the ordinal that it had";
  EXPECT_EQ(read(next, 2), (Packets{3, 4}));
  EXPECT_FALSE(next.ordinal_again()) << "5 was not read before";
  EXPECT_EQ(read(next), (Packets{5, 6}));
}

TEST_F(PacketRingTest, OrdinalsThatTheStreamGaveToOtherRingsMayLieBetween) {
  PacketRing ring = reader(0);
  receive(4);
  for (const std::uint64_t ordinal : {1003u, 1010u, 2000u, 2007u}) ring.take(ordinal);
  ring.release_below(1010);
  EXPECT_FALSE(ring.is_empty());
  PacketRing next = reader_of_another(2000);
  EXPECT_EQ(next.again(), 2u);
  EXPECT_EQ(next.ordinals_end(), 2008u);
  EXPECT_EQ(next.ordinal_again(), 2000u);
  next.take(2000);
  EXPECT_EQ(next.ordinal_again(), 2007u);
  next.take(2007);
  receive(6);
  EXPECT_FALSE(kernel_.receive());
}

TEST_F(PacketRingTest, AKillBeforeFramesWereGivenBackGivesThemBack) {
  PacketRing ring = reader(0);
  receive(8);
  read(ring, 5);
  PacketRing next = reader(5);  // published, not given back
  EXPECT_EQ(next.again(), 0u);
  receive(5);
  EXPECT_EQ(read(next), (Packets{6, 7, 8, 9, 10, 11, 12, 13}));
}

TEST_F(PacketRingTest, AKillWhileTakingAFrameLosesNothing) {
  PacketRing ring = reader(0);
  receive(3);
  read(ring, 1);
  die_while_taking(ring, kFirst + 1);
  PacketRing next = reader(0);
  EXPECT_EQ(next.again(), 1u);
  EXPECT_EQ(read(next), (Packets{1, 2, 3}));
}

TEST_F(PacketRingTest, WhatAReaderDiedWhileTakingIsNotSealedWithLaterPacketsOfOtherRings) {
  for (const int before : {0, 1}) {
    PacketRing ring = reader(0);
    receive(2);
    read(ring, before);
    die_while_taking(ring, kFirst + before);
    reader(before);                       // which reads only other rings, and seals that
    PacketRing next = reader(1'000'000);  // and the one after it
    EXPECT_EQ(next.again(), 0u);
    EXPECT_EQ(read(next).size(), 2u - before);
    kernel_ = RingKernel();
    next_ordinal_ = kFirst;
  }
}

TEST_F(PacketRingTest, AFullRingWhoseFramesWereAllReadBeforeIsNew) {
  PacketRing ring = reader(0);
  receive(8);
  read(ring);
  ring.release_below(kFirst + 8);
  receive(8);
  PacketRing next = reader(8);
  EXPECT_EQ(next.again(), 0u);
  EXPECT_EQ(read(next), (Packets{9, 10, 11, 12, 13, 14, 15, 16}));
}

TEST_F(PacketRingTest, WhatReadersDieWithAgainAndAgainIsGivenUp) {
  PacketRing ring = reader(0);
  receive(4);
  read(ring, 2);
  for (int life = 0; life < 2; ++life) {
    PacketRing next = reader(0);
    EXPECT_EQ(next.again(), 2u);
    EXPECT_EQ(next.given_up(), 0u);
    read(next, 2);
  }
  PacketRing last = reader(0);
  EXPECT_EQ(last.again(), 0u);
  EXPECT_EQ(last.given_up(), 2u);
  EXPECT_EQ(read(last), (Packets{3, 4}));
  last.release_below(kFirst + 4);
  receive(8);
  EXPECT_EQ(read(last), (Packets{5, 6, 7, 8, 9, 10, 11, 12})) << "and all frames are in use again";
}

TEST_F(PacketRingTest, AReaderThatGaveUpAndDiedAtOnceHoldsUpNobody) {
  PacketRing ring = reader(0);
  receive(3);
  read(ring, 3);
  for (int life = 0; life < 2; ++life) {
    PacketRing next = reader(0);
    read(next, 3);
  }
  EXPECT_EQ(reader(0).given_up(), 3u);  // and nothing is published
  PacketRing next = reader(0);
  EXPECT_EQ(next.given_up(), 0u);
  receive(2);
  EXPECT_EQ(read(next), (Packets{4, 5}));
}

TEST_F(PacketRingTest, ItIsLeftWhenAllFramesAreTheKernels) {
  PacketRing ring = reader(0);
  EXPECT_TRUE(ring.leave()) << "nobody has read anything";
  receive(4);
  EXPECT_EQ(read(ring, 2), (Packets{1, 2}));
  EXPECT_FALSE(ring.leave());
  ring.release_below(kFirst + 1);
  EXPECT_FALSE(ring.leave());
  PacketRing next = reader(1);
  EXPECT_FALSE(next.leave()) << "a packet is to come again";
  EXPECT_EQ(read(next, 1), (Packets{2}));
  next.release_below(kFirst + 2);
  EXPECT_TRUE(next.leave());
  EXPECT_EQ(read(next), (Packets{3, 4})) << "it may change its mind";
}

TEST_F(PacketRingTest, AfterItWasLeftAnotherStreamReadsOnWhateverItsOrdinals) {
  for (const std::uint64_t other : {0ull, 1001ull, 1'000'000ull}) {
    for (const int read_before : {0, 2, 8}) {
      PacketRing ring = reader(0);
      receive(8);
      read(ring, read_before);
      ring.release_below(kFirst + read_before);
      ASSERT_TRUE(ring.leave());
      receive(read_before);
      for (int life = 0; life < 3; ++life) {  // killed at once, and killed with one in hand
        PacketRing next = reader_of_another(other);
        EXPECT_EQ(next.again(), life == 2 ? 1u : 0u);
        EXPECT_EQ(next.given_up(), 0u);
        next_ordinal_ = other + 5 + 100 * life;
        const auto first = static_cast<std::uint32_t>(read_before + 1);
        if (life == 1) {
          EXPECT_EQ(read(next, 1), (Packets{first}));
        }
        if (life == 2) {
          EXPECT_EQ(read(next).size(), 8u);
        }
      }
      kernel_ = RingKernel();
      next_ordinal_ = kFirst;
    }
  }
}

TEST_F(PacketRingTest, ItsReaderThatHasLeftAndDiedHasASuccessorOfTheSameStream) {
  PacketRing ring = reader(0);
  receive(5);
  read(ring, 2);
  ring.release_below(kFirst + 2);
  ASSERT_TRUE(ring.leave());
  PacketRing next = reader(2);
  EXPECT_EQ(next.again(), 0u);
  EXPECT_EQ(read(next), (Packets{3, 4, 5}));
}

TEST_F(PacketRingTest, WhatAReaderDiedWhileTakingGoesToTheOtherStream) {
  for (const int before : {0, 1}) {
    PacketRing ring = reader(0);
    receive(2);
    read(ring, before);
    ring.release_below(kFirst + before);
    die_while_taking(ring, kFirst + before);
    PacketRing leaver = reader(before);
    ASSERT_TRUE(leaver.leave());
    PacketRing next = reader_of_another(1'000'000);
    EXPECT_EQ(read(next).size(), 2u - before);
    kernel_ = RingKernel();
    next_ordinal_ = kFirst;
  }
}

/// Rings that streams read, whose readers are killed.
class PacketRingKillsTest : public ::testing::Test {
 protected:
  void run(std::size_t ring_count, std::size_t stream_count) {
    rings_.resize(ring_count);
    for (std::size_t i = 0; i < stream_count; ++i) {
      std::vector<KilledRing*> read_here;
      for (std::size_t at = i; at < ring_count; at += stream_count) {
        read_here.push_back(&rings_[at]);
      }
      streams_.emplace_back(random_, read_here);
    }
    for (int step = 0; step < 400'000 && !HasFailure(); ++step) {
      fill();
      for (KilledReaders& stream : streams_) {
        if (up_to(9) > 1 || !stream.die()) stream.work();
      }
      if (stream_count > 1 && up_to(9) == 0) hand_over(rings_[up_to(ring_count - 1)]);
    }
    for (KilledRing& ring : rings_) ring.held = false;
    for (int step = 0; step < 1000 && !HasFailure(); ++step) {
      for (KilledReaders& stream : streams_) stream.work();
    }
    for (const KilledRing& ring : rings_) EXPECT_EQ(ring.sealed, ring.kernel.packet());
  }
  std::uint64_t lives() const {
    std::uint64_t count = 0;
    for (const KilledReaders& stream : streams_) count += stream.lives();
    return count;
  }

  std::vector<KilledRing> rings_;
  std::vector<KilledReaders> streams_;
  std::uint32_t moved_ = 0;

 private:
  std::uint64_t up_to(std::uint64_t most) { return random_() % (most + 1); }
  void fill() {
    for (KilledRing& ring : rings_) {
      for (std::uint64_t i = up_to(3); i != 0; --i) ring.kernel.receive();
      if (rings_.size() > 1 && up_to(19) == 0) ring.held = !ring.held;
    }
  }
  /// To the other stream; or its reader dies before it has told of it, or changes its mind.
  void hand_over(KilledRing& ring) {
    const std::size_t from = streams_[0].reads(ring) ? 0 : 1;
    KilledReaders& leaver = streams_[from];
    KilledReaders& joiner = streams_[1 - from];
    if (!leaver.leave(ring)) return;
    const std::uint64_t what = up_to(5);
    if (what == 0) return;
    if (what == 1) {
      leaver.die();
      return;
    }
    leaver.forget(ring);
    ++moved_;
    if (what == 2) leaver.die();
    if (what == 3 && joiner.restart_with(ring)) return;
    joiner.join(ring);
    if (what == 4) joiner.die();
  }

  std::mt19937_64 random_{20261123};
};

TEST_F(PacketRingKillsTest, NothingIsLostOrDoubledByAnyKill) {
  run(1, 1);
  EXPECT_GT(lives(), 10'000u);
  EXPECT_GT(rings_[0].sealed, 100'000u);
}

TEST_F(PacketRingKillsTest, NorOfSeveralRingsThatAStreamReads) {
  run(3, 1);
  EXPECT_GT(lives(), 10'000u);
  for (const KilledRing& ring : rings_) EXPECT_GT(ring.sealed, 50'000u);
}

TEST_F(PacketRingKillsTest, NorOfRingsThatGoFromStreamToStream) {
  run(4, 2);
  EXPECT_GT(lives(), 20'000u);
  EXPECT_GT(moved_, 1000u);
  for (const KilledRing& ring : rings_) EXPECT_GT(ring.sealed, 50'000u);
}

}  // namespace
}  // namespace millrace
