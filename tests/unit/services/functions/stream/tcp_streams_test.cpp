// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/tcp_streams.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "services/functions/flow/flow.hpp"
#include "services/functions/stage_runner.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/lane_memory.hpp"
#include "tests/unit/services/functions/stream/stream_memory.hpp"
#include "tests/unit/services/functions/stream/tcp_frames.hpp"

namespace millrace {
namespace {

constexpr std::size_t kFirstCounter = 2;

/// Takes every packet behind `flow`, and lets it pass.
class Taker final : public Function {
 public:
  Taker() { memory.begin_batch(); }
  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}
  void finish(const FinishContext& call) noexcept override {
    std::optional<StreamTable> table;
    if (has_table) table.emplace(memory.table());
    for (const std::uint16_t packet : call.selected.packets) {
      const TcpStreams::Taken taken = streams.take(call, table ? &*table : nullptr, packet,
                                                   parse_headers(call.batch.bytes(packet)));
      fate = taken.fate;
      counter = taken.counter;
      carry = taken.offer.carry;
      text.assign(reinterpret_cast<const char*>(taken.offer.text.data()), taken.offer.text.size());
      if (taken.fate == TcpStreams::Fate::kOffered) has_room = streams.commit(call, *table, taken);
      streams.pass(call, call.batch.bytes(packet), parse_headers(call.batch.bytes(packet)));
    }
  }
  void read_openings() { streams = TcpStreams({.window = 4096, .fast_open = true}, kOptions); }

  static constexpr TcpStreamOptions kOptions{.first_counter = kFirstCounter};
  StreamMemory memory{{.streams = 1, .blocks = 20}};
  TcpStreams streams{{.window = 4096, .depth = 0, .carry = 2}, kOptions};
  TcpStreams::Fate fate = TcpStreams::Fate::kPasses;
  StreamCounter counter = StreamCounter::kTexts;
  std::uint32_t carry = 0;
  std::string text;
  bool has_table = true, has_room = true;
};

class TcpStreamsTest : public testing::Test {
 protected:
  void take(const Frame& frame) {
    arena_.clear();
    arena_.add(frame);
    runner_.run(arena_.batch(), states_, {.port_in = 0, .now_ns = 1'000'000'000});
  }
  void open(std::uint16_t port = 40'000) {
    take(segment(false, kSyn, 1000, 0, {}, port));
    take(segment(true, kSyn | kAck, 5000, 1001, {}, port));
    take(segment(false, kAck, 1001, 5001, {}, port));
    EXPECT_EQ(taker_.fate, TcpStreams::Fate::kPasses);
  }
  void send(std::uint32_t at, std::string_view data, std::uint16_t port = 40'000) {
    take(segment(false, kAck, 1001 + at, 5001, data, port));
  }
  void expect_refused(StreamCounter why) {
    EXPECT_EQ(taker_.fate, TcpStreams::Fate::kRefused);
    EXPECT_EQ(taker_.counter, why);
    EXPECT_GT(hits(why), 0u);
  }
  std::uint64_t hits(StreamCounter which) const {
    return hits_[kFirstCounter + static_cast<std::size_t>(which)];
  }

  PlanFunction flow_plan_{.name = "flow", .type = "flow", .settings = {{"max", "100"}}};
  std::unique_ptr<Function> flow_ = flow_type().make({.function = flow_plan_, .ports = {}});
  Taker taker_;
  LaneMemory flow_memory_{flow_type().traits.lane_needs({.settings = flow_plan_.settings})};
  std::array<LaneState, 2> states_{flow_memory_.state, LaneState{}};
  std::vector<std::uint64_t> hits_ =
      std::vector<std::uint64_t>(kFirstCounter + static_cast<std::size_t>(StreamCounter::kCount));
  StageRunner runner_{{{.function = flow_.get(), .reason_numbers = {40, 41}},
                       {.function = &taker_, .counters = {hits_}, .number = 1}}};
  BatchArena arena_{kBatchCapacityDefault};
};

TEST_F(TcpStreamsTest, CountsWhatASegmentIs) {
  open();
  send(3, "def");
  EXPECT_EQ(taker_.text, "");
  send(3, "def");
  send(0, "abc");
  EXPECT_EQ(taker_.text, "abcdef");
  send(6, "g");
  EXPECT_EQ(taker_.text, "efg");
  EXPECT_EQ(taker_.carry, 2u);
  EXPECT_EQ(hits(StreamCounter::kAhead), 1u);
  EXPECT_EQ(hits(StreamCounter::kSeen), 1u);
  EXPECT_EQ(hits(StreamCounter::kTexts), 2u);
}

TEST_F(TcpStreamsTest, RefusesWhatNoReceiverShouldRead) {
  take(segment(false, kSyn, 1000, 0, "in a SYN"));
  expect_refused(StreamCounter::kUnread);
  open();
  send(0, "abc");
  send(0, "abX");
  expect_refused(StreamCounter::kConflicts);
  Frame wrong = segment(false, kAck, 1004, 5001, "wrong sum");
  wrong.back() ^= std::byte{1};
  take(wrong);
  expect_refused(StreamCounter::kChecksum);
  send(1'000'000, "out of the window");
  expect_refused(StreamCounter::kNoFlow);
  open(40'001);
  send(0, "of a second stream", 40'001);
  EXPECT_FALSE(taker_.has_room);
  EXPECT_EQ(hits(StreamCounter::kNoRoom), 1u);
}

TEST_F(TcpStreamsTest, DataOfASynAreReadWhereTheyMay) {
  taker_.read_openings();
  take(segment(false, kSyn, 1000, 0, "in a SYN"));
  EXPECT_EQ(taker_.text, "in a SYN");
  take(segment(true, kSyn | kAck, 5000, 1009, "in a SYN+ACK"));
  expect_refused(StreamCounter::kUnread);
  take(segment(true, kSyn | kAck, 5000, 1009));
  EXPECT_EQ(taker_.fate, TcpStreams::Fate::kPasses);
  take(segment(true, kAck, 5001, 1009, "answer"));
  EXPECT_EQ(taker_.text, "answer");
  take(segment(false, kAck, 1009, 5007, " and behind"));
  EXPECT_EQ(taker_.text, " and behind");
}

TEST_F(TcpStreamsTest, WithoutATableDataDoesNotPass) {
  taker_.has_table = false;
  open();
  send(0, "abc");
  expect_refused(StreamCounter::kNoFlow);
}

TEST_F(TcpStreamsTest, TheUrgentFlagIsTakenAway) {
  open();
  take(segment(false, kAck | kUrg, 1001, 5001, "r"));
  const auto bytes = arena_.batch().bytes(0);
  EXPECT_EQ(Frame(bytes.begin(), bytes.end()), segment(false, kAck, 1001, 5001, "r"));
  EXPECT_EQ(hits(StreamCounter::kUrgent), 1u);
}

TEST_F(TcpStreamsTest, TheUrgentFlagIsTakenAwayWithoutDataToo) {
  open();
  Frame urgent = segment(false, kAck | kUrg, 1001, 5001);
  urgent[kTcpAt + 17] ^= std::byte{3};  // without data nothing depends on the checksum
  take(urgent);
  EXPECT_EQ(taker_.fate, TcpStreams::Fate::kPasses);
  const auto bytes = arena_.batch().bytes(0);
  EXPECT_EQ(wire_bytes::u8(bytes, kTcpAt + 13), kAck);
  EXPECT_EQ(wire_bytes::u16(bytes, kTcpAt + 18), 0u);
  EXPECT_EQ(hits(StreamCounter::kUrgent), 1u);
}

}  // namespace
}  // namespace millrace
