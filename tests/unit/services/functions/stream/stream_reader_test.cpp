// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/stream_reader.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>

#include "tests/unit/services/functions/stream/receiver.hpp"
#include "tests/unit/services/functions/stream/stream_memory.hpp"

namespace millrace {
namespace {

using Fate = StreamReader::Fate;

constexpr std::uint32_t kStart = 0xffff'ff00;  // numbers go round soon

/// One direction of one connection; positions are counted from its first byte.
class Reads {
 public:
  explicit Reads(StreamLimits limits = {.window = 4096, .depth = 0, .carry = 4},
                 StreamTable::Shape shape = {.streams = 2, .blocks = 20})
      : memory(shape), reader(limits) {}

  /// Its fate; what it lets the receiver read is in `text`, and nothing of it if `drops`.
  Fate send(std::int64_t at, const std::string& data, bool drops = false) {
    StreamTable table = memory.table();
    const StreamSegment segment{.tuple = tuple,
                                .direction = 1,
                                .sequence = kStart + static_cast<std::uint32_t>(at),
                                .acknowledged = {std::nullopt, acknowledged},
                                .is_picked_up = picked_up,
                                .data = std::as_bytes(std::span(data)),
                                .begins = begins,
                                .is_answered = answered};
    const StreamReader::Offer offer = reader.offer(table, segment);
    text.assign(reinterpret_cast<const char*>(offer.text.data()), offer.text.size());
    carry = offer.carry;
    if (offer.fate != Fate::kPasses || (drops && !text.empty())) return offer.fate;
    if (!reader.commit(table, segment)) return Fate::kNoRoom;
    read += text.substr(carry);
    return Fate::kPasses;
  }
  void acknowledge(std::int64_t at) { acknowledged = kStart + static_cast<std::uint32_t>(at); }

  StreamMemory memory;
  StreamReader reader;
  const FlowTuple tuple = tuple_number(1);
  std::optional<std::uint32_t> acknowledged = kStart;
  bool picked_up = false, begins = false, answered = true;
  std::string text, read;
  std::uint32_t carry = 0;
};

TEST(StreamReader, ReadsInOrderWithWhatIsCarried) {
  Reads stream;
  EXPECT_EQ(stream.send(0, "GET /se"), Fate::kPasses);
  EXPECT_EQ(stream.text, "GET /se");
  EXPECT_EQ(stream.carry, 0u);
  EXPECT_EQ(stream.send(7, "cret"), Fate::kPasses);
  EXPECT_EQ(stream.text, " /secret");
  EXPECT_EQ(stream.carry, 4u);
}

TEST(StreamReader, WhatIsAheadPassesAndIsReadWithTheFiller) {
  Reads stream;
  EXPECT_EQ(stream.send(6, "gh"), Fate::kPasses);
  EXPECT_EQ(stream.text, "");
  EXPECT_EQ(stream.send(3, "de"), Fate::kPasses);
  EXPECT_EQ(stream.text, "");
  EXPECT_EQ(stream.send(0, "abc"), Fate::kPasses);
  EXPECT_EQ(stream.text, "abcde");
  EXPECT_EQ(stream.send(5, "f"), Fate::kPasses);
  EXPECT_EQ(stream.text, "bcdefgh");
  EXPECT_EQ(stream.read, "abcdefgh");
}

TEST(StreamReader, AFillerThatIsDroppedHasChangedNothing) {
  Reads stream;
  EXPECT_EQ(stream.send(3, "def"), Fate::kPasses);
  EXPECT_EQ(stream.send(0, "abc", true), Fate::kPasses);
  EXPECT_EQ(stream.text, "abcdef");
  EXPECT_EQ(stream.send(0, "xyz"), Fate::kPasses);  // the receiver has not got the other one
  EXPECT_EQ(stream.read, "xyzdef");
}

TEST(StreamReader, OtherBytesForTheSamePlaceDoNotPass) {
  Reads stream;
  EXPECT_EQ(stream.send(0, "abc"), Fate::kPasses);
  EXPECT_EQ(stream.send(6, "ghi"), Fate::kPasses);
  EXPECT_EQ(stream.send(0, "abc"), Fate::kPasses);
  EXPECT_EQ(stream.send(1, "bX"), Fate::kConflicts);
  EXPECT_EQ(stream.send(2, "cdefgX"), Fate::kConflicts);
  EXPECT_EQ(stream.send(8, "X"), Fate::kConflicts);
  EXPECT_EQ(stream.send(1, "bcdefghijk"), Fate::kPasses);
  EXPECT_EQ(stream.read, "abcdefghijk");
}

TEST(StreamReader, WhatIsAcknowledgedMayComeAgainInAnyForm) {
  Reads stream({.window = 4096, .depth = 0, .carry = 0});
  EXPECT_EQ(stream.send(0, std::string(3000, 'a')), Fate::kPasses);
  EXPECT_EQ(stream.send(0, "b"), Fate::kConflicts);
  stream.acknowledge(3000);
  EXPECT_EQ(stream.send(3000, "c"), Fate::kPasses);
  EXPECT_EQ(stream.send(0, "b"), Fate::kPasses);  // a keep-alive looks like that
  EXPECT_EQ(stream.send(2999, "bX"), Fate::kConflicts);
  EXPECT_EQ(stream.memory.table().free_blocks(), 19u);
}

TEST(StreamReader, AKeepAliveHasAnyByte) {
  Reads stream({.window = 4096, .depth = 0, .carry = 100});
  EXPECT_EQ(stream.send(0, "abcdef"), Fate::kPasses);
  stream.acknowledge(6);
  EXPECT_EQ(stream.send(5, std::string(1, '\0')), Fate::kPasses);
  EXPECT_EQ(stream.send(6, "gh"), Fate::kPasses);
  EXPECT_EQ(stream.text, "abcdefgh");
}

TEST(StreamReader, BytesBeforeAStreamThatNobodyHasAcknowledgedDoNotPass) {
  Reads stream;
  stream.acknowledged.reset();
  EXPECT_EQ(stream.send(0, "abc"), Fate::kConflicts);
  stream.acknowledge(0);
  EXPECT_EQ(stream.send(0, "abc"), Fate::kPasses);
  stream.acknowledged.reset();
  EXPECT_EQ(stream.send(-2, "yz"), Fate::kConflicts);
}

TEST(StreamReader, AFlowThatWasPickedUpBeginsWhereItIs) {
  Reads stream;
  stream.picked_up = true;
  stream.acknowledged.reset();
  EXPECT_EQ(stream.send(1000, "abc"), Fate::kPasses);
  EXPECT_EQ(stream.send(900, "before"), Fate::kConflicts);  // it may be read, and was not
  EXPECT_EQ(stream.send(1010, "klm"), Fate::kPasses);
  stream.acknowledge(1013);  // it has got what was on its way
  EXPECT_EQ(stream.send(900, "before"), Fate::kPasses);
  EXPECT_EQ(stream.send(1013, "nop"), Fate::kPasses);
  EXPECT_EQ(stream.read, "abcnop");
}

/// One side alone can have a flow picked up behind bytes that its receiver waits for.
TEST(StreamReader, WhatTheReceiverOfAPickedUpFlowAsksForIsRead) {
  Reads stream;
  stream.picked_up = true;
  stream.acknowledged.reset();
  EXPECT_EQ(stream.send(1004, "bidden"), Fate::kPasses);
  EXPECT_EQ(stream.text, "bidden");
  EXPECT_EQ(stream.send(1000, "a for"), Fate::kConflicts);
  stream.acknowledge(999);
  EXPECT_EQ(stream.send(1000, "for"), Fate::kConflicts);  // ahead of what it asks for
  EXPECT_EQ(stream.send(999, "a for", true), Fate::kPasses);
  EXPECT_EQ(stream.text, "a forbidden");
  EXPECT_EQ(stream.carry, 0u);
  EXPECT_EQ(stream.send(999, "a for"), Fate::kPasses);
  EXPECT_EQ(stream.text, "a forbidden");
  EXPECT_EQ(stream.send(1010, "!"), Fate::kPasses);
  EXPECT_EQ(stream.text, "dden!");
  EXPECT_EQ(stream.carry, 4u);
}

/// As in a tunnel of which one direction alone comes by.
TEST(StreamReader, OfAReceiverThatIsNotHeardWhatIsAcknowledgedIsAGuess) {
  Reads stream;
  stream.picked_up = true;
  stream.answered = false;
  stream.acknowledge(0);
  EXPECT_EQ(stream.send(1003, "bidden"), Fate::kPasses);
  EXPECT_EQ(stream.text, "bidden");
  EXPECT_EQ(stream.send(1000, "fo"), Fate::kConflicts);  // a hole behind it would hide the rest
  EXPECT_EQ(stream.send(1000, "for"), Fate::kPasses);
  EXPECT_EQ(stream.text, "forbidden");
  EXPECT_EQ(stream.send(1009, "!"), Fate::kPasses);
  EXPECT_EQ(stream.text, "dden!");
}

TEST(StreamReader, APickedUpFlowBeginsWhereItsReceiverWaits) {
  Reads stream;
  stream.picked_up = true;
  EXPECT_EQ(stream.send(3, "bidden"), Fate::kPasses);
  EXPECT_EQ(stream.text, "");
  EXPECT_EQ(stream.send(0, "for"), Fate::kPasses);
  EXPECT_EQ(stream.text, "forbidden");
}

TEST(StreamReader, DataOfASynMayBeginAStream) {
  Reads stream({.window = 4096, .depth = 0, .carry = 0, .fast_open = true});
  stream.acknowledged.reset();
  EXPECT_EQ(stream.send(0, "abc"), Fate::kConflicts);  // no SYN
  stream.begins = true;
  EXPECT_EQ(stream.send(0, "abc"), Fate::kPasses);
  EXPECT_EQ(stream.send(0, "abc"), Fate::kPasses);
  EXPECT_EQ(stream.send(7, "abc"), Fate::kConflicts);  // another SYN
  EXPECT_EQ(stream.read, "abc");
  // The SYN+ACK for it acknowledges some of its data, or none.
  const auto answered = [&](std::uint32_t first, std::int64_t until) {
    StreamTable table = stream.memory.table();
    return stream.reader.handshake(table, stream.tuple, 0, first,
                                   kStart + static_cast<std::uint32_t>(until));
  };
  EXPECT_FALSE(answered(900, -1));
  EXPECT_FALSE(answered(900, 4));
  EXPECT_TRUE(answered(900, 1));
  EXPECT_TRUE(answered(900, 3));
  EXPECT_FALSE(answered(901, 3));  // where the other side begins is known
  stream.begins = false;
  stream.acknowledge(1);
  EXPECT_EQ(stream.send(0, "abcd"), Fate::kPasses);
  EXPECT_EQ(stream.send(1, "bX"), Fate::kConflicts);
  EXPECT_EQ(stream.read, "abcd");
}

TEST(StreamReader, WhatWaitsBehindAnAcknowledgedHoleIsRead) {
  Reads stream({.window = 4096, .depth = 0, .carry = 0, .skips = true});
  std::string text;
  const auto skip = [&] {
    StreamTable table = stream.memory.table();
    const StreamSegment segment{.tuple = stream.tuple,
                                .direction = 1,
                                .sequence = *stream.acknowledged,
                                .acknowledged = {std::nullopt, stream.acknowledged},
                                .is_picked_up = false,
                                .data = {}};
    const StreamReader::Offer offer = stream.reader.skip(table, segment);
    text.assign(reinterpret_cast<const char*>(offer.text.data()), offer.text.size());
    EXPECT_TRUE(text.empty() || stream.reader.commit(table, segment));
    return text;
  };
  EXPECT_EQ(skip(), "");  // there is no stream
  stream.send(0, "abc");
  EXPECT_EQ(skip(), "");
  stream.send(6, "ghi");
  stream.send(12, "mno");
  stream.acknowledge(5);
  EXPECT_EQ(skip(), "");
  stream.acknowledge(15);
  EXPECT_EQ(skip(), "ghi");
  EXPECT_EQ(skip(), "mno");
  EXPECT_EQ(skip(), "");
  stream.send(18, "stu");
  stream.acknowledge(21);
  stream.send(15, "pqr");  // what was missing comes by, behind its acknowledgment
  EXPECT_EQ(stream.text, "pqrstu");
}

TEST(StreamReader, RoomIsBounded) {
  Reads stream({.window = 2000, .depth = 0, .carry = 4}, {.streams = 1, .blocks = 4});
  EXPECT_EQ(stream.send(3010, "beyond the window"), Fate::kNoRoom);
  for (int at = 100; at < 400; at += 100) EXPECT_EQ(stream.send(at, "a"), Fate::kPasses);
  EXPECT_EQ(stream.send(400, "b"), Fate::kNoRoom);  // one block is left for the filler
  EXPECT_EQ(stream.send(301, "b"), Fate::kPasses);  // into the block before
  EXPECT_EQ(stream.send(0, std::string(100, 'x')), Fate::kPasses);
  EXPECT_EQ(stream.memory.table().free_blocks(), 0u);
  EXPECT_EQ(stream.send(101, "no block for it"), Fate::kPasses);  // behind the first one
  stream.acknowledge(116);
  StreamTable table = stream.memory.table();
  stream.reader.acknowledge(table, stream.tuple, 1, *stream.acknowledged);
  EXPECT_EQ(table.free_blocks(), 1u);
}

TEST(StreamReader, WhatIsNotAcknowledgedIsBoundedByTheWindow) {
  Reads stream({.window = 2000, .depth = 0, .carry = 0}, {.streams = 1, .blocks = 10});
  EXPECT_EQ(stream.send(0, std::string(3000, 'a')), Fate::kPasses);
  EXPECT_EQ(stream.send(3000, "a"), Fate::kNoRoom);
  stream.acknowledge(2500);
  StreamTable table = stream.memory.table();
  stream.reader.acknowledge(table, stream.tuple, 1, *stream.acknowledged);
  EXPECT_EQ(stream.send(3000, "a"), Fate::kPasses);
}

TEST(StreamReader, ASegmentWithTooManyHolesFilledDoesNotPass) {
  Reads stream({.window = 4096, .depth = 0, .carry = 0});
  for (int at = 1; at < 20; at += 2) EXPECT_EQ(stream.send(at, "x"), Fate::kPasses);
  EXPECT_EQ(stream.send(0, std::string(20, 'x')), Fate::kNoRoom);
  EXPECT_EQ(stream.send(0, std::string(10, 'x')), Fate::kPasses);
  EXPECT_EQ(stream.send(0, std::string(20, 'x')), Fate::kPasses);
  EXPECT_EQ(stream.read, std::string(20, 'x'));
}

TEST(StreamReader, BehindTheDepthNothingIsReadOrKept) {
  Reads stream({.window = 4096, .depth = 6, .carry = 0});
  EXPECT_EQ(stream.send(0, "abcd"), Fate::kPasses);
  EXPECT_EQ(stream.send(4, "efgh"), Fate::kPasses);
  EXPECT_EQ(stream.read, "abcdefgh");
  EXPECT_EQ(stream.send(8, "ijk"), Fate::kPasses);
  EXPECT_EQ(stream.text, "");
  EXPECT_EQ(stream.send(6, "gX"), Fate::kConflicts);
  EXPECT_EQ(stream.send(6, "ghX"), Fate::kPasses);
  EXPECT_EQ(stream.memory.table().free_blocks(), 19u);
  stream.acknowledge(8);
  StreamTable table = stream.memory.table();
  stream.reader.acknowledge(table, stream.tuple, 1, *stream.acknowledged);
  EXPECT_EQ(table.free_blocks(), 20u);
  EXPECT_EQ(stream.send((std::int64_t{1} << 31) + 9, "far behind"), Fate::kPasses);
}

TEST(StreamReader, AStreamBeginsAnewWhereBothSidesAgree) {
  Reads stream;
  StreamTable table = stream.memory.table();
  const auto syn = [&](std::uint32_t first) {
    return stream.reader.handshake(table, stream.tuple, 1, first, std::nullopt);
  };
  const auto answer = [&](std::uint32_t first, std::uint32_t acknowledges) {
    return stream.reader.handshake(table, stream.tuple, 0, first, acknowledges);
  };
  EXPECT_TRUE(syn(kStart) && answer(900, kStart));
  EXPECT_EQ(stream.send(0, "abc"), Fate::kPasses);
  EXPECT_TRUE(syn(kStart));       // sent once more
  EXPECT_FALSE(answer(901, 77));  // no side has asked for that
  EXPECT_EQ(stream.send(3, "def"), Fate::kPasses);
  EXPECT_EQ(stream.carry, 3u);
  EXPECT_TRUE(syn(77));  // of a host that has started anew, or of a liar
  EXPECT_EQ(stream.send(6, "ghi"), Fate::kPasses);
  EXPECT_EQ(stream.carry, 4u);
  EXPECT_TRUE(answer(901, 77));
  EXPECT_EQ(table.streams(), 0u);
}

/// A sender that tries everything: two versions of its stream, cut, shuffled, repeated and lost
/// behind the reader, fillers that are dropped, workers that die. Whatever a receiver delivers has
/// been read before.
TEST(StreamReader, NoReceiverDeliversWhatHasNotBeenRead) {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const bool honest = seed % 4 == 0;
    Reads stream({.window = 700, .depth = 0, .carry = static_cast<std::uint32_t>(random() % 20)},
                 {.streams = 1, .blocks = 8});
    Receiver receivers[] = {Receiver(false), Receiver(true)};
    std::string versions[2];
    for (std::string& version : versions) {
      for (int i = 0; i < 1500; ++i) version += static_cast<char>('a' + random() % 3);
    }
    for (int step = 0; step < 600; ++step) {
      const std::size_t reached = receivers[0].delivered.size();
      const std::size_t around = reached > 40 ? reached - 40 : 0;
      const std::size_t at = random() % 3 == 0 ? reached : around + random() % 300;
      if (at >= versions[0].size()) break;
      const std::string& version = versions[honest || random() % 4 != 0 ? 0 : 1];
      const std::string data = version.substr(at, 1 + random() % (random() % 2 == 0 ? 8 : 120));
      stream.memory.begin_batch();
      const std::string read = stream.read;
      const Fate fate = stream.send(static_cast<std::int64_t>(at), data, random() % 8 == 0);
      const bool dropped = fate != Fate::kPasses || (stream.read == read && !stream.text.empty());
      if (random() % 16 == 0) {  // the worker dies with its batch
        ASSERT_EQ(stream.memory.take_back(), LaneUndoLog::Undone::kAll);
        stream.read = read;
        continue;
      }
      ASSERT_FALSE(honest && fate == Fate::kConflicts);
      if (dropped || random() % 4 == 0) continue;  // the rest is lost on its way
      for (Receiver& receiver : receivers) {
        receiver.take(at, data);
        ASSERT_LE(receiver.delivered.size(), stream.read.size());
        ASSERT_EQ(receiver.delivered, stream.read.substr(0, receiver.delivered.size()));
      }
      if (random() % 2 == 0) stream.acknowledge(static_cast<std::int64_t>(reached));
    }
    EXPECT_TRUE(!honest || receivers[0].delivered.size() > 500);
    stream.memory.table().end(stream.tuple);
    EXPECT_EQ(stream.memory.table().free_blocks(), 8u);
  }
}

}  // namespace
}  // namespace millrace
