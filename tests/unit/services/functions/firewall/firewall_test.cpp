// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/firewall.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "services/functions/acl/acl.hpp"
#include "services/functions/flow/flow.hpp"
#include "services/functions/stage_runner.hpp"
#include "shared/base/error.hpp"
#include "shared/base/packet.hpp"
#include "shared/layout/batch_arena.hpp"
#include "shared/layout/mapping.hpp"
#include "tests/unit/services/functions/firewall/firewall_folder.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint8_t kLan = 0, kWan = 1;
constexpr std::array<std::uint8_t, 1> kNumbers = {57};

Frame udp(unsigned from, unsigned to) {
  return FrameBuilder().ipv4(17, 8 + 4).udp(4, from, to).padding(4).build();
}
Frame answer(const Frame& frame) { return reversed(frame, parse_headers(frame)); }
Frame arp() { return FrameBuilder().type(0x0806).padding(28).build(); }

/// `flow` and `firewall`, as in a stage of a worker.
class FirewallStage {
 public:
  explicit FirewallStage(const std::string& rules, const Settings& more = {}) {
    Settings settings = more;
    settings.emplace_back("rules", folder_.write("edge.rules", rules));
    plan_ = firewall_plan(folder_, settings);
    const std::vector<PlanPort> ports = firewall_ports();
    report = firewall_type().build({.function = plan_, .ports = ports});
    hits.resize(report.counter_count);
    flow_plan_ = {.name = "flow", .type = "flow", .settings = {{"max", "100"}}};
    needs_ = flow_type().traits.lane_needs({.settings = flow_plan_.settings});
    memory_ =
        Mapping::create_anonymous(needs_.state_bytes + LaneUndoLog::bytes_for(needs_.undo_lines));
    flow_ = flow_type().make({.function = flow_plan_, .ports = {}});
    firewall_ = firewall_type().make({.function = plan_, .ports = ports});
    runner_ = std::make_unique<StageRunner>(std::vector<StageFunction>{
        {.function = flow_.get(), .counters = {flow_hits_}, .reason_numbers = {40, 41}},
        {.function = firewall_.get(),
         .counters = {hits},
         .number = 1,
         .reason_numbers = {kNumbers.begin(), kNumbers.end()}}});
  }

  /// One character a packet: '+' goes on, '-' is dropped.
  std::string send(std::uint8_t port, const std::vector<Frame>& frames) {
    arena_.clear();
    for (const Frame& frame : frames) arena_.add(frame);
    const std::span<std::byte> bytes(memory_->base(), needs_.state_bytes);
    const std::span<std::byte> log(bytes.data() + bytes.size(),
                                   LaneUndoLog::bytes_for(needs_.undo_lines));
    const std::array<LaneState, 2> states{
        LaneState{bytes, LaneUndoLog(log, needs_.undo_lines, bytes)}, LaneState{}};
    states[0].undo.begin(0, ++sequence_);
    const Batch batch = arena_.batch();
    runner_->run(batch, states, {.port_in = port, .now_ns = now_ns});
    std::string out;
    for (std::uint32_t i = 0; i < batch.count; ++i) out += batch.is_dropped(i) ? '-' : '+';
    return out;
  }

  BuildReport report;
  std::vector<std::uint64_t> hits;
  std::uint64_t now_ns = 1'000'000'000;

 private:
  AclFolder folder_;
  PlanFunction plan_, flow_plan_;
  LaneNeeds needs_;
  std::optional<Mapping> memory_;
  std::array<std::uint64_t, static_cast<std::size_t>(FlowCounter::kCount)> flow_hits_{};
  std::unique_ptr<Function> flow_, firewall_;
  std::unique_ptr<StageRunner> runner_;
  BatchArena arena_{kBatchCapacityDefault};
  std::uint64_t sequence_ = 0;
};

constexpr char kEdge[] =
    "pass ip any -> any state established,related\n"
    "pass ip any -> any in lan state new\n"
    "pass udp any -> any port 53 in wan\n";

TEST(Firewall, AnswersPassWhereNothingElseDoes) {
  FirewallStage stage(kEdge);
  const Frame question = udp(5000, 7);
  EXPECT_EQ(stage.send(kWan, {answer(question)}), "-") << "nobody asked";
  EXPECT_EQ(stage.send(kLan, {question}), "+");
  EXPECT_EQ(stage.send(kWan, {answer(question)}), "+");
  EXPECT_EQ(stage.send(kWan, {udp(9, 53), udp(9, 54)}), "+-");
  EXPECT_THAT(stage.hits, ElementsAre(1, 1, 1, 2, 0, 0, 0));
}

TEST(Firewall, WhatIsDroppedMakesNoFlow) {
  FirewallStage stage(kEdge);
  const Frame intruder = udp(9, 54);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(stage.send(kWan, {intruder}), "-");
  EXPECT_EQ(stage.send(kLan, {answer(intruder)}), "+") << "a flow of its own";
  EXPECT_EQ(stage.hits[0], 0u);
}

TEST(Firewall, NeverFailsOpen) {
  FirewallStage stage("pass udp any -> any state new\n");
  Frame cut = udp(5000, 7);
  cut.resize(30);
  const Frame later = FrameBuilder().ipv4(17, 16, 20, 3).padding(16).build();
  const Frame hidden = FrameBuilder().ipv4(6, 8, 20, 0x2000).padding(8).build();
  EXPECT_EQ(stage.send(kLan, {arp(), cut, later, hidden, Frame()}), "-----");
  EXPECT_THAT(stage.hits, ElementsAre(0, 2, 2, 0, 1));
  FirewallStage open("", {{"default", "pass"}, {"non_ip", "pass"}});
  EXPECT_EQ(open.send(kLan, {arp(), cut, later, hidden}), "+++-");
}

TEST(Firewall, ARuleAboveItsLimitIsPassedOver) {
  FirewallStage stage(
      "pass udp any -> any limit 1/second burst 2 name some\n"
      "drop udp any -> any port 7\n"
      "pass udp any -> any port 8\n");
  EXPECT_EQ(stage.send(kLan, {udp(1, 7), udp(2, 7), udp(3, 7), udp(4, 8)}), "++-+");
  stage.now_ns += 1'000'000'000;
  EXPECT_EQ(stage.send(kLan, {udp(5, 7), udp(6, 7)}), "+-");
  EXPECT_THAT(stage.hits, ElementsAre(3, 2, 1, 0, 0, 0, 0));
}

TEST(Firewall, AnAlertGoesOnToTheNextRule) {
  FirewallStage stage("alert udp any -> any port 7\npass udp any -> any\n");
  EXPECT_EQ(stage.send(kLan, {udp(1, 7), udp(2, 8)}), "++");
  EXPECT_THAT(stage.hits, ElementsAre(1, 2, 0, 0, 0, 0));
}

TEST(Firewall, ReportsLinesThatAreLeftOutAndRefusesFilesThatWouldOpen) {
  const FirewallStage stage("pass ip any -> any in dmz\ndrop ip any -> any\n");
  EXPECT_EQ(stage.report.accepted, 1u);
  EXPECT_THAT(stage.report.refusals, ElementsAre(HasSubstr("'dmz' is no port")));
  EXPECT_THROW(FirewallStage("drop ip any -> any in dmz\n"), Error);
}

}  // namespace
}  // namespace millrace
