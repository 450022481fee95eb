// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/loop/loop_ticker.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "io-worker/loop/loop_rx.hpp"
#include "shared/base/turn_clock.hpp"
#include "shared/packet/tick.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"
#include "tests/unit/shared/layout/stop_before_store.hpp"
#include "tests/unit/support/loop_world.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kTickStream = 1;
constexpr std::size_t kTickRing = 2;  ///< behind those of the two egresses

/// kLoopTopology with ticks of 1 s.
std::string with_ticks() {
  std::string text = test::kLoopTopology;
  text.replace(text.find("depth: 64"), 9, "depth: 64, tick: 1s");
  return text;
}

struct Ticking {
  ActorContext context() const { return world.context("ingress.again.0"); }
  LoopTicker ticker() const {
    LoopTicker made(context(), kTickRing, world.plan.ports[2]);
    made.resume();
    return made;
  }
  LoopRing ring() const { return world.segment.loop(kTickRing); }
  std::uint64_t made() const { return world.entry("ingress.again.0").made; }
  /// The counter has 1 GHz.
  std::uint64_t at_ms(std::uint64_t ms) const {
    return world.status.header().tsc_origin + ms * 1'000'000;
  }
  Tick tick(std::uint64_t number) const {
    const std::span<const std::byte> frame(ring().bytes(number), kTickFrameBytes);
    EXPECT_TRUE(is_tick(frame));
    EXPECT_EQ(ring().entry(number).length, kTickFrameBytes);
    return read_tick(frame);
  }

  const test::SmallWorld world{with_ticks()};
};

constexpr std::uint64_t ms(std::uint64_t number) { return number * 1'000'000; }

TEST(LoopTicker, TheFirstQueueOfALoopWithTicksHasARingForThem) {
  const Ticking at;
  const auto& loops = at.world.segment.layout().loops;
  ASSERT_EQ(loops.size(), 5u);
  EXPECT_EQ(loops[kTickRing].stream, kTickStream);
  EXPECT_EQ(loops[kTickRing].egress, kLoopTicks);
  EXPECT_EQ(loops[kTickRing].depth, kLoopTicksDepth);
}

TEST(LoopTicker, MakesOneWhenItIsDue) {
  const Ticking at;
  LoopTicker ticker = at.ticker();
  ticker.make_due(at.at_ms(999));
  EXPECT_EQ(at.made(), 0u);
  ticker.make_due(at.at_ms(1'000));
  ticker.make_due(at.at_ms(1'001));
  EXPECT_EQ(at.made(), 1u);
  EXPECT_EQ(at.tick(0), (Tick{.number = 0, .time_ns = ms(1'000), .since_ns = 0}));
  ticker.make_due(at.at_ms(2'300));
  ticker.make_due(at.at_ms(2'999));
  EXPECT_EQ(at.made(), 2u);
  EXPECT_EQ(at.tick(1), (Tick{.number = 1, .time_ns = ms(2'300), .since_ns = ms(1'000)}));
  ticker.make_due(at.at_ms(3'000));
  EXPECT_EQ(at.made(), 3u) << "one that was late has not moved the next";
}

TEST(LoopTicker, OneThatFindsNoRoomIsNotMadeAndTheNextSpeaksForItsTime) {
  const Ticking at;
  LoopTicker ticker = at.ticker();
  for (std::uint64_t second = 1; second <= 6; ++second) ticker.make_due(at.at_ms(1'000 * second));
  EXPECT_EQ(at.made(), 4u);
  at.ring().let_go_until(1);
  ticker.make_due(at.at_ms(7'000));
  EXPECT_EQ(at.made(), 5u);
  EXPECT_EQ(at.tick(4), (Tick{.number = 4, .time_ns = ms(7'000), .since_ns = ms(4'000)}));
}

TEST(LoopTicker, ANextLifeGoesOn) {
  const Ticking at;
  at.ticker().make_due(at.at_ms(1'000));
  at.world.entry("ingress.again.0").made = 0;  // killed before it counted
  LoopTicker next = at.ticker();
  EXPECT_EQ(at.made(), 1u);
  next.make_due(at.at_ms(1'500));
  EXPECT_EQ(at.made(), 1u);
  next.make_due(at.at_ms(5'200));
  EXPECT_EQ(at.tick(1), (Tick{.number = 1, .time_ns = ms(5'200), .since_ns = ms(1'000)}));
}

TEST(LoopTicker, WithoutTicksThereAreNone) {
  LoopTicker none;
  none.resume();
  none.make_due(UINT64_MAX - 1);
}

/// Killed in front of each of its stores to the segment: ticks have no gap and no time comes twice.
TEST(LoopTickerKill, NoTimeIsMissedOrSpokenForTwice) {
  std::uint32_t kills = 0;
  for (std::uint32_t store = 0;; ++store) {
    const Ticking at;
    const bool killed = killed_in_child([&] {
      LoopTicker ticker = at.ticker();
      const StopBeforeStore stop(at.world.segment.memory(), store);
      ticker.make_due(at.at_ms(1'000));
      ticker.make_due(at.at_ms(2'000));
    });
    LoopTicker next = at.ticker();
    next.make_due(at.at_ms(3'000));
    ASSERT_GE(at.made(), 1u);
    EXPECT_EQ(at.made(), at.ring().head());
    std::uint64_t last = 0;
    for (std::uint64_t number = 0; number < at.made(); ++number) {
      EXPECT_EQ(at.tick(number).number, number) << store;
      EXPECT_EQ(at.tick(number).since_ns, last) << store;
      last = at.tick(number).time_ns;
    }
    EXPECT_EQ(last, ms(3'000));
    if (!killed) break;
    ++kills;
  }
  EXPECT_GE(kills, 10u);
}

class TickingRxTest : public ::testing::Test {
 protected:
  TickingRxTest() : queue_(at_.context(), kTickStream) {
    // The clock of the queue is the real one: the topology has run for long.
    at_.world.status.header().tsc_origin = 0;
    queue_ = LoopRxQueue(at_.context(), kTickStream);
    queue_.resume(0);
  }
  std::vector<std::string> poll() {
    std::vector<std::string> frames;
    for (const test::Taken& taken : test::take_all(queue_, pool_)) frames.push_back(taken.bytes);
    return frames;
  }
  static bool is_one(const std::string& frame) { return is_tick(std::as_bytes(std::span(frame))); }

  Ticking at_;
  test::TestPool pool_{32};
  LoopRxQueue queue_;
};

TEST_F(TickingRxTest, ATickComesInAsOtherPackets) {
  turn_clock::read();
  const std::vector<std::string> frames = poll();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_TRUE(is_one(frames[0]));
  EXPECT_EQ(at_.ring().tail(), 0u);
  queue_.release_below(1);
  EXPECT_EQ(at_.ring().tail(), 1u);
}

TEST_F(TickingRxTest, WhileDrainedNoneIsMade) {
  turn_clock::read();
  queue_.rest();
  EXPECT_TRUE(poll().empty());
  EXPECT_TRUE(queue_.exhausted());
  EXPECT_EQ(poll().size(), 1u);
}

TEST_F(TickingRxTest, WhatAnEgressSendsIsNone) {
  queue_.rest();
  std::array<std::byte, kTickFrameBytes> forged;
  write_tick(forged, {2, 0, 0, 0, 0, 1}, {.number = 9, .time_ns = 1, .since_ns = 0});
  const LoopRing ring = at_.world.segment.loop(0);
  ring.put(0, forged, kTickFrameBytes);
  ring.commit(1);
  std::vector<std::string> frames = poll();
  ASSERT_EQ(frames.size(), 2u) << "and a tick of its own, with the second poll";
  EXPECT_FALSE(is_one(frames[0]));
  EXPECT_TRUE(is_one(frames[1]));
  std::string expected(reinterpret_cast<const char*>(forged.data()), forged.size());
  expected.replace(kTickMagicAt, 8, 8, '\0');
  EXPECT_EQ(frames[0], expected) << "nothing else of it has changed";
}

}  // namespace
}  // namespace millrace
