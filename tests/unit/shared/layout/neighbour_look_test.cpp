// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/layout/neighbour_look.hpp"

#include <gtest/gtest.h>

#include "tests/unit/shared/layout/neighbour_memory.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kLookMs = 100'000;
constexpr NeighbourNews kProven{.only_update = false, .overrides = true, .confirms = true};
constexpr NeighbourNews kSeen{.only_update = false, .overrides = true, .confirms = false};

class NeighbourLookTest : public testing::Test {
 protected:
  NeighbourLook look(std::uint32_t number, std::uint64_t now_ms) const {
    NeighbourLook found = NeighbourLook::kCount;
    memory_.table().each([&](const NeighbourSnapshot& entry) {
      if (entry.key == neighbour_key(number)) found = neighbour_look(entry, now_ms);
    });
    return found;
  }
  NeighbourAnswer use(std::uint32_t number, std::uint64_t now_ms) const {
    const NeighbourTableView table = memory_.table();
    return table.look_up(table.find_or_insert(neighbour_key(number), now_ms, false), now_ms);
  }
  void learn(std::uint32_t number, std::uint64_t now_ms, NeighbourNews news) const {
    ASSERT_TRUE(memory_.table().learn(neighbour_key(number), mac_of(number), now_ms, news));
  }
  NeighbourMemory memory_;
};

TEST_F(NeighbourLookTest, AProofHoldsAsLongAsTheTableGoesByIt) {
  learn(1, kLookMs, kProven);
  EXPECT_EQ(look(1, kLookMs), NeighbourLook::kReachable);
  EXPECT_EQ(look(1, kLookMs - 5), NeighbourLook::kReachable) << "the clock of another process";
  EXPECT_EQ(look(1, kLookMs + 29'999), NeighbourLook::kReachable);
  EXPECT_EQ(look(1, kLookMs + 30'000), NeighbourLook::kStale);
  EXPECT_TRUE(use(1, kLookMs + 30'000).should_ask()) << "the table says the same";
  EXPECT_EQ(look(1, kLookMs + 30'000), NeighbourLook::kProbe);
  learn(1, kLookMs + 30'100, kProven);
  EXPECT_EQ(look(1, kLookMs + 30'100), NeighbourLook::kReachable);
}

TEST_F(NeighbourLookTest, WhatIsKnownByAQuestionAloneIsNotProven) {
  learn(2, kLookMs, kSeen);
  EXPECT_EQ(look(2, kLookMs), NeighbourLook::kStale);
}

TEST_F(NeighbourLookTest, ThreeQuestionsInVainAreAFailureAlsoWhenNobodyLooksForIt) {
  use(3, kLookMs);
  EXPECT_EQ(look(3, kLookMs), NeighbourLook::kIncomplete);
  use(3, kLookMs + 1000);
  use(3, kLookMs + 2000);
  EXPECT_EQ(look(3, kLookMs + 2999), NeighbourLook::kIncomplete);
  EXPECT_EQ(look(3, kLookMs + 3000), NeighbourLook::kFailed) << "nobody has used it since";
  EXPECT_EQ(use(3, kLookMs + 3000).state, NeighbourState::kFailed);
  EXPECT_EQ(look(3, kLookMs + 3000), NeighbourLook::kFailed);
  use(3, kLookMs + 6000);
  EXPECT_EQ(look(3, kLookMs + 6000), NeighbourLook::kIncomplete) << "asked anew";
}

TEST_F(NeighbourLookTest, CountsByState) {
  learn(1, kLookMs, kProven);
  learn(2, kLookMs, kSeen);
  learn(5, kLookMs, kSeen);
  use(3, kLookMs);
  ASSERT_TRUE(memory_.table().set_static(neighbour_key(4), mac_of(4), kLookMs));
  const NeighbourCounts counts = count_neighbours(memory_.table(), kLookMs);
  EXPECT_EQ(counts, (NeighbourCounts{1, 2, 0, 1, 0, 1}));
}

}  // namespace
}  // namespace millrace
