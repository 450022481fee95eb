// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/links/order_window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace millrace {
namespace {

/// A batch of a lane; its slot number tells all three.
struct Arrival {
  std::uint32_t stream, lane;
  std::uint64_t sequence;
  std::uint32_t slot() const {
    return stream * 10'000 + lane * 1000 + static_cast<std::uint32_t>(sequence);
  }
};

/// Uses a window as egress and classifier do; notes what it releases, by stream and lane.
class Releaser {
 public:
  Releaser(std::uint32_t streams, std::uint32_t lanes, std::uint32_t depth)
      : lanes_(lanes), window_(streams, lanes, depth), released(streams * lanes) {}
  void arrive(const Arrival& batch) {
    std::vector<std::uint32_t>& out = released[batch.stream * lanes_ + batch.lane];
    window_.insert(batch.stream, batch.lane, out.size() + 1, batch.sequence, batch.slot());
    std::uint32_t slot = 0;
    while ((slot = window_.remove(batch.stream, batch.lane, out.size() + 1)) !=
           OrderWindow::kNone) {
      out.push_back(slot);
    }
  }
  std::uint32_t waiting() const { return window_.waiting(); }

 private:
  std::uint32_t lanes_;
  OrderWindow window_;

 public:
  std::vector<std::vector<std::uint32_t>> released;
};

/// Sequences 1..count so that nothing arrives more than `reach` places too early.
std::vector<std::uint64_t> shuffled(std::uint64_t count, std::uint32_t reach,
                                    std::mt19937& random) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> keyed;
  for (std::uint64_t i = 1; i <= count; ++i) keyed.push_back({i + random() % (reach + 1), i});
  std::sort(keyed.begin(), keyed.end());
  std::vector<std::uint64_t> sequences;
  for (const auto& [key, sequence] : keyed) sequences.push_back(sequence);
  return sequences;
}

TEST(OrderWindow, EveryPermutationOfSixComesOutInSequence) {
  std::vector<std::uint64_t> order(6);
  std::iota(order.begin(), order.end(), 1);
  do {
    Releaser releaser(1, 1, 6);
    for (const std::uint64_t sequence : order) releaser.arrive({0, 0, sequence});
    EXPECT_EQ(releaser.released[0], (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(releaser.waiting(), 0u);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(OrderWindow, RandomArrivalOfManyLanesComesOutAsSorted) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const std::uint32_t reach = 1 + random() % 31;
    std::vector<Arrival> arrivals;
    std::vector<std::vector<std::uint64_t>> left;
    for (int row = 0; row < 6; ++row) left.push_back(shuffled(200, reach, random));
    std::vector<std::size_t> next(6, 0);
    for (int total = 0; total < 6 * 200;) {
      const std::uint32_t row = random() % 6;
      if (next[row] == 200) continue;
      arrivals.push_back({row / 3, row % 3, left[row][next[row]++]});
      ++total;
    }
    Releaser releaser(2, 3, reach + 1);
    for (const Arrival& arrival : arrivals) releaser.arrive(arrival);
    for (std::uint32_t row = 0; row < 6; ++row) {
      std::vector<std::uint32_t> sorted;
      for (const Arrival& arrival : arrivals) {
        if (arrival.stream * 3 + arrival.lane == row) sorted.push_back(arrival.slot());
      }
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(releaser.released[row], sorted) << "seed " << seed;
    }
  }
}

TEST(OrderWindow, AHoleHoldsUpItsOwnLaneOnly) {
  Releaser releaser(1, 2, 4);
  releaser.arrive({0, 0, 2});
  releaser.arrive({0, 1, 1});
  EXPECT_TRUE(releaser.released[0].empty());
  EXPECT_EQ(releaser.released[1].size(), 1u);
  EXPECT_EQ(releaser.waiting(), 1u);
  releaser.arrive({0, 0, 1});
  EXPECT_EQ(releaser.released[0].size(), 2u);
}

TEST(OrderWindow, WhatIsNotThereIsNotRemoved) {
  OrderWindow window(1, 1, 4);
  EXPECT_EQ(window.remove(0, 0, 1), OrderWindow::kNone);
  window.insert(0, 0, 1, 2, 77);
  EXPECT_EQ(window.remove(0, 0, 1), OrderWindow::kNone);
  EXPECT_EQ(window.remove(0, 0, 2), 77u);
  EXPECT_EQ(window.remove(0, 0, 2), OrderWindow::kNone);
}

TEST(OrderWindow, AllSlotsOfAStreamFitWhateverIsMissing) {
  for (const std::uint32_t depth : {1u, 2u, 3u, 7u, 8u, 80u}) {
    OrderWindow window(1, 1, depth);
    const std::uint64_t next = 1000;
    for (std::uint32_t i = 0; i < depth; ++i) window.insert(0, 0, next, next + i, i);
    EXPECT_EQ(window.waiting(), depth);
  }
}

TEST(OrderWindowDeathTest, RefusesWhatCannotBeInFlight) {
  OrderWindow window(1, 1, 3);
  EXPECT_DEATH(window.insert(0, 0, 5, 4, 1), "CHECK") << "released before";
  EXPECT_DEATH(window.insert(0, 0, 5, 9, 1), "CHECK") << "further ahead than slots exist";
  window.insert(0, 0, 5, 6, 1);
  EXPECT_DEATH(window.insert(0, 0, 5, 6, 2), "CHECK") << "one sequence twice";
}

}  // namespace
}  // namespace millrace
