// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

#include "shared/layout/neighbour_table.hpp"
#include "tests/unit/shared/layout/neighbour_memory.hpp"
#include "tests/unit/shared/layout/stop_before_store.hpp"

namespace millrace {
namespace {

using enum NeighbourState;

constexpr NeighbourNews kPlaceReply{.only_update = true, .overrides = true, .confirms = true};
constexpr NeighbourNews kPlaceSolicited{.only_update = false, .overrides = true, .confirms = true};
constexpr NeighbourNews kPlaceRequest{.only_update = false, .overrides = true, .confirms = false};

/// Nine keys whose windows are the same eight entries, which pass the table's end.
class NeighbourPlaceTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kHome = 60;
  const std::vector<std::uint32_t> numbers_ = numbers_at(kHome, 10);
  NeighbourMemory memory_;
  NeighbourTableView table_ = memory_.table();

  NeighbourKey key(std::size_t i) const { return neighbour_key(numbers_[i]); }
  NeighbourHandle insert(std::size_t i, std::uint64_t now_ms, bool pinned = false) {
    return table_.find_or_insert(key(i), now_ms, pinned);
  }
  /// Known; key i was used at 10'000 + i * 1'000.
  void fill() {
    for (std::size_t i = 0; i < kNeighbourWindow; ++i) {
      EXPECT_EQ(insert(i, 1).number, (kHome + i) % 64);
      EXPECT_TRUE(table_.learn(key(i), mac_of(numbers_[i]), 1, kPlaceReply));
      use(i, 10'000 + i * 1'000);
    }
  }
  void use(std::size_t i, std::uint64_t now_ms) { table_.look_up(table_.find(key(i)), now_ms); }
  bool has(std::size_t i) const { return table_.find(key(i)).found(); }
  NeighbourWord word(std::uint32_t number) { return {memory_.entry(number).word.load()}; }
  /// What a process leaves that was killed in its claim.
  void leave_claim(std::uint32_t number, std::uint64_t now_ms) {
    memory_.entry(number).word =
        NeighbourWord::of(NeighbourPhase::kClaimed, false, word(number).next_generation(),
                          static_cast<std::uint32_t>(now_ms))
            .bits;
  }
  /// What an inserter leaves that was killed behind its publication of a duplicate.
  void leave_duplicate(std::uint32_t number, std::size_t i, bool pinned) {
    NeighbourEntry& at = memory_.entry(number);
    const std::uint32_t generation = word(number).next_generation();
    const auto words = NeighbourKeyWords::of(key(i));
    for (std::size_t w = 0; w < 3; ++w) {
      at.key[w] = NeighbourWordTag::tagged(words.value[w], generation);
    }
    at.link = neighbour_link(kNone, {}, generation);
    at.confirmed = NeighbourWordTag::tagged(0, generation);
    at.asked = NeighbourWordTag::tagged(0, generation);
    at.used_ms = 1;
    at.word = NeighbourWord::of(NeighbourPhase::kPublished, pinned, generation, 1).bits;
  }
};

TEST_F(NeighbourPlaceTest, AFullWindowGivesUpItsLeastRecentlyUsed) {
  fill();
  use(0, 50'000);
  const NeighbourHandle old = table_.find(key(1));
  const NeighbourHandle handle = insert(8, 60'000);
  EXPECT_EQ(handle.number, old.number);
  EXPECT_FALSE(has(1));
  EXPECT_EQ(table_.look_up(old, 60'000).state, kNone);
  EXPECT_EQ(table_.evicted_count(), 1u);
  EXPECT_EQ(table_.full_count(), 0u);
}

TEST_F(NeighbourPlaceTest, FailedGoBeforeIncompleteAndTheseBeforeKnown) {
  fill();
  table_.forget(key(7));
  table_.forget(key(6));
  insert(6, 20'000);
  insert(7, 20'000);
  for (const std::uint64_t now_ms : {20'000, 21'000, 22'000, 23'000}) use(7, now_ms);
  ASSERT_TRUE(table_.has_failed(table_.find(key(7))));
  use(6, 23'000);  // incomplete
  insert(8, 24'000);
  EXPECT_FALSE(has(7));
  EXPECT_TRUE(has(6));
  table_.learn(key(8), mac_of(numbers_[8]), 24'000, kPlaceReply);
  insert(9, 24'000);
  EXPECT_FALSE(has(6));
  for (const std::size_t i : {0u, 1u, 2u, 3u, 4u, 5u, 8u, 9u}) EXPECT_TRUE(has(i)) << i;
}

TEST_F(NeighbourPlaceTest, PinnedAndStaticStayAndTheRefusedIsCounted) {
  fill();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(insert(i, 20'000, true).found());
  for (std::size_t i = 4; i < 8; ++i) {
    EXPECT_TRUE(table_.set_static(key(i), mac_of(numbers_[i]), 20'000));
    EXPECT_TRUE(table_.set_pinned(table_.find(key(i)), false));
  }
  EXPECT_FALSE(insert(8, 30'000).found());
  EXPECT_FALSE(table_.learn(key(8), mac_of(numbers_[8]), 30'000, kPlaceRequest));
  EXPECT_FALSE(table_.set_static(key(8), mac_of(numbers_[8]), 30'000));
  EXPECT_EQ(table_.full_count(), 3u);
  EXPECT_TRUE(table_.set_pinned(table_.find(key(2)), false));
  EXPECT_TRUE(insert(8, 30'000).found());
  EXPECT_FALSE(has(2));
}

TEST_F(NeighbourPlaceTest, WhatWasClaimedWithinTheLastSecondIsNotEvicted) {
  for (std::size_t i = 0; i < 8; ++i) insert(i, 5000);
  EXPECT_FALSE(insert(8, 5999).found());
  EXPECT_EQ(table_.full_count(), 1u);
  EXPECT_TRUE(insert(8, 6000).found());
}

TEST_F(NeighbourPlaceTest, AForgottenEntryDoesNotHideWhatLiesBehindIt) {
  fill();
  table_.forget(key(0));
  for (std::size_t i = 1; i < 8; ++i) EXPECT_TRUE(has(i));
  EXPECT_EQ(insert(8, 20'000).number, kHome);
}

TEST_F(NeighbourPlaceTest, ADeadClaimIsPassedForASecondAndThenTaken) {
  leave_claim(kHome, 5000);
  EXPECT_FALSE(has(0));
  const NeighbourHandle first = insert(0, 5500);
  EXPECT_EQ(first.number, kHome + 1);
  EXPECT_EQ(insert(1, 5999).number, kHome + 2);
  EXPECT_EQ(insert(2, 6000).number, kHome);
  EXPECT_EQ(table_.find(key(0)), first);
}

TEST_F(NeighbourPlaceTest, OfTwoEntriesOfOneKeyAllFindTheFirst) {
  leave_claim(kHome, 5000);
  insert(0, 5500);  // behind the claim
  leave_duplicate(kHome, 0, false);
  EXPECT_EQ(table_.find(key(0)).number, kHome);
  EXPECT_TRUE(table_.learn(key(0), mac_of(numbers_[0]), 6000, kPlaceReply));
  EXPECT_TRUE(table_.is_ready(table_.find(key(0))));
  std::size_t shown = 0;
  table_.each([&](const NeighbourSnapshot&) { ++shown; });
  EXPECT_EQ(shown, 1u);
  EXPECT_TRUE(table_.forget(key(0)));
  EXPECT_FALSE(has(0));
}

TEST_F(NeighbourPlaceTest, OfTwoInsertersTheLaterHandsThePinOnAndRetiresTheSecondEntry) {
  constexpr std::uint32_t kPublish = 8;  // behind the claim and seven words
  const pid_t child = fork();
  if (child == 0) {
    const StopBeforeStore stop(memory_.span(), kPublish);
    _exit(insert(0, 5000).number == kHome ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_EQ(insert(0, 5000, true).number, kHome + 1);
  kill(child, SIGCONT);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(table_.find(key(0)).number, kHome);
  EXPECT_TRUE(word(kHome).pinned());
  EXPECT_EQ(word(kHome + 1).phase(), NeighbourPhase::kEmpty);
}

TEST_F(NeighbourPlaceTest, ADuplicateThatIsPinnedIsEvictedFirst) {
  fill();
  for (std::size_t i = 0; i < 8; ++i) insert(i, 20'000, true);
  leave_duplicate((kHome + 5) % 64, 0, true);
  const NeighbourHandle handle = insert(8, 30'000);
  EXPECT_EQ(handle.number, (kHome + 5) % 64);
  EXPECT_TRUE(has(0));
  EXPECT_EQ(insert(9, 40'000).number, handle.number);
}

TEST_F(NeighbourPlaceTest, AWriterOfThePastChangesNothingOfAnotherKey) {
  fill();
  NeighbourEntry& at = memory_.entry(kHome);
  std::uint64_t link = at.link.load();  // a process loads it to learn a MAC of key 0, and stops
  const std::uint32_t generation = word(kHome).generation();
  for (std::size_t i = 1; i < 8; ++i) use(i, 50'000);
  ASSERT_EQ(insert(8, 60'000).number, kHome);
  EXPECT_FALSE(at.link.compare_exchange_strong(
      link, neighbour_link(kKnown, mac_of(numbers_[0]), generation)));
  EXPECT_EQ(table_.look_up(table_.find(key(8)), 60'000).state, kIncomplete);
}

/// Each thread inserts, learns, looks up and forgets keys that share few windows, by a clock that
/// runs fast enough for entries to change keys all the time.
TEST(NeighbourTable, ThreadsNeverGetTheMacOfAnotherAddress) {
  constexpr std::uint32_t kKeys = 200, kRounds = 40'000;
  const NeighbourMemory memory;
  std::atomic<std::uint64_t> clock_ms{1}, wrong{0}, right{0};
  const auto hammer = [&](std::uint64_t seed) {
    const NeighbourTableView table = memory.table();
    std::mt19937_64 random(seed);
    std::vector<NeighbourHandle> handle(kKeys);
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      const std::uint64_t now_ms = clock_ms.fetch_add(round % 64 == 0 ? 700 : 1);
      const auto number = static_cast<std::uint32_t>(random() % kKeys);
      const NeighbourKey key = neighbour_key(number);
      const std::uint64_t what = random() % 16;
      if (what < 5) {
        handle[number] = table.find_or_insert(key, now_ms, what == 0);
      } else if (what < 9) {
        const NeighbourNews news{what == 5, random() % 2 == 0, random() % 2 == 0};
        table.learn(key, mac_of(number, static_cast<std::uint8_t>(random() % 4)), now_ms, news);
      } else if (what < 14) {  // also handles of long ago
        const NeighbourAnswer answer = table.look_up(handle[number], now_ms);
        if (!answer.has_mac()) continue;
        (answer.mac == mac_of(number, answer.mac[1]) ? right : wrong)++;
      } else if (what == 14) {
        table.forget(key);
      } else {
        table.each([&](const NeighbourSnapshot& one) {
          if (one.state != kKnown) return;
          std::uint32_t owner = 0;
          for (std::size_t i = 2; i < 6; ++i) owner = owner << 8 | one.mac[i];
          if (!(one.key == neighbour_key(owner))) wrong++;
        });
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) threads.emplace_back(hammer, seed);
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(right, 1000u);
  EXPECT_GT(memory.table().evicted_count(), 100u);
}

TEST(NeighbourTable, ThreadsThatInsertTheSameKeysAgreeOnOneEntryEach) {
  for (std::uint64_t round = 0; round < 200; ++round) {
    const NeighbourMemory memory;
    const std::vector<std::uint32_t> numbers = numbers_at(3, 4);
    const auto insert = [&] {
      const NeighbourTableView table = memory.table();
      for (const std::uint32_t number : numbers) {
        table.find_or_insert(neighbour_key(number), 1, number == numbers[0]);
      }
    };
    { const std::jthread one(insert), two(insert), three(insert); }
    std::size_t published = 0;
    for (std::uint32_t number = 0; number < 64; ++number) {
      const NeighbourWord word{memory.entry(number).word.load()};
      published += word.phase() == NeighbourPhase::kPublished ? 1 : 0;
    }
    EXPECT_EQ(published, numbers.size());
    std::size_t pinned = 0;
    memory.table().each([&](const NeighbourSnapshot& one) { pinned += one.pinned ? 1 : 0; });
    EXPECT_EQ(pinned, 1u);
  }
}

TEST(NeighbourTable, AsksOnceThoughManyWorkersLookItUp) {
  const NeighbourMemory memory;
  const NeighbourHandle handle = memory.table().find_or_insert(neighbour_key(1), 1, false);
  std::atomic<std::uint32_t> asks{0};
  const auto use = [&] {
    for (std::uint64_t now_ms = 1; now_ms <= 2500; ++now_ms) {
      asks += memory.table().look_up(handle, now_ms).should_ask() ? 1 : 0;
    }
  };
  { const std::jthread one(use), two(use), three(use), four(use); }
  EXPECT_EQ(asks, 3u) << "at 1, 1001 and 2001 ms";
}

/// Children change the table until they are killed, wherever they are.
TEST(NeighbourTable, ChildrenKilledAnywhereLeaveATableThatWorks) {
  constexpr std::uint32_t kKills = 200, kKeys = 120;
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  const NeighbourMemory memory;
  const NeighbourTableView table = memory.table();
  const NeighbourMemory more;
  auto* const child_ms = &more.entry(0).word;  // the child's clock
  std::uint64_t now_ms = 1;
  for (std::uint32_t kill_number = 0; kill_number < kKills; ++kill_number) {
    const std::uint64_t child_seed = random();
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      std::mt19937_64 own(child_seed);
      for (std::uint64_t at_ms = now_ms;; at_ms += 10) {
        child_ms->store(at_ms);
        const auto number = static_cast<std::uint32_t>(own() % kKeys);
        const NeighbourHandle handle = table.find_or_insert(neighbour_key(number), at_ms, false);
        table.learn(neighbour_key(number), mac_of(number), at_ms, kPlaceRequest);
        table.look_up(handle, at_ms);
        if (own() % 8 == 0) table.forget(neighbour_key(number));
      }
    }
    const std::uint64_t until_ms = now_ms + random() % 3000;
    while (child_ms->load() < until_ms) std::this_thread::yield();
    for (std::uint64_t turns = random() % 3000; turns > 0; --turns) {  // anywhere in a round
      table.find(neighbour_key(static_cast<std::uint32_t>(turns % kKeys)));
    }
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself: " << status;
    table.each([](const NeighbourSnapshot& one) {
      if (one.state != kKnown) return;
      std::uint32_t owner = 0;
      for (std::size_t i = 2; i < 6; ++i) owner = owner << 8 | one.mac[i];
      EXPECT_EQ(one.key, neighbour_key(owner));
    });
    now_ms = child_ms->load() + kNeighbourClaimMs;  // no claim holds for longer
    const auto number = static_cast<std::uint32_t>(random() % kKeys);
    ASSERT_TRUE(table.learn(neighbour_key(number), mac_of(number), now_ms, kPlaceSolicited));
    ASSERT_EQ(table.look_up(table.find(neighbour_key(number)), now_ms).mac, mac_of(number));
  }
  now_ms += 10'000;
  for (std::uint32_t number = 0; number < kKeys; ++number) table.forget(neighbour_key(number));
  for (std::uint32_t home = 0; home < 64; home += kNeighbourWindow) {  // every entry is usable
    for (const std::uint32_t number : numbers_at(home, kNeighbourWindow)) {
      EXPECT_TRUE(table.learn(neighbour_key(number), mac_of(number), now_ms, kPlaceRequest));
      EXPECT_TRUE(table.is_ready(table.find(neighbour_key(number))));
    }
  }
  std::size_t shown = 0;
  table.each([&](const NeighbourSnapshot&) { ++shown; });
  EXPECT_EQ(shown, 64u);
}

/// Inserts and learns key 0 in a child, which evicts another for it and stops in front of a store.
/// Two seconds later its window goes to eight other keys. Then the child goes on, or is killed.
/// Returns whether there was such a store.
bool stop_before(std::uint32_t store, bool goes_on, const std::vector<std::uint32_t>& numbers) {
  const NeighbourMemory memory;
  const NeighbourTableView table = memory.table();
  const NeighbourKey key = neighbour_key(numbers[0]);
  for (std::size_t i = 1; i <= kNeighbourWindow; ++i) {
    table.learn(neighbour_key(numbers[i]), mac_of(numbers[i]), 1, kPlaceSolicited);
  }
  const pid_t child = fork();
  if (child == 0) {
    const StopBeforeStore stop(memory.span(), store);
    const NeighbourHandle handle = table.find_or_insert(key, 5000, true);
    table.look_up(handle, 5000);
    table.learn(key, mac_of(numbers[0]), 5000, kPlaceSolicited);
    table.learn(key, mac_of(numbers[0], 1), 5000, kPlaceRequest);
    table.look_up(handle, 5000);
    table.set_pinned(handle, false);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, WUNTRACED);
  const bool stopped = WIFSTOPPED(status);
  table.set_pinned(table.find(key), false);
  for (std::size_t i = 9; i < 9 + kNeighbourWindow; ++i) {
    EXPECT_TRUE(table.learn(neighbour_key(numbers[i]), mac_of(numbers[i]), 7000, kPlaceSolicited));
  }
  if (stopped) {
    kill(child, goes_on ? SIGCONT : SIGKILL);
    waitpid(child, &status, 0);
  }
  EXPECT_EQ(WIFEXITED(status), !stopped || goes_on) << status;
  EXPECT_EQ(WIFSIGNALED(status), stopped && !goes_on) << status;
  EXPECT_TRUE(!WIFEXITED(status) || WEXITSTATUS(status) == 0) << status;
  for (std::size_t i = 9; i < 9 + kNeighbourWindow; ++i) {
    const NeighbourHandle handle = table.find(neighbour_key(numbers[i]));
    EXPECT_EQ(table.look_up(handle, 7000).mac, mac_of(numbers[i]));
    EXPECT_FALSE(table.look_up(handle, 36'999).should_ask()) << "its proof stands";
    EXPECT_TRUE(table.look_up(handle, 37'000).should_ask());
  }
  EXPECT_FALSE(table.find(key).found());
  return stopped;
}

TEST(NeighbourTable, AProcessStoppedOrKilledBeforeAnyStoreHarmsNoOtherKey) {
  const std::vector<std::uint32_t> numbers = numbers_at(60, 9 + kNeighbourWindow);
  std::uint32_t store = 0;
  for (bool stopped = true; stopped && store < 100; ++store) {
    SCOPED_TRACE(store);
    stopped = stop_before(store, true, numbers);
    EXPECT_EQ(stop_before(store, false, numbers), stopped);
  }
  EXPECT_GT(store, 15u) << "claim, seven words, publish, link, proof, pin";
  EXPECT_LT(store, 100u);
}

}  // namespace
}  // namespace millrace
