// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/hub/audit.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shared/links/ledger.hpp"
#include "tests/unit/support/loop_world.hpp"

namespace millrace {
namespace {

using test::SmallWorld;

/// A quiet topology: 10 packets received on lane 1, 7 sent, 2 without path, 1 lost by an egress.
class AuditTest : public ::testing::Test {
 protected:
  AuditTest() {
    record_.released_sequence = 2;
    record_.received = 10;
    record_.transmitted[1] = 6;
    record_.transmitted[0] = 1;
    record_.dropped[static_cast<std::size_t>(Reason::kNoPath)] = 2;
    record_.dropped[static_cast<std::size_t>(Reason::kEgressLost)] = 1;
    world_.status.ingress_lane(0, 1).received = 10;
    census_ = {world_.plan.slot_count, world_.plan.slot_count, world_.plan.buffer_count,
               world_.plan.buffer_count, 0};
  }
  static void put(LaneLedger& ledger, const LaneRecord& record) {
    begin_amendment(ledger) = record;
    publish(ledger);
  }
  AuditReply run() {
    put(world_.status.ledger(0, 1), record_);
    const ActorContext hub = world_.context("hub");
    return audit(hub, census_, received_packets(hub), reasons_);
  }
  SmallWorld world_;
  LaneRecord record_{};
  Census census_;
  std::vector<PlanReason> reasons_;
};

std::vector<std::string> words(const std::vector<NamedCount>& counts) {
  std::vector<std::string> all;
  all.reserve(counts.size());
  for (const NamedCount& count : counts)
    all.push_back(count.name + " " + std::to_string(count.count));
  return all;
}

TEST_F(AuditTest, WhatAddsUpIsExact) {
  const AuditReply reply = run();
  EXPECT_TRUE(reply.exact);
  EXPECT_TRUE(reply.quiet);
  EXPECT_TRUE(reply.problems.empty());
  EXPECT_EQ(reply.by, "hub");
  EXPECT_EQ(reply.received, 10u);
  EXPECT_EQ(reply.transmitted, 7u);
  EXPECT_EQ(reply.in_flight, 0u);
  EXPECT_EQ(words(reply.dropped), (std::vector<std::string>{"egress_lost 1", "no_path 2"}));
  ASSERT_EQ(reply.lanes.size(), 6u) << "four lanes of one path, two of the other";
  EXPECT_EQ(reply.lanes[1].lane, 1u);
  EXPECT_EQ(reply.lanes[1].dropped, 3u);
  EXPECT_EQ(reply.lanes[4].stream, 1u);
}

TEST_F(AuditTest, ReasonsOfFunctionsHaveTheNamesThatTheyDeclare) {
  record_.dropped[kCoreReasonCount + 1] = 3;
  record_.consumed[kCoreReasonCount] = 2;
  record_.received += 5;
  world_.status.ingress_lane(0, 1).received = 15;
  reasons_ = {{.name = "served"}, {.name = "shut"}};
  AuditReply reply = run();
  EXPECT_TRUE(reply.exact);
  EXPECT_EQ(words(reply.dropped),
            (std::vector<std::string>{"egress_lost 1", "no_path 2", "shut 3"}));
  EXPECT_EQ(words(reply.consumed), std::vector<std::string>{"served 2"});
  reasons_.pop_back();
  reply = run();
  EXPECT_TRUE(reply.exact);
  EXPECT_EQ(words(reply.dropped).back(), "? 3") << "counted also where nobody knows its name";
}

TEST_F(AuditTest, BuffersInQueuesAreNoProblemAndAreToldApart) {
  census_.buffers_free -= 3;
  census_.buffers_held = 3;
  const AuditReply reply = run();
  EXPECT_TRUE(reply.exact);
  const std::string free = "free " + std::to_string(census_.buffers_free);
  EXPECT_EQ(words(reply.buffers), (std::vector<std::string>{free, "in_use 0", "held 3"}));
}

TEST_F(AuditTest, OnePacketThatWasSentAndNotCountedIsMissed) {
  --record_.transmitted[1];
  const AuditReply reply = run();
  EXPECT_FALSE(reply.exact);
  ASSERT_FALSE(reply.problems.empty());
  EXPECT_EQ(reply.problems[0], "stream 0 lane 1: 10 left the window, 9 have an end");
}

TEST_F(AuditTest, OnePacketTooManyIsNoticedInEveryColumn) {
  for (const int column : {0, 1, 2}) {
    const LaneRecord right = record_;
    if (column == 0) ++record_.transmitted[15];
    if (column == 1) ++record_.dropped[static_cast<std::size_t>(Reason::kTxFull)];
    if (column == 2) ++record_.received;
    EXPECT_FALSE(run().exact) << column;
    record_ = right;
  }
  EXPECT_TRUE(run().exact);
}

/// 5 packets of port a have been sent to the loop; its ingress has received 3, and sent them on.
class LoopAuditTest : public ::testing::Test {
 protected:
  LoopAuditTest() {
    first_.released_sequence = second_.released_sequence = 1;
    first_.received = first_.transmitted[2] = 5;
    second_.received = second_.transmitted[1] = 3;
    world_.status.ingress_lane(0, 0).received = 5;
    world_.status.ingress_lane(1, 1).received = 3;
    census_ = {world_.plan.slot_count, world_.plan.slot_count, world_.plan.buffer_count,
               world_.plan.buffer_count, 0};
    world_.start_all();
  }
  AuditReply run() {
    put(world_.status.ledger(0, 0), first_);
    put(world_.status.ledger(1, 1), second_);
    const ActorContext hub = world_.context("hub");
    return audit(hub, census_, received_packets(hub), {});
  }
  static void put(LaneLedger& ledger, const LaneRecord& record) {
    begin_amendment(ledger) = record;
    publish(ledger);
  }
  SmallWorld world_{test::kLoopTopology};
  LaneRecord first_{}, second_{};
  Census census_;
};

TEST_F(LoopAuditTest, WhatLiesInALoopIsInFlightAndNotTransmittedYet) {
  const AuditReply reply = run();
  EXPECT_TRUE(reply.exact);
  EXPECT_FALSE(reply.quiet);
  EXPECT_EQ(reply.received, 8u);
  EXPECT_EQ(reply.transmitted, 6u);
  EXPECT_EQ(reply.in_flight, 2u);
  EXPECT_EQ(words(reply.loops), (std::vector<std::string>{"again 2"}));
}

TEST_F(LoopAuditTest, NothingIsInFlightWhenItIsEmpty) {
  second_.received = second_.transmitted[1] = 5;
  world_.status.ingress_lane(1, 1).received = 5;
  const AuditReply reply = run();
  EXPECT_TRUE(reply.exact);
  EXPECT_TRUE(reply.quiet);
  EXPECT_EQ(reply.transmitted, 10u);
  EXPECT_TRUE(reply.loops.empty());
}

TEST_F(LoopAuditTest, APacketThatCameOutTwiceIsNoticed) {
  second_.received = second_.transmitted[1] = 6;
  world_.status.ingress_lane(1, 1).received = 6;
  const AuditReply reply = run();
  EXPECT_FALSE(reply.exact);
  EXPECT_EQ(reply.problems,
            (std::vector<std::string>{"1 packets were received from loops and not sent there"}));
}

TEST_F(LoopAuditTest, APacketThatStaysInARingIsNoticed) {
  second_.received = second_.transmitted[1] = 5;
  world_.status.ingress_lane(1, 1).received = 5;
  world_.segment.loop(1).commit(5);
  world_.segment.loop(1).let_go_until(4);
  EXPECT_EQ(run().problems,
            (std::vector<std::string>{"1 packets lie in loops with nothing in flight"}));
  world_.set("ingress.again.0", ActorState::kFenced);
  EXPECT_TRUE(run().exact) << "its next life lets go of it";
}

TEST_F(AuditTest, TwoLanesThatAreWrongAgainstEachOtherAreNoticed) {
  --record_.transmitted[1];
  LaneRecord other{};
  other.transmitted[1] = 1;
  put(world_.status.ledger(0, 2), other);
  const AuditReply reply = run();
  EXPECT_EQ(reply.transmitted, 7u) << "the sums agree";
  EXPECT_FALSE(reply.exact);
  EXPECT_EQ(reply.problems.size(), 2u);
}

TEST_F(AuditTest, UnaccountedPacketsAreAProblemThoughTheSumsAgree) {
  record_.received += 2;
  record_.unaccounted = 2;
  world_.status.ingress_lane(0, 1).received = 12;
  const AuditReply reply = run();
  EXPECT_FALSE(reply.exact);
  EXPECT_EQ(reply.unaccounted, 2u);
  EXPECT_EQ(reply.problems, std::vector<std::string>{"2 packets are unaccounted for"});
}

TEST_F(AuditTest, WhatTheIngressHasAndNoLedgerYetIsInFlight) {
  world_.status.ingress_lane(0, 1).received = 14;
  census_.slots_free -= 1;
  census_.buffers_free -= 4;
  const AuditReply reply = run();
  EXPECT_EQ(reply.in_flight, 4u);
  EXPECT_EQ(reply.received, 14u);
  EXPECT_FALSE(reply.quiet);
  EXPECT_TRUE(reply.exact);
  EXPECT_EQ(words(reply.slots), (std::vector<std::string>{"free 63", "in_use 1"}));
}

TEST_F(AuditTest, TrafficThatHasJustLeftIsNotQuietAndItsSlotsAreNoProblem) {
  census_.slots_free -= 1;
  put(world_.status.ledger(0, 1), record_);
  const AuditReply reply = audit(world_.context("hub"), census_, 8, {});
  EXPECT_EQ(reply.in_flight, 0u);
  EXPECT_FALSE(reply.quiet);
  EXPECT_TRUE(reply.exact);
  EXPECT_FALSE(run().exact) << "with nothing received meanwhile the slot is leaked";
}

TEST_F(AuditTest, WhatAnIngressRefusedIsReceivedAndDropped) {
  world_.status.ingress_lane(0, 1).refused.add(5, 300, 0);
  const AuditReply reply = run();
  EXPECT_EQ(reply.received, 15u);
  EXPECT_EQ(words(reply.dropped),
            (std::vector<std::string>{"egress_lost 1", "overload 5", "no_path 2"}));
  EXPECT_EQ(reply.in_flight, 0u);
  EXPECT_TRUE(reply.exact);
}

TEST_F(AuditTest, AnIngressThatHasJustStartedAgainTakesNothingBack) {
  world_.status.ingress_lane(0, 1).received = 3;  // it has not told its totals yet
  const AuditReply reply = run();
  EXPECT_EQ(reply.received, 10u);
  EXPECT_TRUE(reply.exact);
}

TEST_F(AuditTest, ALostSlotOrBufferIsNoticedWhenNothingIsInFlight) {
  --census_.slots_free;
  census_.buffers_free -= 2;
  const AuditReply reply = run();
  EXPECT_FALSE(reply.exact);
  EXPECT_EQ(reply.problems,
            (std::vector<std::string>{"1 slots are in use with nothing in flight",
                                      "2 buffers are in use with nothing in flight"}));
}

}  // namespace
}  // namespace millrace
