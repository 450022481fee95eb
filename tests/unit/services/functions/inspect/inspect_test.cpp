// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/inspect/inspect.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "services/functions/flow/flow.hpp"
#include "services/functions/match/match_verdicts.hpp"
#include "services/functions/stage_runner.hpp"
#include "services/functions/stream/tcp_streams.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/lane_memory.hpp"
#include "tests/unit/services/functions/match/match_fixture.hpp"
#include "tests/unit/services/functions/stream/tcp_frames.hpp"

namespace millrace {
namespace {

constexpr char kRules[] = "drop \"/secret\" nocase\nclass odd \"odd words\"\nalert \"hello\"\n";
constexpr std::uint32_t kRuleCount = 3;
constexpr std::uint8_t kDropRule = 0, kClassRule = 1, kAlertRule = 2;
constexpr int kPasses = -1, kByRule = 0, kConflict = 1, kFull = 2;
constexpr std::uint32_t kClient = 1000, kServer = 5000;  // first numbers

class InspectTest : public testing::Test {
 protected:
  void use(const Settings& more = {}, const Settings& of_flow = {{"max", "100"}}) {
    plan_ = folder_.plan(kRules, {"odd"}, 1);
    plan_.type = "inspect";
    plan_.settings.insert(plan_.settings.end(), more.begin(), more.end());
    flow_plan_ = {.name = "flow", .type = "flow", .settings = of_flow};
    report_ = inspect_type().build({.function = plan_, .ports = {}});
    memory_.clear();
    memory_.emplace_back(flow_type().traits.lane_needs({.settings = flow_plan_.settings}));
    memory_.emplace_back(inspect_type().traits.lane_needs({.settings = plan_.settings}));
    states_ = {memory_[0].state, memory_[1].state};
    start();
  }
  /// A worker that knows nothing.
  void start() {
    flow_ = flow_type().make({.function = flow_plan_, .ports = {}});
    inspect_ = inspect_type().make({.function = plan_, .ports = {}});
    hits_.assign(report_.counter_count, 0);
    runner_ = std::make_unique<StageRunner>(std::vector<StageFunction>{
        {.function = flow_.get(), .counters = {}, .reason_numbers = {40, 41}},
        {.function = inspect_.get(),
         .counters = {hits_},
         .number = 1,
         .reason_numbers = {50, 51, 52}}});
  }
  /// Their fates, all in one batch.
  std::vector<int> send(const std::vector<Frame>& frames) {
    arena_.clear();
    for (const Frame& frame : frames) arena_.add(frame);
    ++sequence_;
    for (const LaneState& state : states_) state.undo.begin(0, sequence_);
    runner_->run(arena_.batch(), states_, {.port_in = 0, .now_ns = 1'000'000'000});
    std::vector<int> fates;
    for (std::uint32_t i = 0; i < frames.size(); ++i) {
      const bool dropped = arena_.batch().is_dropped(i);
      fates.push_back(dropped ? arena_.batch().reason[i] - 50 : kPasses);
    }
    return fates;
  }
  int send(const Frame& frame) { return send(std::vector<Frame>{frame}).front(); }
  int client(std::uint32_t at, std::string_view data, std::uint16_t port = 40'000) {
    return send(segment(false, kAck, first_ + 1 + at, kServer + 1, data, port));
  }
  int server(std::uint32_t at, std::string_view data, std::uint32_t has = 0) {
    return send(segment(true, kAck, kServer + 1 + at, first_ + 1 + has, data));
  }
  void open(std::uint16_t port = 40'000) {
    for (const Frame& frame : handshake(port)) ASSERT_EQ(send(frame), kPasses);
  }
  std::vector<Frame> handshake(std::uint16_t port = 40'000) const {
    return {segment(false, kSyn, first_, 0, {}, port),
            segment(true, kSyn | kAck, kServer, first_ + 1, {}, port),
            segment(false, kAck, first_ + 1, kServer + 1, {}, port)};
  }
  void take_back() {
    for (const LaneState& state : states_) {
      ASSERT_EQ(state.undo.undo(0, sequence_), LaneUndoLog::Undone::kAll);
    }
  }
  std::uint64_t hits(std::size_t rule) const { return hits_[rule]; }
  std::uint64_t hits(StreamCounter which) const {
    return hits_[kRuleCount + kMatchExtraCount + static_cast<std::size_t>(which)];
  }
  const MatchFolder folder_;
  PlanFunction flow_plan_, plan_;
  BuildReport report_;
  std::vector<LaneMemory> memory_;
  std::array<LaneState, 2> states_;
  std::vector<std::uint64_t> hits_;
  std::unique_ptr<Function> flow_, inspect_;
  std::unique_ptr<StageRunner> runner_;
  BatchArena arena_{kBatchCapacityDefault};
  std::uint64_t sequence_ = 0;
  std::uint32_t first_ = kClient;  ///< of the client's next connection
};

TEST_F(InspectTest, AWordOverTwoSegmentsIsFound) {
  use();
  open();
  EXPECT_EQ(client(0, "GET /se"), kPasses);
  EXPECT_EQ(client(7, "CRet"), kByRule);
  EXPECT_EQ(client(7, "CRet"), kByRule);  // sent once more
  EXPECT_EQ(client(7, "curity"), kPasses);
  EXPECT_EQ(hits(kDropRule), 2u);
  EXPECT_EQ(hits(StreamCounter::kTexts), 2u);
}

TEST_F(InspectTest, AWordThatIsAheadHoldsUpTheFiller) {
  use();
  open();
  EXPECT_EQ(client(7, "cret"), kPasses);
  EXPECT_EQ(client(4, "/se"), kPasses);
  EXPECT_EQ(client(0, "GET "), kByRule);
  EXPECT_EQ(hits(StreamCounter::kAhead), 2u);
}

TEST_F(InspectTest, ALiteralCountsOnceWhereverItStands) {
  use();
  open();
  EXPECT_EQ(client(0, "hello"), kPasses);
  EXPECT_EQ(client(5, " hel"), kPasses);
  EXPECT_EQ(client(9, "lo "), kPasses);
  EXPECT_EQ(client(12, "hello"), kPasses);
  EXPECT_EQ(client(17, "."), kPasses);
  EXPECT_EQ(hits(kAlertRule), 3u);
}

TEST_F(InspectTest, AClassIsThatOfTheSegmentWithTheEnd) {
  use();
  open();
  EXPECT_EQ(client(0, "odd wor"), kPasses);
  EXPECT_EQ(arena_.batch().classes[0], 0u);
  EXPECT_EQ(client(7, "ds"), kPasses);
  EXPECT_EQ(arena_.batch().classes[0], 1u);
  EXPECT_EQ(hits(kClassRule), 1u);
}

TEST_F(InspectTest, BothDirectionsAreRead) {
  use();
  open();
  EXPECT_EQ(server(0, "/sec"), kPasses);
  EXPECT_EQ(client(0, "ret"), kPasses);
  EXPECT_EQ(server(4, "ret", 3), kByRule);
}

TEST_F(InspectTest, AWholeConnectionInOneBatch) {
  use();
  std::vector<Frame> frames = handshake();
  frames.push_back(segment(false, kAck, kClient + 1, kServer + 1, "GET /sec"));
  frames.push_back(segment(false, kAck, kClient + 9, kServer + 1, "ret"));
  frames.push_back(segment(true, kAck, kServer + 1, kClient + 12, "answer"));
  EXPECT_EQ(send(frames), (std::vector{kPasses, kPasses, kPasses, kPasses, kByRule, kPasses}));
}

TEST_F(InspectTest, OtherBytesThanBeforeDoNotPass) {
  use();
  open();
  EXPECT_EQ(client(0, "harmless"), kPasses);
  EXPECT_EQ(client(0, "/secret "), kConflict);
  EXPECT_EQ(client(0, "harmless"), kPasses);
  EXPECT_EQ(hits(StreamCounter::kConflicts), 1u);
  EXPECT_EQ(hits(StreamCounter::kSeen), 1u);
}

TEST_F(InspectTest, DataThatNoReceiverShouldReadDoesNotPass) {
  use();
  EXPECT_EQ(send(segment(false, kSyn, kClient, 0, "in a SYN")), kConflict);
  open();
  Frame wrong = segment(false, kAck, kClient + 1, kServer + 1, "wrong sum");
  wrong.back() ^= std::byte{1};
  EXPECT_EQ(send(wrong), kConflict);
  Frame fragment = segment(false, kAck, kClient + 1, kServer + 1, "fragment");
  wire_bytes::put16(fragment, 20, 0x2000);
  EXPECT_EQ(send(fragment), kConflict);
  EXPECT_EQ(client(1'000'000, "out of the window"), kConflict);
  Frame cut = segment(false, kAck, kClient + 1, kServer + 1, "cut");
  cut.pop_back();
  EXPECT_EQ(send(cut), kConflict);
  EXPECT_EQ(client(0, "right"), kPasses);
  EXPECT_EQ(hits(StreamCounter::kChecksum), 1u);
  EXPECT_EQ(hits(StreamCounter::kUnread), 3u);
  EXPECT_EQ(hits(StreamCounter::kNoFlow), 1u);
}

TEST_F(InspectTest, ChecksumsMayBeTrusted) {
  use({{"checksums", "trust"}});
  open();
  Frame wrong = segment(false, kAck, kClient + 1, kServer + 1, "wrong sum");
  wrong.back() ^= std::byte{1};
  EXPECT_EQ(send(wrong), kPasses);
}

TEST_F(InspectTest, UrgentDataIsReadAsAllOther) {
  use();
  open();
  EXPECT_EQ(client(0, "/sec"), kPasses);
  EXPECT_EQ(send(segment(false, kAck | kUrg, kClient + 5, kServer + 1, "r")), kPasses);
  const auto bytes = arena_.batch().bytes(0);
  EXPECT_EQ(Frame(bytes.begin(), bytes.end()), segment(false, kAck, kClient + 5, kServer + 1, "r"));
  EXPECT_EQ(client(5, "et"), kByRule);
  EXPECT_EQ(hits(StreamCounter::kUrgent), 1u);
}

TEST_F(InspectTest, PacketsOfOtherProtocolsAreReadByThemselves) {
  use();
  const auto udp = [](std::string_view text) {
    const auto bytes = static_cast<unsigned>(text.size());
    return FrameBuilder().ipv4(17, 8 + bytes).udp(bytes).text(text).build();
  };
  EXPECT_EQ(send(udp("get /secret")), kByRule);
  EXPECT_EQ(send(udp("get /sec")), kPasses);
  EXPECT_EQ(send(udp("ret")), kPasses);
}

TEST_F(InspectTest, AStreamEndsWithItsFlow) {
  use({{"streams", "1"}});
  open();
  open(40'001);
  EXPECT_EQ(client(0, "/sec"), kPasses);
  EXPECT_EQ(client(0, "other", 40'001), kFull);
  EXPECT_EQ(send(segment(true, kRst | kAck, kServer + 1, kClient + 5)), kPasses);
  first_ += 7777;
  open();  // the old connection has ended
  EXPECT_EQ(client(0, "other", 40'001), kPasses);
}

TEST_F(InspectTest, NumbersThatBeginAnewBeginAStreamAnew) {
  use();
  open();
  EXPECT_EQ(client(0, "/sec"), kPasses);
  EXPECT_EQ(send(segment(true, kRst | kAck, kServer + 1, kClient + 5)), kPasses);
  first_ += 7777;
  open();
  EXPECT_EQ(client(0, "ret"), kPasses);
}

TEST_F(InspectTest, AWorkerThatDiesLosesItsBatchAlone) {
  use();
  open();
  EXPECT_EQ(client(0, "/se"), kPasses);
  EXPECT_EQ(client(3, "cond"), kPasses);
  take_back();
  start();
  EXPECT_EQ(client(3, "cret"), kByRule);
  EXPECT_EQ(client(3, "cond"), kPasses);
}

TEST_F(InspectTest, WithoutFlowsNoDataOfTcpPasses) {
  use();
  open();
  runner_ = std::make_unique<StageRunner>(std::vector<StageFunction>{
      {.function = inspect_.get(), .counters = {hits_}, .reason_numbers = {50, 51, 52}}});
  states_[0] = states_[1];
  EXPECT_EQ(client(0, "data"), kConflict);
  EXPECT_EQ(client(0, ""), kPasses);
}

}  // namespace
}  // namespace millrace
