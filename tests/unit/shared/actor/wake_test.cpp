// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/actor/wake.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include "shared/base/clock.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kPatienceNs = 120'000'000'000;

/// A hundred such sleeps are over in less than half of their time. One that is not ended never is,
/// and one that is may be late where the host has no time for it.
template <typename Sleep>
bool ends_at_once(const Sleep& sleep_once) {
  const std::uint64_t began = monotonic_ns();
  for (int quick = 0; quick < 100;) {
    const std::uint64_t before = monotonic_ns();
    if (before - began > kPatienceNs) return false;
    sleep_once();
    if (monotonic_ns() - before < kSleepMaxNs / 2) ++quick;
  }
  return true;
}

TEST(Wake, AnActorThatIsAwakeIsLeftAlone) {
  ActorEntry entry{};
  wake(entry);
  EXPECT_EQ(entry.sleeping, 0u);
}

TEST(Wake, ASleepThatNobodyEndsLastsItsTime) {
  ActorEntry entry{};
  announce_sleep(entry);
  EXPECT_EQ(entry.sleeping, 1u);
  const std::uint64_t before = monotonic_ns();
  sleep(entry, 3'000'000);
  EXPECT_GE(monotonic_ns() - before, 2'900'000u);
  EXPECT_EQ(entry.sleeping, 0u);
}

TEST(Wake, ASleepThatWasEndedBeforeItBeganReturnsAtOnce) {
  ActorEntry entry{};
  announce_sleep(entry);
  wake(entry);
  EXPECT_TRUE(ends_at_once([&] { sleep(entry, kSleepMaxNs); }));
}

TEST(Wake, ACancelledAnnouncementNeedsNoWake) {
  ActorEntry entry{};
  announce_sleep(entry);
  cancel_sleep(entry);
  EXPECT_EQ(entry.sleeping, 0u);
}

TEST(Wake, NoSleepIsLongerThanTheLongest) {
  ActorEntry entry{};
  announce_sleep(entry);
  const std::uint64_t before = monotonic_ns();
  sleep(entry, 3'600'000'000'000);
  EXPECT_LT(monotonic_ns() - before, kPatienceNs);
}

TEST(Wake, ASleepOnADescriptorEndsWithIt) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  const std::uint64_t before = monotonic_ns();
  sleep_on({ends, 1}, kSleepMaxNs);
  EXPECT_GE(monotonic_ns() - before, kSleepMaxNs * 9 / 10) << "nothing there: the longest sleep";
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  EXPECT_TRUE(ends_at_once([&] { sleep_on({ends, 1}, kSleepMaxNs); }));
  close(ends[0]);
  close(ends[1]);
}

TEST(Wake, ASignalEndsASleepOnADescriptor) {
  struct sigaction nothing {};
  nothing.sa_handler = [](int) {};
  struct sigaction before {};
  ASSERT_EQ(sigaction(SIGUSR1, &nothing, &before), 0);
  std::atomic<bool> ended{false};
  std::atomic<int> sleeps{0};
  std::thread sleeper([&] {
    int ends[2] = {-1, -1};
    ASSERT_EQ(pipe(ends), 0);
    for (; sleeps < 400; ++sleeps) sleep_on({ends, 1}, kSleepMaxNs);
    ended = true;
  });
  const std::uint64_t began = monotonic_ns();
  while (!ended) {
    pthread_kill(sleeper.native_handle(), SIGUSR1);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  sleeper.join();
  EXPECT_LT(monotonic_ns() - began, 3'000'000'000u) << "400 sleeps of 10 ms take 4 s";
  sigaction(SIGUSR1, &before, nullptr);
}

TEST(Wakes, ReachEachActorOfALargeTopologyOnce) {
  test::SmallWorld world(R"(
millrace: 1
name: large
ports: { a: { device: "null" } }
workers: { many: { kind: classifier, max: 100 } }
functions: { f: { type: pass } }
paths: { p: { from: a, run: f } }
)");
  const std::uint32_t count = world.status.header().actor_count;
  ASSERT_GT(count, 100u);
  for (std::uint32_t i = 0; i < count; ++i) world.context("hub").entry(i).sleeping = 1;
  Wakes wakes(*world.context("hub").plan);
  wakes.send(world.context("hub"));
  for (const std::uint32_t actor : {1u, 63u, 64u, 101u}) wakes.add(actor);
  wakes.send(world.context("hub"));
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool woken = i == 1 || i == 63 || i == 64 || i == 101;
    EXPECT_EQ(world.context("hub").entry(i).sleeping, woken ? 0u : 1u) << i;
  }
  world.context("hub").entry(101).sleeping = 1;
  wakes.send(world.context("hub"));
  EXPECT_EQ(world.context("hub").entry(101).sleeping, 1u) << "it was told once";
}

/// Two actors that each wait for the other's number, as producer and consumer of a link do.
struct Pair {
  ActorEntry entry[2]{};
  std::atomic<std::uint32_t> turn{0};
  std::atomic<std::uint64_t> slept_out{0};
};

/// `for_all`: the sleeper fences for the other, which does not.
void play(Pair& pair, std::uint32_t side, std::uint32_t turns, bool for_all) {
  for (std::uint32_t next = side; next < turns; next += 2) {
    while (pair.turn.load(std::memory_order_acquire) != next) {
      announce_sleep(pair.entry[side]);
      if (for_all) fence_for_all();
      if (pair.turn.load(std::memory_order_acquire) == next) {
        cancel_sleep(pair.entry[side]);
        break;
      }
      const std::uint64_t before = monotonic_ns();
      sleep(pair.entry[side], kSleepMaxNs);
      if (monotonic_ns() - before >= kSleepMaxNs) pair.slept_out.fetch_add(1);
    }
    pair.turn.store(next + 1, std::memory_order_release);
    if (!for_all) {
      wake(pair.entry[1 - side]);
      continue;
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (pair.entry[1 - side].sleeping.load(std::memory_order_relaxed) != 0) {
      futex_wake(pair.entry[1 - side].sleeping);
    }
  }
}

void play_both(bool for_all) {
  constexpr std::uint32_t kTurns = 20'000;
  const auto pair = std::make_unique<Pair>();
  const std::uint64_t before = monotonic_ns();
  std::thread other([&] { play(*pair, 1, kTurns, for_all); });
  play(*pair, 0, kTurns, for_all);
  other.join();
  // Every lost wake-up sleeps its 10 ms out: 20,000 of them take 200 s. A loaded machine may make
  // a few of them look so.
  EXPECT_LT(pair->slept_out, kTurns / 20);
  EXPECT_LT(monotonic_ns() - before, 60'000'000'000u);
}

TEST(Wake, NoWakeUpIsLostInTwentyThousandTurns) { play_both(false); }

TEST(Wake, NoneIsLostWhenTheSleeperFencesForAll) {
  if (!join_fences()) GTEST_SKIP() << "this kernel has no such fence";
  play_both(true);
}

}  // namespace
}  // namespace millrace
