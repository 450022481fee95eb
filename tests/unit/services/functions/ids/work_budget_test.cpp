// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/work_budget.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

namespace millrace {
namespace {

/// A secret by which the few sources of these tests have places of their own.
constexpr std::array<std::uint64_t, 2> kSourcesLieApart = {1, 2};
constexpr std::uint64_t kSecondNs = 1'000'000'000;

Ipv6Bytes numbered_source(std::uint8_t number) {
  Ipv6Bytes source{};
  source[3] = number;
  return source;
}

/// Takes up to so many; how many it got.
std::uint32_t take_units(WorkBudget& budget, std::uint8_t source, std::uint64_t now_ns,
                         std::uint32_t wanted, bool is_established = true, std::uint8_t peer = 0) {
  budget.begin_packet({.source = numbered_source(source),
                       .peer = numbered_source(peer),
                       .is_established = is_established,
                       .now_ns = now_ns});
  std::uint32_t got = 0;
  while (got < wanted && budget.share().take(1)) ++got;
  return got;
}

TEST(WorkBudget, APacketHasAShareAndASourceHasMore) {
  WorkBudget budget(nullptr, kSourcesLieApart);
  EXPECT_EQ(take_units(budget, 1, 0, 1000), 96u);
  EXPECT_TRUE(budget.share().is_own_fault());
  EXPECT_EQ(take_units(budget, 1, 0, 1000), 96u);
  EXPECT_EQ(take_units(budget, 1, 0, 1000), 64u);
  EXPECT_FALSE(budget.share().may_search());
  EXPECT_EQ(take_units(budget, 1, 0, 1), 0u);
  EXPECT_TRUE(budget.share().is_own_fault());
  EXPECT_EQ(take_units(budget, 2, 0, 1000), 96u) << "another source";
  for (const std::uint32_t left : {96u, 96u, 64u, 0u}) {
    EXPECT_EQ(take_units(budget, 1, 0, 1000, false), left) << "packets that may be made up";
    EXPECT_FALSE(budget.share().is_own_fault());
  }
  EXPECT_EQ(take_units(budget, 1, kSecondNs / 64 - 1, 1), 0u);
  EXPECT_EQ(take_units(budget, 1, kSecondNs / 64, 2), 1u);
  EXPECT_EQ(take_units(budget, 1, 5 * kSecondNs, 1000), 96u);
}

TEST(WorkBudget, AllSourcesTogetherHaveWhatTheWorkerHas) {
  WorkBudget budget(nullptr, kSourcesLieApart);
  std::uint32_t got = 0;
  for (std::uint8_t source = 0; source < 200; ++source) got += take_units(budget, source, 0, 96);
  EXPECT_EQ(got, 1024u);
  EXPECT_EQ(take_units(budget, 201, 0, 96), 0u);
  EXPECT_FALSE(budget.share().is_own_fault());
  EXPECT_TRUE(budget.share().may_search());
  EXPECT_EQ(take_units(budget, 201, 0, 96, false), 0u);
  EXPECT_FALSE(budget.share().may_search()) << "its source may be made up";
  EXPECT_FALSE(budget.share().is_own_fault());
  got = 0;
  for (std::uint8_t source = 0; source < 200; ++source) {
    got += take_units(budget, source, kSecondNs / 2, 96);
  }
  EXPECT_EQ(got, 256u);
}

TEST(WorkBudget, AServerHasItsOwnForEachOfItsClients) {
  WorkBudget budget(nullptr, kSourcesLieApart);
  for (int i = 0; i < 3; ++i) take_units(budget, 1, 0, 96, true, 2);
  EXPECT_EQ(take_units(budget, 1, 0, 1, true, 2), 0u);
  EXPECT_EQ(take_units(budget, 1, 0, 96, true, 3), 96u);
  for (int i = 0; i < 3; ++i) take_units(budget, 1, 0, 96, false, 4);
  EXPECT_EQ(take_units(budget, 1, 0, 1, false, 5), 0u) << "both may be made up";
}

TEST(WorkBudget, AShareTakesAllOrNothing) {
  WorkShare share;
  share.begin(10);
  EXPECT_FALSE(share.take(11));
  EXPECT_TRUE(share.is_own_fault());
  EXPECT_TRUE(share.take(10));
  EXPECT_EQ(share.left(), 0u);
  share.lose_body();
  EXPECT_TRUE(share.has_lost_body());
  share.begin(1);
  EXPECT_FALSE(share.is_own_fault());
  EXPECT_FALSE(share.has_lost_body());
}

std::uint64_t test_now_ns = 0;
std::uint64_t test_clock() noexcept { return test_now_ns; }

TEST(WorkBudget, APieceOfWorkCostsItsTimeWithinBounds) {
  WorkShare share(test_clock);
  const auto cost = [&](std::uint64_t ns, std::uint32_t least, std::uint64_t reads = 0) {
    share.begin(20);
    const std::uint64_t since_ns = share.now_ns();
    test_now_ns += ns;
    share.spend({.since_ns = since_ns, .least = least, .reads = reads});
    return 20 - share.left();
  };
  EXPECT_EQ(cost(19'999, 0), 0u);
  EXPECT_EQ(cost(60'000, 0), 0u);
  EXPECT_EQ(cost(40'000, 0), 1u) << "with what was left of the piece before";
  EXPECT_EQ(cost(100'000, 3), 3u);
  EXPECT_EQ(cost(500'000, 3), 5u);
  EXPECT_EQ(cost(60'000'000'000, 0), 16u);
  EXPECT_EQ(cost(60'000'000'000, 0, 2 * WorkShare::kReadsOfUnit), 18u);
  EXPECT_EQ(share.overdraft(), 0u);
  EXPECT_EQ(cost(0, 30), 20u) << "no more than there are";
  EXPECT_EQ(share.overdraft(), 10u);
}

/// Takes a search of so many units; whether it was made.
bool search_once(WorkBudget& budget, std::uint64_t now_ns, std::uint64_t units) {
  budget.begin_packet(
      {.source = numbered_source(1), .peer = {}, .is_established = true, .now_ns = now_ns});
  if (!budget.share().may_search()) return false;
  const std::uint64_t since_ns = budget.share().now_ns();
  test_now_ns += units * WorkShare::kNsOfUnit;
  budget.share().spend(
      {.since_ns = since_ns, .least = 0, .reads = units * WorkShare::kReadsOfUnit});
  return true;
}

TEST(WorkBudget, ASourceOwesWhatASearchTakesBeyondWhatIsLeft) {
  WorkBudget budget(test_clock, kSourcesLieApart);
  // It has 256, and 64 more each second.
  EXPECT_TRUE(search_once(budget, 0, 256 + 10 * 64));
  for (const std::uint64_t tenths : {1, 40, 99, 100}) {
    EXPECT_FALSE(search_once(budget, tenths * kSecondNs / 10, 0)) << tenths;
  }
  EXPECT_TRUE(search_once(budget, 10 * kSecondNs + kSecondNs / 64, 0));
  // Of more than it can earn in a minute the rest is forgotten.
  EXPECT_TRUE(search_once(budget, 100 * kSecondNs, 1'000'000));
  EXPECT_FALSE(search_once(budget, 155 * kSecondNs, 0));
  EXPECT_TRUE(search_once(budget, 157 * kSecondNs, 0));
}

TEST(WorkBudget, AClockThatGoesBackForgetsWhatIsOwed) {
  WorkBudget budget(nullptr, kSourcesLieApart);
  for (int i = 0; i < 3; ++i) take_units(budget, 1, 100 * kSecondNs, 96);
  EXPECT_EQ(take_units(budget, 1, 100 * kSecondNs, 1), 0u);
  EXPECT_EQ(take_units(budget, 1, 0, 96), 96u);
}

/// Buckets that are filled nanosecond by nanosecond, in whole numbers: units times kSecondNs.
class SlowBucket {
 public:
  SlowBucket(std::uint64_t rate, std::uint64_t most) : rate_(rate), most_(most * kSecondNs) {}
  std::uint64_t units(std::uint64_t now_ns) {
    level_ = std::min(most_, level_ + (now_ns - since_ns_) * rate_);
    since_ns_ = now_ns;
    return level_ / kSecondNs;
  }
  void take(std::uint64_t units) { level_ -= units * kSecondNs; }

 private:
  std::uint64_t rate_, most_, level_ = most_, since_ns_ = 0;
};

TEST(WorkBudget, GivesWhatBucketsDo) {
  std::mt19937 random(3);
  WorkBudget budget(nullptr, kSourcesLieApart);
  SlowBucket worker(512, 1024);
  std::map<std::uint8_t, SlowBucket> sources;
  std::uint64_t now_ns = 0, short_of = 0;
  for (int i = 0; i < 20'000; ++i) {
    now_ns += (random() % 20) * (kSecondNs / 512);  // both rates are whole in these
    const auto source = static_cast<std::uint8_t>(random() % 12);
    SlowBucket& own = sources.try_emplace(source, 64, 256).first->second;
    const std::uint32_t wanted = random() % 4 == 0 ? random() % 100 : random() % 3;
    const std::uint64_t due =
        std::min<std::uint64_t>({wanted, 96, own.units(now_ns), worker.units(now_ns)});
    ASSERT_EQ(take_units(budget, source, now_ns, wanted), due) << i;
    own.take(due);
    worker.take(due);
    short_of += due < wanted ? 1 : 0;
  }
  EXPECT_GT(short_of, 500u);
}

}  // namespace
}  // namespace millrace
