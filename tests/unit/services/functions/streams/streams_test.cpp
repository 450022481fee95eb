// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/streams/streams.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "services/functions/flow/flow.hpp"
#include "services/functions/stage_runner.hpp"
#include "shared/layout/batch_arena.hpp"
#include "shared/layout/event_text.hpp"
#include "tests/unit/services/functions/event_ring.hpp"
#include "tests/unit/services/functions/lane_memory.hpp"
#include "tests/unit/services/functions/stream/tcp_frames.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kClientFirst = 1000, kServerFirst = 5000;

class StreamsTest : public testing::Test {
 protected:
  void use(const Settings& more = {}) {
    plan_.settings = {{"folder", "/nowhere"}, {"streams", "100"}};
    plan_.settings.insert(plan_.settings.end(), more.begin(), more.end());
    memory_.clear();
    memory_.emplace_back(flow_type().traits.lane_needs({.settings = flow_plan_.settings}));
    memory_.emplace_back(streams_type().traits.lane_needs({.settings = plan_.settings}));
    states_ = {memory_[0].state, memory_[1].state};
    start();
  }
  /// A worker that knows nothing.
  void start() {
    flow_ = flow_type().make({.function = flow_plan_, .ports = {}});
    streams_ = streams_type().make({.function = plan_, .ports = {}});
    runner_ = std::make_unique<StageRunner>(std::vector<StageFunction>{
        {.function = flow_.get(), .counters = {}, .reason_numbers = {40, 41}},
        {.function = streams_.get(), .counters = {hits_}, .number = 1}});
  }
  /// All in one batch; none is dropped.
  void send(const std::vector<Frame>& frames) {
    arena_.clear();
    for (const Frame& frame : frames) arena_.add(frame);
    ++sequence_;
    for (const LaneState& state : states_) state.undo.begin(0, sequence_);
    runner_->run(arena_.batch(), states_,
                 {.port_in = 0, .now_ns = now_s_ * 1'000'000'000, .events = &ring_.log});
    for (std::uint32_t i = 0; i < frames.size(); ++i) EXPECT_FALSE(arena_.batch().is_dropped(i));
    if (!told_is_lost_) read();
  }
  void open(std::uint32_t first = kClientFirst) {
    send({segment(false, kSyn, first, 0), segment(true, kSyn | kAck, kServerFirst, first + 1),
          segment(false, kAck, first + 1, kServerFirst + 1)});
  }
  void client(std::uint32_t at, std::string_view data, std::uint32_t first = kClientFirst) {
    send({segment(false, kAck, first + 1 + at, kServerFirst + 1, data)});
  }
  void read() {
    const std::vector<EventRecord> records = ring_.told();
    std::span<const EventRecord> rest(records);
    EventLine line{};
    while (!rest.empty()) {
      next_line(rest, line);
      if (line.is_whole && line.record.kind == EventKind::kStream) take(line);
    }
  }
  void take(const EventLine& line) {
    const StreamEvent& event = line.record.tcp_stream;
    if (event.step == StreamStep::kEnd) {
      ended_.push_back(event);
      return;
    }
    std::string& text = text_[{event.connection, event.direction}];
    const std::uint64_t origin = event.is_picked_up[event.direction] != 0 ? kStreamOrigin : 0;
    const std::uint64_t at = event.position.number() - origin;
    if (text.size() < at + line.text_size) text.resize(at + line.text_size, '_');
    text.replace(at, line.text_size, reinterpret_cast<const char*>(line.text_bytes.data()),
                 line.text_size);
  }
  std::uint64_t hits(StreamsCounter which) const { return hits_[static_cast<std::size_t>(which)]; }

  PlanFunction flow_plan_{
      .name = "flow", .type = "flow", .settings = {{"max", "100"}, {"liberal", "true"}}};
  PlanFunction plan_{.name = "streams", .type = "streams"};
  std::vector<LaneMemory> memory_;
  std::array<LaneState, 2> states_;
  std::array<std::uint64_t, static_cast<std::size_t>(StreamsCounter::kCount)> hits_{};
  std::unique_ptr<Function> flow_, streams_;
  std::unique_ptr<StageRunner> runner_;
  BatchArena arena_{kBatchCapacityDefault};
  EventRingOfTest ring_;
  std::uint64_t sequence_ = 0, now_s_ = 1;
  bool told_is_lost_ = false;  ///< nothing empties the ring
  std::map<std::pair<std::uint32_t, std::uint8_t>, std::string> text_;  ///< connection, direction
  std::vector<StreamEvent> ended_;
};

TEST_F(StreamsTest, BothDirectionsAreTold) {
  use();
  open();
  client(0, "GET /");
  send({segment(true, kAck, kServerFirst + 1, kClientFirst + 6, "200 OK")});
  client(5, "HTTP");
  EXPECT_EQ((text_[{1, 0}]), "GET /HTTP");
  EXPECT_EQ((text_[{1, 1}]), "200 OK");
  EXPECT_EQ(hits(StreamsCounter::kTold), 3u);
}

TEST_F(StreamsTest, TheVersionThatCameFirstCounts) {
  use();
  open();
  client(3, "def");
  client(0, "abcDEFghi");
  client(0, "ABC");
  EXPECT_EQ((text_[{1, 0}]), "abcdefghi");
  EXPECT_EQ(hits(StreamsCounter::kSeen), 1u);
}

TEST_F(StreamsTest, NothingIsToldBehindAnAcknowledgedEnd) {
  use();
  open();
  client(0, "a");
  send({segment(false, kFin | kAck, kClientFirst + 2, kServerFirst + 1),
        segment(true, kAck, kServerFirst + 1, kClientFirst + 3)});
  client(1, "k");  // is the other side still there?
  EXPECT_EQ((text_[{1, 0}]), "a");
}

TEST_F(StreamsTest, AnEndThatIsNotAcknowledgedEndsNothing) {
  use();
  open();
  send({segment(false, kFin | kAck, kClientFirst + 2, kServerFirst + 1)});
  client(0, "ab");
  EXPECT_EQ((text_[{1, 0}]), "ab");
}

TEST_F(StreamsTest, ASegmentOfSeveralLinesIsTold) {
  use();
  open();
  std::string big;
  for (int i = 0; i < 1400; ++i) big += static_cast<char>('a' + i % 26);
  client(0, big);
  client(1400, big);
  EXPECT_EQ((text_[{1, 0}]), big + big);
}

TEST_F(StreamsTest, DataOfASynBeginTheStream) {
  use();
  send({segment(false, kSyn, kClientFirst, 0, "fast"),
        segment(true, kSyn | kAck, kServerFirst, kClientFirst + 5)});
  client(4, "er");
  EXPECT_EQ((text_[{1, 0}]), "faster");
}

TEST_F(StreamsTest, AnotherConnectionWithTheSameEndsIsAnother) {
  use();
  open();
  client(0, "one");
  send({segment(false, kFin | kAck, kClientFirst + 4, kServerFirst + 1),
        segment(true, kFin | kAck, kServerFirst + 1, kClientFirst + 5),
        segment(false, kAck, kClientFirst + 5, kServerFirst + 2)});
  open(90'000);
  client(0, "two", 90'000);
  EXPECT_EQ((text_[{1, 0}]), "one");
  EXPECT_EQ((text_[{2, 0}]), "two");
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].bytes[0].number(), 3u);
}

TEST_F(StreamsTest, AConnectionWithoutItsBeginIsPickedUpIfAsked) {
  use();
  client(0, "begun before");
  EXPECT_EQ(text_.size(), 1u);
  EXPECT_EQ((text_[{1, 0}]), "begun before");
  use({{"pickup", "false"}});
  text_.clear();
  client(0, "begun before");
  EXPECT_TRUE(text_.empty());
  EXPECT_EQ(hits(StreamsCounter::kMidstream), 1u);
}

TEST_F(StreamsTest, AWrongChecksumIsNotTold) {
  use();
  open();
  Frame wrong = segment(false, kAck, kClientFirst + 1, kServerFirst + 1, "no");
  wire_bytes::put16(wrong, kTcpAt + 16, 0x1234);
  send({wrong});
  EXPECT_TRUE(text_.empty());
  EXPECT_EQ(hits(StreamsCounter::kChecksum), 1u);
}

TEST_F(StreamsTest, TheEndSaysWhatWasLost) {
  use();
  open();
  const std::string big(1400, 'x');
  told_is_lost_ = true;
  for (std::uint32_t i = 0; i < 500; ++i) client(i * 1400, big);
  told_is_lost_ = false;
  EXPECT_GT(hits(StreamsCounter::kLost), 0u);
  read();
  now_s_ += 1'000'000;
  send({});
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].bytes[0].number(), 700'000u);
  EXPECT_EQ((ended_[0].lost[0].number() + text_[{1, 0}].size()), 700'000u);
}

TEST_F(StreamsTest, AWorkerThatDiesTakesItsBatchBack) {
  use();
  open();
  client(0, "abc");
  const std::vector<std::byte> before = memory_[1].copy();
  client(3, "def");
  for (const LaneState& state : states_) {
    ASSERT_EQ(state.undo.undo(0, sequence_), LaneUndoLog::Undone::kAll);
  }
  EXPECT_EQ(memory_[1].copy(), before);
  start();
  client(3, "xyz");
  EXPECT_EQ((text_[{1, 0}]), "abcxyz");
}

}  // namespace
}  // namespace millrace
