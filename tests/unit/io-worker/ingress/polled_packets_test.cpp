// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <random>

#include "io-worker/ingress/lane_set.hpp"
#include "tests/unit/io-worker/ingress/ingress_fixture.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kPlaceLanes = 5;

/// Five lanes and few slots, so that a poll is often placed in several rounds.
class PlaceTest : public test::IngressFixture {
 protected:
  PlaceTest() : IngressFixture(kPlaceLanes, 11), random_(5) {}
  static std::uint32_t lane_of(std::uint64_t flow) {
    std::array<std::byte, test::FakeRx::kBytes> frame{};
    std::memcpy(frame.data(), &flow, 6);
    return static_cast<std::uint32_t>(std::uint64_t{flow_hash_of(frame)} * kPlaceLanes >> 32);
  }
  void offer_some() {
    for (std::uint32_t i = random_() % 60; i > 0; --i) rx_.offer(1, random_() % 9);
  }
  void release_some() {
    for (std::size_t i = random_() % (in_flight_.size() + 1); i > 0; --i) release_one();
  }
  /// Notes what has left, lane by lane; of a lane nothing below the place to resume is missing.
  void note_left() {
    for (const Left& batch : left()) {
      const std::uint32_t lane = batch.lane - world_.plan.paths[0].lane_first;
      std::vector<std::uint64_t>& all = ordinals_[lane];
      all.insert(all.end(), batch.ordinals.begin(), batch.ordinals.end());
      EXPECT_EQ(batch.received_total, all.size());
      EXPECT_EQ(batch.position, all.back() + 1);
    }
    const std::uint64_t resume = world_.entry("ingress.a.0").resume_position;
    std::size_t below = 0;
    for (const auto& all : ordinals_) {
      below += static_cast<std::size_t>(std::ranges::lower_bound(all, resume) - all.begin());
    }
    EXPECT_EQ(below, resume) << "each of them has left, in ascending order";
  }
  /// As recovery does: what an open slot held is free, and is read again.
  void discard_open() {
    const std::uint32_t hand = Mark{MarkKind::kHand, context_.me.actor}.word();
    for (std::uint32_t slot = 0; slot < world_.plan.slot_count; ++slot) {
      if (world_.slot_state(slot).kind != SlotKind::kFilling) continue;
      for (std::uint32_t i = 0; i < world_.segment.buffer_count(); ++i) {
        std::uint32_t& mark = world_.segment.mark(i);
        if (mark == Mark{MarkKind::kSlot, slot}.word()) mark = hand;
      }
      context_.set_state(slot, SlotKind::kFree, 0);
    }
  }
  void expect_all_left_once() {
    for (int i = 0; i < 200; ++i) {
      rounds(1);
      note_left();
      while (!in_flight_.empty()) release_one();
    }
    std::array<std::vector<std::uint64_t>, kPlaceLanes> expected;
    for (std::uint64_t i = 0; i < rx_.offered.size(); ++i) {
      expected[lane_of(rx_.offered[i].flow)].push_back(i);
    }
    EXPECT_EQ(ordinals_, expected);
    EXPECT_EQ(pool_->free(), pool_->count());
  }

  std::mt19937 random_;
  std::array<std::vector<std::uint64_t>, kPlaceLanes> ordinals_;  ///< that have left, by lane
};

TEST_F(PlaceTest, EachLaneGetsItsPacketsOnceAndInOrderHoweverSlotsComeBack) {
  for (int turn = 0; turn < 300; ++turn) {
    offer_some();
    rounds(1);
    note_left();
    release_some();
  }
  expect_all_left_once();
}

TEST_F(PlaceTest, ANextLifeReadsAgainWhatNoBatchHadTaken) {
  for (int life = 0; life < 40; ++life) {
    for (int turn = 0; turn < 8; ++turn) {
      offer_some();
      rounds(1);
      note_left();
      release_some();
    }
    discard_open();
    begin_life();
  }
  expect_all_left_once();
}

TEST(LaneSet, VisitsEachInOrderUntilToldToStop) {
  LaneSet set;
  for (const std::uint32_t lane : {63u, 0u, 17u, 5u}) set.add(lane);
  set.remove(17);
  std::vector<std::uint32_t> seen;
  const auto note = [&](std::uint32_t lane) {
    seen.push_back(lane);
    set.remove(lane);
    return lane != 5;
  };
  EXPECT_FALSE(set.each(note));
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{0, 5}));
  EXPECT_TRUE(set.each(note));
  EXPECT_EQ(seen.back(), 63u);
  set.add(1);
  set.clear();
  EXPECT_TRUE(set.each([](std::uint32_t) { return false; }));
}

}  // namespace
}  // namespace millrace
