// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/loop/loop_rx.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "tests/unit/io-worker/ports/test_pool.hpp"
#include "tests/unit/shared/layout/stop_before_store.hpp"
#include "tests/unit/support/loop_world.hpp"

namespace millrace {
namespace {

using Numbers = std::vector<std::uint64_t>;

constexpr std::uint32_t kStream = 1;

/// Rings of both egresses to queue 0 of the loop, which is read here.
struct Reading {
  LoopRing ring(std::uint32_t egress) const { return world.segment.loop(egress); }
  void put(std::uint32_t egress, std::uint64_t first, std::uint32_t count) {
    const LoopRing to = ring(egress);
    for (std::uint32_t i = 0; i < count; ++i) {
      const TxPacket packet = frames.make(first + i);
      to.put(to.head() + i, packet.bytes, packet.wire_length);
    }
    to.commit(to.head() + count);
  }
  ActorContext context() const { return world.context("ingress.again.0"); }

  const test::SmallWorld world{test::kLoopTopology};
  test::LoopFrames frames;
};

std::uint64_t number_of(const test::TestPool& pool, const RxPacket& packet) {
  std::uint64_t number = 0;
  std::memcpy(&number, pool.area().at(packet.buffer) + packet.offset + 16, sizeof number);
  return number;
}

class LoopRxTest : public ::testing::Test {
 protected:
  LoopRxTest() { begin_life(0); }
  void begin_life(std::uint64_t first_wanted) {
    queue_ = std::make_unique<LoopRxQueue>(at_.context(), kStream);
    queue_->resume(first_wanted);
  }
  /// Numbers of the packets of one poll; ordinals_ has theirs.
  Numbers poll(std::size_t most = 64) {
    std::vector<RxPacket> out(most);
    out.resize(queue_->poll(pool_, out));
    Numbers numbers;
    ordinals_.clear();
    for (const RxPacket& packet : out) {
      EXPECT_EQ(packet.length, test::LoopFrames::kBytes);
      EXPECT_EQ(packet.wire_length, test::LoopFrames::kBytes);
      EXPECT_EQ(packet.offset, kBufferHeadroom);
      EXPECT_FALSE(packet.oversize);
      numbers.push_back(number_of(pool_, packet));
      ordinals_.push_back(packet.ordinal);
      pool_.give_back(packet);
    }
    return numbers;
  }

  Reading at_;
  test::TestPool pool_{100};
  std::unique_ptr<LoopRxQueue> queue_;
  Numbers ordinals_;
};

TEST_F(LoopRxTest, PacketsOfAnEgressComeInTheirOrderAndAreNumbered) {
  EXPECT_TRUE(queue_->exhausted());
  EXPECT_TRUE(poll().empty());
  at_.put(0, 10, 3);
  EXPECT_TRUE(queue_->has_waiting());
  EXPECT_FALSE(queue_->exhausted());
  EXPECT_EQ(poll(2), (Numbers{10, 11}));
  EXPECT_EQ(ordinals_, (Numbers{0, 1}));
  at_.put(1, 20, 2);
  Numbers rest = poll();
  EXPECT_EQ(ordinals_, (Numbers{2, 3, 4}));
  std::ranges::sort(rest);
  EXPECT_EQ(rest, (Numbers{12, 20, 21}));
  EXPECT_FALSE(queue_->has_waiting());
  EXPECT_TRUE(queue_->reads_when_drained());
}

TEST_F(LoopRxTest, EgressesTakeTurns) {
  at_.put(0, 0, 10);
  at_.put(1, 100, 10);
  const std::uint64_t first = poll(1).at(0);
  const std::uint64_t second = poll(1).at(0);
  EXPECT_EQ(first + second, 100u);
}

TEST_F(LoopRxTest, EntriesGoBackWhenTheirPacketsAreSealed) {
  at_.put(0, 0, 5);
  at_.put(1, 100, 5);
  ASSERT_EQ(poll(3).size(), 3u);
  ASSERT_EQ(poll(3).size(), 3u);
  EXPECT_EQ(at_.ring(0).tail() + at_.ring(1).tail(), 0u);
  queue_->release_below(4);
  EXPECT_EQ(at_.ring(0).tail() + at_.ring(1).tail(), 4u);
  queue_->release_below(4);
  EXPECT_EQ(at_.ring(0).tail() + at_.ring(1).tail(), 4u);
  ASSERT_EQ(poll().size(), 4u);
  queue_->release_below(10);
  EXPECT_EQ(at_.ring(0).tail() + at_.ring(1).tail(), 10u);
}

TEST_F(LoopRxTest, WithoutABufferNothingIsRead) {
  at_.put(0, 0, 3);
  std::vector<std::uint32_t> taken(99);
  ASSERT_EQ(pool_.take(taken), 99u);
  EXPECT_EQ(poll().size(), 1u);
  pool_.give_back(taken);
  EXPECT_EQ(poll(), (Numbers{1, 2}));
}

TEST_F(LoopRxTest, ANextLifeReadsWhatWasNotSealedWithTheSameOrdinals) {
  at_.put(0, 0, 4);
  at_.put(1, 100, 4);
  Numbers read = poll(3);
  for (const std::uint64_t number : poll(3)) read.push_back(number);
  begin_life(2);
  EXPECT_EQ(at_.ring(0).tail() + at_.ring(1).tail(), 2u);
  EXPECT_NE(queue_->remark().find("4"), std::string::npos);
  Numbers again = poll(3);
  EXPECT_EQ(ordinals_, (Numbers{2, 3, 4}));
  for (const std::uint64_t number : poll(1)) again.push_back(number);
  EXPECT_EQ(ordinals_, (Numbers{5}));
  EXPECT_EQ(again, Numbers(read.begin() + 2, read.end()));
  EXPECT_EQ(poll().size(), 2u);
  EXPECT_EQ(ordinals_, (Numbers{6, 7}));
}

TEST_F(LoopRxTest, ANextLifeWithAllSealedBeginsBehindIt) {
  at_.put(0, 0, 4);
  ASSERT_EQ(poll().size(), 4u);
  begin_life(4);
  EXPECT_TRUE(queue_->exhausted());
  EXPECT_EQ(queue_->remark(), "");
  at_.put(0, 4, 1);
  EXPECT_EQ(poll(), (Numbers{4}));
  EXPECT_EQ(ordinals_, (Numbers{4}));
}

TEST_F(LoopRxTest, ALifeThatDiesAmidWhatItReadsAgainHasASuccessorThatDoesSo) {
  at_.put(0, 0, 6);
  ASSERT_EQ(poll().size(), 6u);
  begin_life(1);
  ASSERT_EQ(poll(2).size(), 2u);
  begin_life(1);
  EXPECT_EQ(poll(), (Numbers{1, 2, 3, 4, 5}));
  EXPECT_EQ(ordinals_, (Numbers{1, 2, 3, 4, 5}));
}

/// An ingress that reads, seals and lets go, and is killed in front of any of its stores to the
/// segment: its successor finds what was not sealed, each packet once and in order.
TEST(LoopRxKill, LosesAndDoublesNothing) {
  std::uint32_t kills = 0, unsealed = 0;
  for (std::uint32_t store = 0;; ++store) {
    Reading at;
    at.put(0, 0, 6);
    at.put(1, 100, 6);
    std::atomic<std::uint64_t>& sealed = at.world.entry("ingress.again.0").resume_position;
    auto* const witness = reinterpret_cast<std::uint64_t*>(&at.world.status.counters(2)[0]);
    const bool killed = killed_in_child([&] {
      test::TestPool pool(32);
      LoopRxQueue queue(at.context(), kStream);
      queue.resume(0);
      const StopBeforeStore stop(at.world.segment.memory(), store);
      std::array<RxPacket, 4> out;
      for (int round = 0; round < 3; ++round) {
        const std::uint32_t count = queue.poll(pool, out);
        for (std::uint32_t i = 0; i < count; ++i) witness[out[i].ordinal] = number_of(pool, out[i]);
        sealed = 4 * round + 3;  // one stays open
        queue.release_below(sealed);
      }
    });
    Numbers all(witness, witness + sealed);
    test::TestPool pool(32);
    LoopRxQueue successor(at.context(), kStream);
    successor.resume(sealed);
    std::uint64_t last = sealed;
    for (const test::Taken& taken : test::take_all(successor, pool)) {
      EXPECT_EQ(taken.packet.ordinal, last++) << store;
      std::uint64_t number = 0;
      std::memcpy(&number, taken.bytes.data() + 16, sizeof number);
      all.push_back(number);
    }
    ASSERT_EQ(all.size(), 12u) << store;
    for (const std::uint64_t first : {0u, 100u}) {
      Numbers of_egress;
      std::ranges::copy_if(all, std::back_inserter(of_egress),
                           [&](std::uint64_t number) { return number / 100 == first / 100; });
      EXPECT_EQ(of_egress, (Numbers{first, first + 1, first + 2, first + 3, first + 4, first + 5}))
          << store;
    }
    if (!killed) break;
    ++kills;
    unsealed += sealed % 4 == 3 ? 1 : 0;
  }
  EXPECT_GE(kills, 12u);
  EXPECT_GE(unsealed, 4u);
}

}  // namespace
}  // namespace millrace
