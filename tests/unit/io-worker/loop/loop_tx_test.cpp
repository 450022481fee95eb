// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/loop/loop_tx.hpp"

#include <gtest/gtest.h>

#include <set>

#include "shared/links/ledger.hpp"
#include "tests/unit/shared/layout/stop_before_store.hpp"
#include "tests/unit/support/loop_world.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kLoop = 2;  ///< port

class LoopTxTest : public ::testing::Test {
 protected:
  LoopTxTest() : queue_(world_.context("egress.0"), kLoop) {}
  /// Of egress.0 to a queue of the loop.
  LoopRing ring(std::uint32_t queue) const { return world_.segment.loop(2 * queue); }
  std::uint64_t number_at(const LoopRing& ring, std::uint64_t at) const {
    std::uint64_t number = 0;
    std::memcpy(&number, ring.bytes(at) + 16, sizeof number);
    return number;
  }
  /// A flow that goes to that queue.
  std::uint64_t flow_to(std::uint32_t queue) {
    for (std::uint64_t flow = 1;; ++flow) {
      const std::uint64_t before = ring(queue).head();
      const TxPacket packet = frames_.make(0, flow);
      EXPECT_EQ(queue_.send({&packet, 1}), 1u);
      queue_.commit();
      if (ring(queue).head() != before) return flow;
    }
  }

  const test::SmallWorld world_{test::kLoopTopology};
  test::LoopFrames frames_;
  LoopTxQueue queue_;
};

TEST_F(LoopTxTest, WhatWasSentIsThereWithTheCommit) {
  const auto packets = frames_.make_many(0, 40);
  EXPECT_EQ(queue_.send(packets), 40u);
  EXPECT_EQ(ring(0).head() + ring(1).head(), 0u);
  queue_.commit();
  EXPECT_EQ(ring(0).head() + ring(1).head(), 40u);
  const std::uint32_t taker = ring(0).head() != 0 ? 0 : 1;
  for (std::uint64_t i = 0; i < 40; ++i) EXPECT_EQ(number_at(ring(taker), i), i);
}

TEST_F(LoopTxTest, AFlowGoesToOneQueueAndFlowsToBoth) {
  std::set<std::uint32_t> taken;
  for (std::uint64_t flow = 0; flow < 32; ++flow) {
    const std::uint64_t before[] = {ring(0).head(), ring(1).head()};
    const auto packets = frames_.make_many(0, 3, flow);
    ASSERT_EQ(queue_.send(packets), 3u);
    queue_.commit();
    const std::uint32_t queue = ring(0).head() != before[0] ? 0 : 1;
    EXPECT_EQ(ring(queue).head(), before[queue] + 3);
    taken.insert(queue);
    for (const std::uint32_t each : {0u, 1u}) ring(each).let_go_until(ring(each).head());
  }
  EXPECT_EQ(taken.size(), 2u);
}

TEST_F(LoopTxTest, AFullRingTakesNoMoreUntilSomeIsReadAndLetGoOf) {
  const std::uint64_t flow = flow_to(0);
  const std::uint64_t there = ring(0).head();
  const auto packets = frames_.make_many(0, 80, flow);
  EXPECT_EQ(queue_.send(packets), 64 - there);
  EXPECT_EQ(queue_.send(packets), 0u);
  EXPECT_FALSE(queue_.failed());
  EXPECT_FALSE(queue_.refused());
  queue_.commit();
  ring(0).let_go_until(10);
  EXPECT_EQ(queue_.send(packets), 10u);
  queue_.commit();
  EXPECT_EQ(ring(0).head(), 74u);
}

TEST_F(LoopTxTest, WhatIsLongerThanABufferIsRefused) {
  const std::vector<std::byte> longest(ring(0).room() + 1);
  const TxPacket packets[] = {frames_.make(0), {0, longest, 9000, 0}, frames_.make(1)};
  EXPECT_EQ(queue_.send(packets), 1u);
  EXPECT_FALSE(queue_.failed());
  EXPECT_TRUE(queue_.refused());
  EXPECT_EQ(queue_.send(std::span(packets).subspan(1)), 0u);
  EXPECT_EQ(queue_.send(std::span(packets).subspan(2)), 1u);
  EXPECT_FALSE(queue_.refused());
  const TxPacket just{0, std::span(longest).first(ring(0).room()), 9000, 0};
  EXPECT_EQ(queue_.send({&just, 1}), 1u);
}

TEST_F(LoopTxTest, NothingIsTakenWhileLoopsAreCut) {
  const TxPacket packet = frames_.make(0);
  world_.status.header().drained = kPortsRest;
  EXPECT_EQ(queue_.send({&packet, 1}), 1u) << "what other ports have brought goes round";
  world_.status.header().drained = kLoopsCut;
  EXPECT_EQ(queue_.send({&packet, 1}), 0u);
  EXPECT_TRUE(queue_.failed());
  world_.status.header().drained = 0;
  EXPECT_FALSE(queue_.failed());
}

TEST_F(LoopTxTest, ANextLifeGoesOnBehindWhatIsThere) {
  const auto packets = frames_.make_many(0, 5);
  ASSERT_EQ(queue_.send(packets), 5u);
  queue_.commit();
  ASSERT_EQ(queue_.send(packets), 5u) << "without a commit: it never was";
  LoopTxQueue next(world_.context("egress.0", 2), kLoop);
  const TxPacket packet = frames_.make(100);
  ASSERT_EQ(next.send({&packet, 1}), 1u);
  next.commit();
  const std::uint32_t taker = ring(0).head() != 0 ? 0 : 1;
  EXPECT_EQ(ring(taker).head(), 6u);
  EXPECT_EQ(number_at(ring(taker), 5), 100u);
}

TEST_F(LoopTxTest, EgressesHaveRingsOfTheirOwn) {
  LoopTxQueue other(world_.context("egress.1"), kLoop);
  const TxPacket packet = frames_.make(1);
  ASSERT_EQ(other.send({&packet, 1}), 1u);
  other.commit();
  EXPECT_EQ(ring(0).head() + ring(1).head(), 0u);
  EXPECT_EQ(world_.segment.loop(1).head() + world_.segment.loop(3).head(), 1u);
}

TEST_F(LoopTxTest, WhoReadsIsWokenOnce) {
  std::atomic<std::uint32_t>& sleeping = world_.entry("ingress.again.0").sleeping;
  const TxPacket packet = frames_.make(0, flow_to(0));
  queue_.wake_readers();
  ASSERT_EQ(queue_.send({&packet, 1}), 1u);
  queue_.commit();
  sleeping = 1;
  queue_.wake_readers();
  EXPECT_EQ(sleeping, 0u);
  sleeping = 1;
  queue_.wake_readers();
  EXPECT_EQ(sleeping, 1u);
}

/// An egress that is killed in front of any of its stores, to the segment or to the status file:
/// with recovery behind it, the rings hold what the ledger says was transmitted.
class LoopKillTest : public ::testing::TestWithParam<bool> {};

TEST_P(LoopKillTest, ThePacketsOfAFlipAreInTheRingsOrNoneOfThem) {
  std::uint32_t kills = 0, sent_none = 0, sent_half = 0;
  for (std::uint32_t store = 0;; ++store) {
    const test::SmallWorld world{test::kLoopTopology};
    const auto& at = world.segment.layout();
    std::byte* const segment = world.segment.memory().data();
    auto* const status = reinterpret_cast<std::byte*>(&world.status.header());
    const std::span<std::byte> table =
        GetParam() ? std::span(segment, at.bytes) : std::span(status, world.status.layout().bytes);
    const bool killed = killed_in_child([&] {
      test::LoopFrames frames;
      std::vector<TxPacket> packets;
      for (std::uint64_t i = 0; i < 6; ++i) packets.push_back(frames.make(i, i));
      LoopTxQueue queue(world.context("egress.0"), kLoop);
      const StopBeforeStore stop(table, store);
      for (const std::size_t first : {0u, 3u}) {
        LaneLedger& ledger = world.status.ledger(0, 0);
        LaneRecord& record = begin_amendment(ledger);
        record.transmitted[kLoop] += queue.send(std::span(packets).subspan(first, 3));
        queue.intend(0, 0, ledger.flips.load() + 1);
        publish(ledger);
        queue.commit();
      }
    });
    std::uint64_t there = 0;
    for (std::size_t i = 0; i < at.loops.size(); ++i) {
      world.segment.loop(i).settle([&](std::uint32_t stream, std::uint32_t lane) {
        return world.status.ledger(stream, lane).flips.load();
      });
      there += world.segment.loop(i).head();
    }
    EXPECT_EQ(there, read_record(world.status.ledger(0, 0)).transmitted[kLoop]) << store;
    EXPECT_EQ(there % 3, 0u) << store;
    if (!killed) {
      EXPECT_EQ(there, 6u);
      break;
    }
    ++kills;
    sent_none += there == 0 ? 1 : 0;
    sent_half += there == 3 ? 1 : 0;
  }
  EXPECT_GE(kills, 6u);
  EXPECT_GE(sent_none, 1u);
  EXPECT_GE(sent_half, 1u);
}

INSTANTIATE_TEST_SUITE_P(InFrontOf, LoopKillTest, ::testing::Bool(), [](const auto& param) {
  return param.param ? "StoresToTheSegment" : "StoresToTheStatusFile";
});

}  // namespace
}  // namespace millrace
