// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_verdicts.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/lane_memory.hpp"
#include "tests/unit/services/functions/stream/tcp_frames.hpp"

namespace millrace {
namespace {

constexpr StreamRoom kRoomOfVerdicts{.streams = 4, .memory_mb = 1};

Signature rule_that(RuleAction action, std::uint32_t sid) {
  Signature signature;
  signature.action = action;
  signature.sid = sid;
  signature.message = "rule " + std::to_string(sid);
  return signature;
}

/// One packet, and rules that it is said to match.
class IdsVerdictsTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kPass = 0, kDrop = 1, kReject = 2, kAlert = 3;

  IdsVerdict apply(std::vector<MatchedRule> matched) {
    IdsVerdicts verdicts(signatures_, suppressions_, options_);
    arena_.clear();
    arena_.add(segment(false, kAck, 1, 1, "data"));
    hits_.assign(signatures_.size(), 0);
    tally_ = {};
    const BatchFacts facts{.port_in = 0, .now_ns = 1'000'000'000};
    const FinishContext call{.batch = arena_.batch(),
                             .selected = {},
                             .results = {},
                             .counters = {hits_, &tally_},
                             .state = {},
                             .facts = facts};
    memory_.begin(&*tables_, {.flow = &tuple_, .now_s = 1});
    memory_.set_tuple(tuple_);
    predicted_ = verdicts.drops(matched);
    const AlertedPacket packet{.packet = 0, .direction = direction_};
    const IdsVerdict verdict = verdicts.apply(call, packet, tuple_, memory_, matched);
    answers_ = arena_.batch().side.records().size();
    return verdict;
  }
  static MatchedRule packet(std::uint32_t rule) { return {rule, false, kNoTransaction}; }
  static MatchedRule head(std::uint32_t rule) { return {rule, false, kNoTransaction, true}; }
  static MatchedRule stream(std::uint32_t rule) { return {rule, true, kNoTransaction}; }

  std::vector<Signature> signatures_{
      rule_that(RuleAction::kPass, 1), rule_that(RuleAction::kDrop, 2),
      rule_that(RuleAction::kReject, 3), rule_that(RuleAction::kAlert, 4)};
  std::vector<RuleSuppression> suppressions_;
  IdsVerdictOptions options_;
  LaneMemory lane_memory_{IdsLane::needs_of(kRoomOfVerdicts, {.settings = {}})};
  IdsLane lane_{kRoomOfVerdicts};
  std::optional<IdsTables> tables_ = lane_.tables_of(lane_memory_.state, {});
  PacketMemory memory_{signatures_, 1};
  FlowTuple tuple_{.source_port = 1, .destination_port = 80, .protocol = 6, .version = 4};
  FlowDirection direction_ = FlowDirection::kUnknown;  ///< of the packet
  BatchArena arena_{kBatchCapacityDefault};
  std::vector<std::uint64_t> hits_;
  FunctionTally tally_{};
  bool predicted_ = false;
  std::size_t answers_ = 0;
};

TEST_F(IdsVerdictsTest, AnAlertTells) {
  const IdsVerdict verdict = apply({stream(kAlert)});
  EXPECT_FALSE(verdict.drops || predicted_);
  EXPECT_EQ(verdict.of_flow, FlowFate::kNone);
  EXPECT_EQ(hits_, (std::vector<std::uint64_t>{0, 0, 0, 1}));
  EXPECT_EQ(tally_.alerts, 1u);
}

TEST_F(IdsVerdictsTest, ADropIsForThePacketOrItsFlow) {
  EXPECT_TRUE(apply({packet(kDrop)}).drops);
  EXPECT_TRUE(predicted_);
  EXPECT_EQ(apply({packet(kDrop)}).of_flow, FlowFate::kNone);
  EXPECT_EQ(apply({stream(kDrop)}).of_flow, FlowFate::kDropped);
  EXPECT_EQ(apply({head(kDrop)}).of_flow, FlowFate::kDropped);
  EXPECT_EQ(apply({stream(kAlert), packet(kDrop)}).of_flow, FlowFate::kNone);
  EXPECT_EQ(tally_.alerts, 2u);
}

TEST_F(IdsVerdictsTest, WhatPassesEndsTheRest) {
  EXPECT_FALSE(apply({stream(kDrop), packet(kAlert), packet(kPass)}).drops);
  EXPECT_FALSE(predicted_);
  EXPECT_EQ(hits_, (std::vector<std::uint64_t>{1, 0, 0, 0}));
  EXPECT_EQ(tally_.alerts, 0u);
  EXPECT_EQ(apply({packet(kPass)}).of_flow, FlowFate::kNone);
  EXPECT_EQ(apply({stream(kPass)}).of_flow, FlowFate::kPassed);
  EXPECT_EQ(apply({head(kPass)}).of_flow, FlowFate::kPassed);
}

TEST_F(IdsVerdictsTest, AlertsOfAPacketAreLimited) {
  options_.alerts_max = 1;
  EXPECT_TRUE(apply({packet(kAlert), packet(kReject), packet(kDrop)}).drops);
  EXPECT_EQ(hits_, (std::vector<std::uint64_t>{0, 1, 1, 1}));
  EXPECT_EQ(tally_.alerts, 1u);
}

TEST_F(IdsVerdictsTest, APassBehindADropTakesNothingBack) {
  std::swap(signatures_[kPass], signatures_[kDrop]);  // as an order of actions has them
  const IdsVerdict verdict = apply({stream(1), stream(0), packet(kAlert)});
  EXPECT_TRUE(verdict.drops && predicted_);
  EXPECT_EQ(verdict.of_flow, FlowFate::kDropped);
  EXPECT_EQ(hits_, (std::vector<std::uint64_t>{1, 1, 0, 0}));
  EXPECT_EQ(apply({packet(0), stream(1)}).of_flow, FlowFate::kNone);
}

TEST_F(IdsVerdictsTest, ARejectAnswersTheSender) {
  EXPECT_TRUE(apply({packet(kReject)}).drops);
  EXPECT_EQ(answers_, 1u);
  EXPECT_TRUE(apply({packet(kDrop)}).drops);
  EXPECT_EQ(answers_, 0u);
}

TEST_F(IdsVerdictsTest, ARejectMayBeForTheReceiver) {
  EXPECT_FALSE(apply({packet(kReject)}).resets);
  signatures_[kReject].reject_to = RejectTo::kBoth;
  EXPECT_TRUE(apply({packet(kReject)}).resets);
  EXPECT_EQ(answers_, 1u);
  signatures_[kReject].reject_to = RejectTo::kDestination;
  EXPECT_TRUE(apply({packet(kReject)}).resets);
  EXPECT_EQ(answers_, 0u);
}

TEST_F(IdsVerdictsTest, RulesThatDoNotDropTell) {
  options_.drops = false;
  const IdsVerdict verdict = apply({stream(kDrop), stream(kReject)});
  EXPECT_FALSE(verdict.drops || predicted_);
  EXPECT_EQ(verdict.of_flow, FlowFate::kNone);
  EXPECT_EQ(answers_, 0u);
  EXPECT_EQ(tally_.alerts, 2u);
}

/// The packet is a client's, and the data that it decides a server's.
TEST_F(IdsVerdictsTest, SourceAndDestinationAreThoseOfTheDataThatMatch) {
  direction_ = FlowDirection::kToServer;
  tuple_.source = {10};
  tuple_.destination = {20};
  const auto of_server = [](std::uint32_t rule) {
    return MatchedRule{rule, true, kNoTransaction, false, 1};
  };
  EXPECT_TRUE(apply({of_server(kReject)}).resets);
  EXPECT_EQ(answers_, 0u);
  signatures_[kReject].reject_to = RejectTo::kDestination;
  EXPECT_FALSE(apply({of_server(kReject)}).resets);
  EXPECT_EQ(answers_, 1u);
  const AddressSet server{false, {{4, Ipv6Bytes{20}, Ipv6Bytes{20}}}};
  suppressions_ = {{1, 4, RuleSuppression::Track::kSource, server}};
  apply({of_server(kAlert), stream(kAlert)});
  EXPECT_EQ(hits_[kAlert], 2u);
  EXPECT_EQ(tally_.alerts, 1u);
  signatures_[kDrop].threshold =
      Threshold{.kind = Threshold::Kind::kThreshold, .count = 2, .seconds = 60};
  apply({of_server(kDrop), stream(kDrop)});
  EXPECT_EQ(hits_[kDrop], 0u) << "each is the first of its source";
  apply({of_server(kDrop)});
  EXPECT_EQ(hits_[kDrop], 1u);
}

TEST_F(IdsVerdictsTest, EachTransactionCounts) {
  apply({{kAlert, true, 1}, {kAlert, true, 0}});
  EXPECT_EQ(hits_[kAlert], 2u);
}

TEST_F(IdsVerdictsTest, ThresholdsDecideWhetherARuleCounts) {
  signatures_[kDrop].threshold =
      Threshold{.kind = Threshold::Kind::kThreshold, .count = 2, .seconds = 60};
  EXPECT_FALSE(apply({packet(kDrop)}).drops);
  EXPECT_EQ(hits_[kDrop], 0u);
  EXPECT_TRUE(apply({packet(kDrop)}).drops);
  EXPECT_EQ(tally_.alerts, 1u);
  signatures_[kDrop].threshold =
      Threshold{.kind = Threshold::Kind::kLimit, .by = TrackBy::kRule, .count = 1, .seconds = 60};
  EXPECT_TRUE(apply({packet(kDrop)}).drops);
  EXPECT_TRUE(apply({packet(kDrop)}).drops);
  EXPECT_EQ(hits_[kDrop], 1u);
  EXPECT_EQ(tally_.alerts, 0u);
}

TEST_F(IdsVerdictsTest, NoAlertIsNotTold) {
  signatures_[kDrop].no_alert = true;
  EXPECT_TRUE(apply({packet(kDrop)}).drops);
  EXPECT_EQ(tally_.alerts, 0u);
}

TEST_F(IdsVerdictsTest, WhatIsSuppressedIsNotTold) {
  using Track = RuleSuppression::Track;
  tuple_.source = {10};
  tuple_.destination = {20};
  const auto alerts_with = [&](const RuleSuppression& suppression) {
    suppressions_ = {suppression};
    EXPECT_TRUE(apply({packet(kDrop)}).drops);
    EXPECT_EQ(hits_[kDrop], 1u);
    return tally_.alerts;
  };
  const auto of = [](std::uint8_t first) {
    return AddressSet{false, {{4, Ipv6Bytes{first}, Ipv6Bytes{first}}}};
  };
  EXPECT_EQ(alerts_with({1, 2, Track::kAny, {}}), 0u);
  EXPECT_EQ(alerts_with({0, 0, Track::kAny, {}}), 0u);
  EXPECT_EQ(alerts_with({1, 0, Track::kAny, {}}), 0u);
  EXPECT_EQ(alerts_with({1, 3, Track::kAny, {}}), 1u);
  EXPECT_EQ(alerts_with({2, 2, Track::kAny, {}}), 1u);
  EXPECT_EQ(alerts_with({1, 2, Track::kSource, of(10)}), 0u);
  EXPECT_EQ(alerts_with({1, 2, Track::kSource, of(20)}), 1u);
  EXPECT_EQ(alerts_with({1, 2, Track::kDestination, of(20)}), 0u);
  EXPECT_EQ(alerts_with({1, 2, Track::kDestination, of(10)}), 1u);
  EXPECT_EQ(alerts_with({1, 2, Track::kEither, of(10)}), 0u);
  EXPECT_EQ(alerts_with({1, 2, Track::kEither, of(20)}), 0u);
  EXPECT_EQ(alerts_with({1, 2, Track::kEither, of(30)}), 1u);
}

}  // namespace
}  // namespace millrace
