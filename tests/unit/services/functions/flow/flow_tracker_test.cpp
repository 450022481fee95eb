// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow_tracker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/stage_runner.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/lane_memory.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using State = FlowState;
using Bytes = std::vector<std::byte>;

constexpr std::uint8_t kSyn = 2, kRst = 4, kAck = 16, kFin = 1;

/// One packet of IPv4 between hosts 10.0.0.A and 10.0.0.B.
struct Sent {
  std::uint8_t from = 1, to = 2;
  std::uint8_t protocol = 17;
  std::uint16_t source = 1000, destination = 53;
  std::uint8_t flags = 0;  ///< of TCP
  std::uint32_t sequence = 0, acknowledgment = 0;
  std::uint16_t fragment = 0;  ///< flags and offset of IPv4

  Bytes frame() const {
    Bytes bytes(14 + 20 + (protocol == 6 ? 20 : 8));
    const auto put8 = [&](std::size_t at, unsigned value) { bytes[at] = std::byte(value); };
    const auto put16 = [&](std::size_t at, unsigned value) {
      put8(at, value >> 8);
      put8(at + 1, value & 0xff);
    };
    const auto put32 = [&](std::size_t at, std::uint32_t value) {
      put16(at, value >> 16);
      put16(at + 2, value & 0xffff);
    };
    put16(12, 0x0800);
    put8(14, 0x45);
    put16(16, static_cast<unsigned>(bytes.size() - 14));
    put16(20, fragment);
    put8(23, protocol);
    put32(26, 0x0a000000 + from);
    put32(30, 0x0a000000 + to);
    put16(34, source);
    put16(36, destination);
    if (protocol == 6) {
      put32(38, sequence);
      put32(42, acknowledgment);
      put8(46, 0x50);
      put8(47, flags);
      put16(48, 8192);
    } else {
      put16(38, 8);
    }
    return bytes;
  }
  Sent answered() const {
    Sent other = *this;
    std::swap(other.from, other.to);
    std::swap(other.source, other.destination);
    return other;
  }
};

/// Behind `flow`: writes down what it sees, and may do something with each packet.
struct Behind final : Function {
  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}
  void finish(const FinishContext& call) noexcept override {
    for (const std::uint16_t packet : call.selected.packets) {
      seen.push_back(call.flows->of(packet));
      if (act) act(call, packet);
    }
  }
  void flow_ended(const StateOfFunction&, const FlowEntry& flow) noexcept override {
    ended.push_back(flow.tuple.source_port);
  }
  std::vector<PacketFlow> seen;
  std::vector<std::uint16_t> ended;
  std::function<void(const FinishContext&, std::uint16_t)> act;
};

class Flow : public testing::Test {
 protected:
  void use(const Settings& settings) {
    plan_ = {.name = "flow", .type = "flow", .settings = settings};
    lane_.emplace(flow_type().traits.lane_needs({.settings = plan_.settings}));
    function_ = flow_type().make({.function = plan_, .ports = {}});
    runner_ = std::make_unique<StageRunner>(std::vector<StageFunction>{
        {.function = function_.get(), .counters = {hits_}, .reason_numbers = {40, 41}},
        {.function = &behind_, .number = 1}});
  }
  const LaneState& state() const { return lane_->state; }
  /// What the packets of one batch are to their flows.
  std::vector<State> send(const std::vector<Sent>& packets) {
    arena_.clear();
    for (const Sent& packet : packets) arena_.add(packet.frame());
    behind_.seen.clear();
    const std::array<LaneState, 2> states{state(), {}};
    states[0].undo.begin(0, ++sequence_);
    runner_->run(arena_.batch(), states, {.port_in = 1, .now_ns = now_s_ * 1'000'000'000});
    std::vector<State> all;
    for (const PacketFlow& one : behind_.seen) all.push_back(one.state);
    return all;
  }
  FlowTable table() {
    const auto flows = static_cast<std::uint32_t>(
        std::stoul(plan_.settings.empty() ? "65536" : plan_.settings[0].second));
    return FlowTable(state(), flows, {});
  }
  std::uint64_t hits(FlowCounter which) const { return hits_[static_cast<std::size_t>(which)]; }

  PlanFunction plan_;
  std::optional<LaneMemory> lane_;
  std::array<std::uint64_t, static_cast<std::size_t>(FlowCounter::kCount)> hits_{};
  std::unique_ptr<Function> function_;
  Behind behind_;
  std::unique_ptr<StageRunner> runner_;
  BatchArena arena_{kBatchCapacityDefault};
  std::uint64_t now_s_ = 1, sequence_ = 0;
};

TEST_F(Flow, IsNewUntilItIsAnswered) {
  use({{"max", "100"}});
  const Sent asks;
  EXPECT_THAT(send({asks, asks}), ElementsAre(State::kNew, State::kNew));
  EXPECT_THAT(send({asks}), ElementsAre(State::kNew));
  EXPECT_THAT(send({asks.answered()}), ElementsAre(State::kEstablished));
  EXPECT_EQ(behind_.seen[0].direction, 1);
  EXPECT_THAT(send({asks}), ElementsAre(State::kEstablished));
  EXPECT_EQ(table().count(), 1u);
  const FlowEntry& entry = table().entry(0);
  EXPECT_EQ(entry.sent.packets.value(), 4u);
  EXPECT_EQ(entry.sent.bytes.value(), 4u * 28);
  EXPECT_EQ(entry.answered.packets.value(), 1u);
  EXPECT_EQ(entry.own.port_in, 1);
}

TEST_F(Flow, OfAnAnswerInTheSameBatchIsFound) {
  use({{"max", "100"}});
  const Sent asks;
  EXPECT_THAT(send({asks, asks.answered(), asks}),
              ElementsAre(State::kNew, State::kEstablished, State::kEstablished));
  EXPECT_EQ(table().count(), 1u);
  EXPECT_EQ(table().entry(0).answered.packets.value(), 1u);
  EXPECT_EQ(hits(FlowCounter::kEstablished), 0u) << "it has not lasted";
}

TEST_F(Flow, OfADroppedPacketIsNotWritten) {
  use({{"max", "100"}});
  behind_.act = [](const FinishContext& call, std::uint16_t packet) {
    if (packet == 0) call.batch.drop(packet, Reason::kMalformed);
  };
  Sent other;
  other.source = 2000;
  send({Sent{}, other, other});
  EXPECT_EQ(table().count(), 1u);
  EXPECT_EQ(table().entry(0).tuple.source_port, 2000);
  EXPECT_EQ(hits(FlowCounter::kBegun), 1u);
}

TEST_F(Flow, OfADroppedPacketIsWrittenWhereItIsAskedFor) {
  use({{"max", "100"}});
  behind_.act = [](const FinishContext& call, std::uint16_t packet) {
    call.flows->keep(call.flows->of(packet).flow);
    call.batch.drop(packet, Reason::kMalformed);
  };
  const Sent asks;
  send({asks});
  EXPECT_EQ(table().count(), 1u);
  EXPECT_EQ(hits(FlowCounter::kBegun), 1u);
  EXPECT_THAT(send({asks, asks.answered()}), ElementsAre(State::kNew, State::kEstablished));
  EXPECT_EQ(table().count(), 1u);
}

TEST_F(Flow, OfADroppedQuestionIsNotOpenedByWhatAnswersIt) {
  use({{"max", "100"}});
  behind_.act = [&](const FinishContext& call, std::uint16_t packet) {
    if (call.flows->of(packet).state == State::kNew) call.batch.drop(packet, Reason::kMalformed);
  };
  const Sent asks;
  EXPECT_THAT(send({asks, asks.answered(), asks}),
              ElementsAre(State::kNew, State::kEstablished, State::kEstablished));
  EXPECT_EQ(table().count(), 0u);
  for (const std::uint32_t packet : {1u, 2u}) EXPECT_EQ(arena_.batch().reason[packet], 40);
}

TEST_F(Flow, OfADroppedFirstFragmentIsNotOpenedByALaterOne) {
  use({{"max", "100"}});
  behind_.act = [&](const FinishContext& call, std::uint16_t packet) {
    if (packet == 0) call.batch.drop(packet, Reason::kMalformed);
  };
  send({Sent{.fragment = 0x2000}, Sent{.source = 7777, .fragment = 3}});
  EXPECT_EQ(table().count(), 0u);
  EXPECT_EQ(arena_.batch().reason[1], 40);
}

TEST_F(Flow, IsOpenedByAQuestionThatPassesBehindOneThatDoesNot) {
  use({{"max", "100"}});
  behind_.act = [&](const FinishContext& call, std::uint16_t packet) {
    if (packet == 0) call.batch.drop(packet, Reason::kMalformed);
  };
  const Sent asks;
  send({asks, asks, asks.answered()});
  EXPECT_EQ(table().count(), 1u);
  EXPECT_FALSE(arena_.batch().is_dropped(2));
}

TEST_F(Flow, EndsByTime) {
  use({{"max", "100"}, {"udp", "5"}, {"udp_stream", "9"}});
  const Sent asks;
  send({asks});
  now_s_ = 5;
  Sent other;
  other.source = 1;
  send({other});
  EXPECT_EQ(table().count(), 2u);
  now_s_ = 6;
  send({asks.answered()});
  EXPECT_THAT(behind_.ended, ElementsAre(1000));
  EXPECT_EQ(hits(FlowCounter::kExpired), 1u);
  EXPECT_EQ(hits(FlowCounter::kEnded), 1u);
  EXPECT_EQ(table().count(), 2u) << "the answer comes too late: it begins another flow";
}

TEST_F(Flow, OfTcpFollowsItsStates) {
  use({{"max", "100"}});
  Sent syn{.protocol = 6, .flags = kSyn, .sequence = 99};
  EXPECT_THAT(send({syn}), ElementsAre(State::kNew));
  Sent both = syn.answered();
  both.flags = kSyn | kAck;
  both.sequence = 499;
  both.acknowledgment = 100;
  EXPECT_THAT(send({both}), ElementsAre(State::kEstablished));
  EXPECT_EQ(table().entry(0).established, 0);
  Sent ack = syn;
  ack.flags = kAck;
  ack.sequence = 100;
  ack.acknowledgment = 500;
  EXPECT_THAT(send({ack}), ElementsAre(State::kEstablished));
  EXPECT_EQ(table().entry(0).established, 1);
  Sent far = ack;
  far.sequence = 100 + 10'000'000;
  EXPECT_THAT(send({far}), ElementsAre(State::kInvalid));
  EXPECT_EQ(arena_.batch().verdict[0], 0) << "it passes; a firewall decides";
  Sent fin = ack;
  fin.flags = kFin | kAck;
  send({fin});
  EXPECT_EQ(table().entry(0).established, 0) << "what closes is given up for a new flow";
  EXPECT_EQ(hits(FlowCounter::kEstablishedEnded), 1u);
}

TEST_F(Flow, AQuestionAndItsAnswerGiveTheirPlaceUpAndAStreamDoesNot) {
  use({{"max", "2"}});
  Sent stream, probe;
  stream.source = 7;
  send({stream, stream.answered(), probe, probe.answered()});
  now_s_ += 1;
  send({stream});
  EXPECT_EQ(table().entry(0).established, 0);
  now_s_ += 1;
  send({stream});
  EXPECT_EQ(table().entry(0).established, 1);
  Sent other;
  other.source = 4321;
  send({other});
  EXPECT_EQ(table().entry(1).tuple.source_port, 4321);
  EXPECT_EQ(table().entry(0).tuple.source_port, 7);
  EXPECT_EQ(hits(FlowCounter::kEstablished), 1u);
}

TEST_F(Flow, InvalidPacketsAreDroppedWhereItIsAsked) {
  use({{"max", "100"}, {"invalid", "drop"}});
  send({Sent{.protocol = 6, .flags = kSyn | kFin}, Sent{}});
  EXPECT_TRUE(arena_.batch().is_dropped(0));
  EXPECT_EQ(arena_.batch().reason[0], 40);
  EXPECT_FALSE(arena_.batch().is_dropped(1));
}

TEST_F(Flow, ResetBeforeAnyAnswerEndsIt) {
  use({{"max", "100"}});
  Sent syn{.protocol = 6, .flags = kSyn, .sequence = 99};
  send({syn});
  Sent reset = syn;
  reset.flags = kRst;
  reset.sequence = 100;
  send({reset});
  EXPECT_EQ(table().count(), 0u);
  EXPECT_THAT(behind_.ended, ElementsAre(1000));
}

TEST_F(Flow, OfAFullTableGivesUpTheOldestThatIsNotEstablished) {
  use({{"max", "2"}});
  Sent first, second, third;
  first.source = 1;
  second.source = 2;
  third.source = 3;
  send({first});
  now_s_ += 2;
  send({first.answered()});
  send({second});
  send({third});
  EXPECT_THAT(behind_.ended, ElementsAre(2));
  EXPECT_EQ(hits(FlowCounter::kGivenUp), 1u);
  now_s_ += 2;
  send({third.answered()});
  send({second});
  EXPECT_TRUE(arena_.batch().is_dropped(0)) << "both are established";
  EXPECT_EQ(arena_.batch().reason[0], 41);
  EXPECT_EQ(hits(FlowCounter::kTableFull), 1u);
}

TEST_F(Flow, IsFoundByTheTranslatedAnswer) {
  use({{"max", "100"}});
  const Sent asks;
  FlowTuple answer;
  behind_.act = [&](const FinishContext& call, std::uint16_t packet) {
    const std::uint32_t flow = call.flows->of(packet).flow;
    if (!call.flows->is_new(flow)) return;
    answer = reversed(call.flows->tuple(flow, 0));
    answer.destination_port = 40'000;
    EXPECT_EQ(call.flows->translate(flow, answer), FlowBatch::Translated::kDone);
    EXPECT_EQ(call.flows->tuple(flow, 1), answer);
  };
  send({asks, asks});
  Sent back = asks.answered();
  back.destination = 40'000;
  EXPECT_THAT(send({back}), ElementsAre(State::kEstablished));
  EXPECT_EQ(behind_.seen[0].direction, 1);
  EXPECT_EQ(table().count(), 1u);
  EXPECT_THAT(send({asks.answered()}), ElementsAre(State::kNew)) << "not the answer any more";
}

TEST_F(Flow, ThatGoesForAnotherOneOfItsBatchEndsOnce) {
  use({{"max", "1"}});
  behind_.act = [&](const FinishContext& call, std::uint16_t packet) {
    const std::uint32_t flow = call.flows->of(packet).flow;
    FlowTuple answer = reversed(call.flows->tuple(flow, 0));
    answer.destination_port = static_cast<std::uint16_t>(40'000 + packet);
    EXPECT_EQ(call.flows->translate(flow, answer), FlowBatch::Translated::kDone);
  };
  Sent other;
  other.source = 2000;
  send({Sent{}, other});
  EXPECT_THAT(behind_.ended, ElementsAre(1000));
  EXPECT_EQ(table().count(), 1u);
  EXPECT_EQ(table().entry(0).tuple.source_port, 2000);
  EXPECT_EQ(hits(FlowCounter::kBegun), 2u);
  EXPECT_EQ(hits(FlowCounter::kEnded), 1u);
}

TEST_F(Flow, OfALaterFragmentIsThatOfTheFirst) {
  use({{"max", "100"}});
  const Sent first{.fragment = 0x2000}, later{.source = 7777, .fragment = 3};
  EXPECT_THAT(send({later}), ElementsAre(State::kUntracked)) << "the first one has not come";
  EXPECT_THAT(send({first, later}), ElementsAre(State::kNew, State::kNew));
  EXPECT_EQ(behind_.seen[0].flow, behind_.seen[1].flow);
  EXPECT_THAT(send({later}), ElementsAre(State::kNew));
  EXPECT_EQ(table().count(), 1u);
  EXPECT_EQ(table().entry(0).sent.packets.value(), 3u);
  Sent other = later;
  other.to = 3;
  EXPECT_THAT(send({other}), ElementsAre(State::kUntracked)) << "of other addresses";
  now_s_ += 31;
  EXPECT_THAT(send({later}), ElementsAre(State::kUntracked)) << "too late";
}

TEST_F(Flow, ABatchOfAWorkerThatDiesIsTakenBack) {
  use({{"max", "20"}});
  send({Sent{}});
  const auto copy = [&] {
    const auto bytes = state().bytes;
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  const std::vector<std::byte> before = copy();
  std::vector<Sent> many;
  for (std::uint16_t i = 0; i < 60; ++i) many.push_back({.source = i});
  now_s_ = 1000;  // all that was there ends, too
  send(many);
  EXPECT_NE(copy(), before);
  EXPECT_EQ(state().undo.undo(0, sequence_), LaneUndoLog::Undone::kAll);
  EXPECT_EQ(copy(), before);
}

}  // namespace
}  // namespace millrace
