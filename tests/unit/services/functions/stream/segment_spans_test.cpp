// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/segment_spans.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "services/functions/stream/kept_bytes.hpp"
#include "services/functions/stream/stream_reader.hpp"
#include "tests/unit/services/functions/stream/stream_memory.hpp"
#include "tests/unit/services/functions/stream/system_receiver.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kSpansStart = 0xffff'ff00;  // numbers go round soon

/// A stream to a receiver whose system is known.
struct SystemStream {
  explicit SystemStream(std::string_view name) : overlaps(overlap_policy(name).value()) {}

  StreamReader::Fate send(std::size_t at, const std::string& data) {
    StreamTable table = memory.table();
    const StreamSegment segment{.tuple = tuple,
                                .direction = 1,
                                .sequence = kSpansStart + static_cast<std::uint32_t>(at),
                                .acknowledged = {std::nullopt, acknowledged},
                                .is_picked_up = false,
                                .data = std::as_bytes(std::span(data)),
                                .overlaps = overlaps};
    const StreamReader::Offer offer = reader.offer(table, segment);
    if (offer.fate != StreamReader::Fate::kPasses) return offer.fate;
    read.append(reinterpret_cast<const char*>(offer.text.data()), offer.text.size());
    return reader.commit(table, segment) ? offer.fate : StreamReader::Fate::kNoRoom;
  }
  void acknowledge(std::size_t at) {
    acknowledged = kSpansStart + static_cast<std::uint32_t>(at);
    StreamTable table = memory.table();
    reader.acknowledge(table, tuple, 1, *acknowledged);
  }

  /// What has been read and is kept, and where it begins.
  std::pair<std::uint64_t, std::string> kept() const {
    const StreamTable table = memory.table();
    const Stream* const found = table.find(tuple);
    if (found == nullptr) return {};
    const std::uint64_t from = KeptBytes::begin(table, *found, 1);
    std::string all;
    KeptBytes bytes(table, *found, 1, from);
    for (auto piece = bytes.next(); !piece.empty(); piece = bytes.next()) {
      all.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    }
    return {from, all};
  }

  OverlapPolicy overlaps;
  StreamMemory memory{{.streams = 1, .blocks = 200}};
  StreamReader reader{{.window = 65'536, .depth = 0, .carry = 0, .history = 100, .skips = true}};
  const FlowTuple tuple = tuple_number(1);
  std::optional<std::uint32_t> acknowledged = kSpansStart;
  std::string read;
};

std::string both_sent(std::string_view name) {
  SystemStream stream(name);
  stream.send(4, "aaaa");
  stream.send(2, "bbbb");
  stream.send(4, "cccccc");
  stream.send(12, "dddd");
  stream.send(12, "eeee");
  stream.send(0, "ffffffffffff");
  return stream.read;
}

TEST(SegmentSpans, EachSystemReadsAnotherText) {
  EXPECT_EQ(both_sent("first"), "ffbbaaaaccffdddd");
  EXPECT_EQ(both_sent("last"), "ffffffffffffeeee");
  EXPECT_EQ(both_sent("bsd"), "ffffffffffffdddd");
  EXPECT_EQ(both_sent("old-linux"), "ffffffffffffeeee");
  EXPECT_EQ(both_sent("solaris"), "ffffffffffffeeee");
}

TEST(SegmentSpans, WhatHasBeenReadOrAcknowledgedStays) {
  SystemStream stream("last");
  stream.send(0, "abc");
  stream.send(0, "xyzd");
  EXPECT_EQ(stream.read, "abcd");
  stream.send(6, "ghi");
  stream.acknowledge(9);  // what is missing did not come by
  stream.send(6, "xyzj");
  EXPECT_EQ(stream.read, "abcdghij");
}

TEST(SegmentSpans, ASegmentInPlaceOfTooManyIsNotTaken) {
  SystemStream stream("last");
  for (std::uint32_t i = 0; i <= SegmentSpans::kLookedAtMax; ++i) stream.send(10 + i, "a");
  const std::string others(SegmentSpans::kLookedAtMax + 1, 'b');
  EXPECT_EQ(stream.send(10, others), StreamReader::Fate::kNoRoom);
  EXPECT_EQ(stream.send(10, others.substr(2)), StreamReader::Fate::kPasses);
  stream.send(0, std::string(10, 'c'));
  EXPECT_EQ(stream.read, std::string(10, 'c') + others.substr(2) + "aa");
}

/// Segments that cover, cut and repeat each other, short and longer than a block, and workers that
/// die amid a batch.
void send_anyhow(std::string_view name, std::uint32_t seed) {
  std::mt19937 random(seed);
  SystemStream stream(name);
  SystemReceiver receiver(name);
  const std::size_t longest = seed % 3 == 0 ? 3000 : 12;
  for (int step = 0; step < 150; ++step) {
    const std::size_t reached = receiver.delivered.size();
    const std::size_t back = std::min<std::size_t>(reached, random() % 6);
    const std::size_t at = random() % 8 == 0 ? reached - back : reached + random() % (3 * longest);
    std::string data(1 + random() % longest, static_cast<char>('a' + random() % 26));
    if (random() % 8 == 0) stream.memory.begin_batch();
    const std::string read = stream.read;
    if (random() % 16 == 0) {
      stream.memory.begin_batch();
      stream.send(at, data);
      stream.send(at + random() % longest, data + "!");
      ASSERT_EQ(stream.memory.take_back(), LaneUndoLog::Undone::kAll);
      stream.memory.begin_batch();
      stream.read = read;
      continue;
    }
    if (stream.send(at, data) != StreamReader::Fate::kPasses) continue;  // lost for both
    receiver.take(at, data);
    ASSERT_EQ(stream.read, receiver.delivered);
    const auto [from, kept] = stream.kept();
    ASSERT_EQ(kept, stream.read.substr(from));
    if (random() % 4 == 0) stream.acknowledge(receiver.delivered.size());
  }
  stream.memory.table().end(stream.tuple);
  EXPECT_EQ(stream.memory.table().free_blocks(), 200u);
}

TEST(SegmentSpans, WhatIsReadIsWhatTheSystemDelivers) {
  for (const std::string_view name : overlap_policy_names()) {
    for (std::uint32_t seed = 0; seed < 150; ++seed) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(seed));
      send_anyhow(name, seed);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace millrace
