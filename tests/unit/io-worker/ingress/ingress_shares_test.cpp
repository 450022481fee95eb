// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <unistd.h>

#include "shared/base/clock.hpp"
#include "tests/unit/io-worker/ingress/ingress_fixture.hpp"

namespace millrace {
namespace {

constexpr const char* kTopology =
    "millrace: 1\nname: in\nbatch: { capacity: 8 }\n"
    "ports:\n"
    "  a: { device: afpacket, interface: x, queues: 2, queues_max: 4 }\n"
    "  b: { device: \"null\" }\n"
    "paths: { one: { from: [a], run: [], lanes: 2, slots: 6 } }\n";

std::string ingress(std::uint32_t queue) { return "ingress.a." + std::to_string(queue); }

/// Four shares, of which `ingress_`, of queue 0, reads 0 and 2 at the start, and that of queue 1
/// the others. Batches of 8 packets in two lanes, 6 slots.
class IngressSharesTest : public test::IngressFixture {
 public:
  ~IngressSharesTest() override { ingress_.reset(); }  // before its shares

 protected:
  IngressSharesTest() : IngressFixture(kTopology) {
    rx_.from_shares = &shares_;
    next_life();
  }
  void next_life() {
    shares_.here = IngressShares::read_by(context_, 0);
    shares_.held = 0;
    begin_life();
  }
  ActorEntry& entry(std::uint32_t share) const { return world_.entry(ingress(share)); }
  std::uint32_t actor(std::uint32_t queue) const { return world_.actor(ingress(queue)); }
  std::uint32_t reader(std::uint32_t share) const { return entry(share).share_reader; }
  void want(std::uint32_t share, std::uint32_t queue) const {
    entry(share).share_wanted = actor(queue);
  }
  void all_join() const {
    for (std::uint32_t share = 0; share < 4; ++share) entry(share).share_joined = 1;
  }
  void look() { ingress_->take_stock(1); }
  void fill(std::uint32_t share, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) shares_.waiting[share].push_back(i * 0x010203);
  }
  std::uint32_t lane_of(std::uint32_t slot) const {
    return world_.segment.batch(slot).header->lane;
  }
  bool is_in_flight(std::uint32_t lane) const {
    return std::ranges::any_of(in_flight_,
                               [&](std::uint32_t slot) { return lane_of(slot) == lane; });
  }
  /// What has left so far, of one lane.
  void release_lane(std::uint32_t lane) {
    left();
    std::ranges::stable_partition(in_flight_,
                                  [&](std::uint32_t slot) { return lane_of(slot) == lane; });
    while (!in_flight_.empty() && lane_of(in_flight_.front()) == lane) release_one();
  }
  /// Packets of both lanes are under way.
  void put_both_lanes_in_flight() {
    fill(0, 12);
    rounds(5);
    left();
    ASSERT_TRUE(is_in_flight(0) && is_in_flight(1));
    ASSERT_EQ(context_.my_entry().in_hand, 0u);
  }
  /// Looks, as the run loop would, until so many were asked for.
  void look_until(const int& count, int asked) {
    const std::uint64_t start = monotonic_ns();
    while (count < asked && monotonic_ns() - start < 30'000'000'000) {
      look();
      rounds(1);
      ::usleep(5000);
    }
    EXPECT_EQ(count, asked);
  }

  test::FakeShares shares_;
};

TEST_F(IngressSharesTest, AQueueReadsWhatTheStatusFileSays) {
  EXPECT_EQ(IngressShares::read_by(context_, 0), 0b0101u);
  EXPECT_EQ(IngressShares::read_by(context_, 1), 0b1010u);
  EXPECT_EQ(IngressShares::read_by(context_, 2), 0u) << "it may come later";
  entry(2).share_reader = actor(3);
  EXPECT_EQ(IngressShares::read_by(context_, 0), 0b0001u);
  EXPECT_EQ(IngressShares::read_by(context_, 3), 0b0100u);
}

TEST_F(IngressSharesTest, NobodyAdmitsBeforeAllOfThePortsSharesHaveJoined) {
  EXPECT_EQ(entry(0).share_joined, 1u);
  EXPECT_EQ(entry(2).share_joined, 1u);
  EXPECT_EQ(entry(1).share_joined, 0u) << "another one reads it";
  look();
  entry(1).share_joined = 1;
  look();
  EXPECT_EQ(shares_.admits, 0);
  entry(3).share_joined = 1;
  look();
  look();
  EXPECT_EQ(shares_.admits, 1);
}

TEST_F(IngressSharesTest, AShareThatIsWantedElsewhereIsHeldAtOnceAndTheOthersAreReadOn) {
  fill(0, 20);
  fill(2, 20);
  want(2, 1);
  look();
  EXPECT_EQ(shares_.held, 0b0100u);
  rounds(5);
  EXPECT_EQ(shares_.waiting[2].size(), 20u);
  EXPECT_EQ(shares_.waiting[0].size(), 0u);
  EXPECT_EQ(rx_.next, 20u);
  EXPECT_EQ(shares_.leaves, 0) << "what was sealed by then has not left";
}

TEST_F(IngressSharesTest, AShareIsGivenAwayWhenTheLastBatchOfEveryLaneIsReleased) {
  for (const std::uint32_t last : {0u, 1u}) {
    shares_.leaves = 0;
    put_both_lanes_in_flight();
    want(2, 1);
    look();
    rounds(1);
    release_lane(1 - last);
    look();
    EXPECT_EQ(shares_.leaves, 0) << "a batch of lane " << last << " is under way";
    shares_.before_leave = [&](std::uint32_t share) { EXPECT_EQ(reader(share), actor(0)); };
    release_lane(last);
    look();
    EXPECT_EQ(shares_.here, 0b0001u);
    EXPECT_EQ(reader(2), actor(1));
    EXPECT_EQ(reader(0), actor(0));
    entry(2).share_reader = actor(0);  // and once more
    want(2, 0);
    look();
    EXPECT_EQ(shares_.here, 0b0101u);
  }
}

TEST_F(IngressSharesTest, WhatIsSealedLaterIsNotWaitedFor) {
  put_both_lanes_in_flight();
  want(2, 1);
  look();
  rounds(1);
  left();
  const std::size_t before = in_flight_.size();
  fill(0, 12);
  rounds(5);
  left();
  ASSERT_GT(in_flight_.size(), before);
  for (std::size_t i = 0; i < before; ++i) {
    look();
    EXPECT_EQ(shares_.leaves, 0);
    release_one();
  }
  ASSERT_FALSE(in_flight_.empty());
  look();
  EXPECT_EQ(reader(2), actor(1));
}

TEST_F(IngressSharesTest, WhatLiesInOpenBatchesIsSealedAtOnceAndWaitedFor) {
  put_both_lanes_in_flight();
  fill(2, 2);
  rounds(1);
  ASSERT_EQ(context_.my_entry().in_hand, 2u) << "it waits for more";
  want(2, 1);
  look();
  rounds(1);
  EXPECT_EQ(context_.my_entry().in_hand, 0u);
  const std::vector<Left> sealed = left();
  ASSERT_FALSE(sealed.empty());
  while (in_flight_.size() > sealed.size()) release_one();
  look();
  EXPECT_EQ(shares_.leaves, 0);
  release_all();
  look();
  EXPECT_EQ(reader(2), actor(1));
}

TEST_F(IngressSharesTest, WhatHasNoSlotYetIsWaitedForToo) {
  fill(2, 64);
  rounds(20);
  left();
  ASSERT_EQ(in_flight_.size(), 6u) << "all slots";
  ASSERT_GT(context_.my_entry().in_hand, 0u);
  want(2, 1);
  for (int i = 0; i < 100 && reader(2) == actor(0); ++i) {
    look();
    rounds(1);
    left();
    if (shares_.leaves == 0 && !in_flight_.empty()) release_one();
  }
  EXPECT_EQ(reader(2), actor(1));
  rounds(5);
  EXPECT_TRUE(in_flight_.empty());
  EXPECT_EQ(context_.my_entry().in_hand, 0u);
  EXPECT_EQ(rx_.next + shares_.waiting[2].size(), 64u);
}

TEST_F(IngressSharesTest, TheNextLifeGoesOnWithIt) {
  put_both_lanes_in_flight();
  want(2, 1);
  look();
  rounds(1);
  next_life();
  fill(2, 8);
  look();
  EXPECT_EQ(shares_.held, 0b0100u);
  rounds(2);
  look();
  EXPECT_EQ(shares_.leaves, 0) << "batches of the life before are under way";
  release_all();
  look();
  EXPECT_EQ(reader(2), actor(1));
  EXPECT_EQ(shares_.waiting[2].size(), 8u);
  next_life();
  look();
  EXPECT_EQ(shares_.here, 0b0001u);
  EXPECT_EQ(shares_.joins, 0);
}

TEST_F(IngressSharesTest, WhatComesAgainInTheNextLifeIsSealedBeforeAnythingIsHeld) {
  put_both_lanes_in_flight();
  want(2, 1);
  next_life();
  shares_.may_hold = false;  // packets of the life before are to come
  look();
  rounds(2);
  release_all();
  look();
  EXPECT_EQ(shares_.leaves, 0);
  fill(2, 2);  // one of them, as they are in the order in which they were read
  rounds(5);
  shares_.may_hold = true;
  look();
  rounds(1);
  left();
  ASSERT_FALSE(in_flight_.empty());
  look();
  EXPECT_EQ(shares_.leaves, 0);
  release_all();
  look();
  EXPECT_EQ(reader(2), actor(1));
}

TEST_F(IngressSharesTest, AWishThatIsWithdrawnLetsItBeReadOn) {
  put_both_lanes_in_flight();
  fill(2, 4);
  want(2, 1);
  look();
  rounds(1);
  want(2, 0);
  look();
  EXPECT_EQ(shares_.held, 0u);
  rounds(1);
  EXPECT_TRUE(shares_.waiting[2].empty());
  release_all();
  rounds(5);
  release_all();
  look();
  EXPECT_EQ(shares_.leaves, 0);
  EXPECT_EQ(reader(2), actor(0));
}

TEST_F(IngressSharesTest, AWishThatComesLaterWaitsForWhatWasReadMeanwhile) {
  put_both_lanes_in_flight();
  want(2, 1);
  look();
  rounds(1);
  fill(0, 12);
  rounds(5);
  want(0, 3);
  look();
  EXPECT_EQ(shares_.held, 0b0101u);
  while (in_flight_.size() != 1) {  // the last one was sealed between the wishes
    if (in_flight_.empty()) left();
    release_one();
    left();
  }
  rounds(1);
  look();
  EXPECT_EQ(reader(0), actor(0));
  release_all();
  look();
  EXPECT_EQ(reader(0), actor(3));
  EXPECT_EQ(reader(2), actor(1));
}

TEST_F(IngressSharesTest, TwoSharesGoToTwoReadersInOneGo) {
  want(0, 3);
  want(2, 1);
  look();
  EXPECT_EQ(shares_.held, 0b0101u);
  rounds(1);
  look();
  EXPECT_EQ(shares_.here, 0u);
  EXPECT_EQ(reader(0), actor(3));
  EXPECT_EQ(reader(2), actor(1));
  fill(0, 4);
  look();
  rounds(2);
  EXPECT_EQ(shares_.waiting[0].size(), 4u);
  EXPECT_EQ(shares_.leaves, 2);
}

TEST_F(IngressSharesTest, WhoMayNotLeaveTriesAgainASecondLater) {
  shares_.may_leave = false;
  want(0, 3);
  want(2, 1);
  const std::uint64_t before = monotonic_ns();
  look_until(shares_.leaves, 1);
  EXPECT_EQ(reader(0), actor(0));
  EXPECT_EQ(shares_.held, 0b0101u) << "it may have been left half";
  look_until(shares_.leaves, 2);
  EXPECT_GE(monotonic_ns() - before, 1'000'000'000u);
  shares_.may_leave = true;
  look_until(shares_.leaves, 4);
  EXPECT_EQ(reader(0), actor(3));
  EXPECT_EQ(reader(2), actor(1));
}

TEST_F(IngressSharesTest, WhoIsNamedAsReaderJoinsAndTriesAgainASecondLater) {
  shares_.may_join = false;
  fill(1, 4);
  want(1, 0);
  look();
  EXPECT_EQ(shares_.joins, 0) << "its reader has not left it";
  entry(1).share_reader = actor(0);
  const std::uint64_t before = monotonic_ns();
  look_until(shares_.joins, 1);
  EXPECT_EQ(shares_.waiting[1].size(), 4u);
  look_until(shares_.joins, 2);
  EXPECT_GE(monotonic_ns() - before, 1'000'000'000u);
  shares_.may_join = true;
  look_until(shares_.joins, 3);
  EXPECT_EQ(shares_.here, 0b0111u);
  rounds(1);
  EXPECT_TRUE(shares_.waiting[1].empty());
  look_until(shares_.joins, 3);
}

TEST_F(IngressSharesTest, WhoReadsAShareFromNowOnAdmitsItToo) {
  all_join();
  look();
  entry(1).share_reader = actor(0);
  look();
  look();
  look();
  EXPECT_EQ(shares_.here, 0b0111u);
  EXPECT_EQ(shares_.admits, 2) << "its reader may have gone before all had joined";
}

TEST_F(IngressSharesTest, AShareThatOneIsToGiveOnIsTakenFirst) {
  entry(1).share_reader = actor(0);
  want(1, 3);
  look();
  EXPECT_EQ(shares_.here, 0b0111u) << "only its reader gives it away";
  look();
  rounds(1);
  look();
  EXPECT_EQ(reader(1), actor(3));
}

TEST_F(IngressSharesTest, WhatLiesInAHeldShareDoesNotKeepItAwake) {
  rx_.descriptor = 7;
  EXPECT_EQ(ingress_->wait_descriptor(), -1) << "nothing comes before all have joined: it looks";
  all_join();
  look();
  EXPECT_EQ(ingress_->wait_descriptor(), 7);
  put_both_lanes_in_flight();
  want(2, 1);
  look();
  EXPECT_EQ(ingress_->wait_descriptor(), -1);
  rounds(1);
  release_all();
  look();
  EXPECT_EQ(ingress_->wait_descriptor(), 7);
}

TEST_F(IngressSharesTest, AStopEndsWhileAShareIsHeld) {
  put_both_lanes_in_flight();
  fill(2, 8);
  want(2, 1);
  look();
  ingress_->stop();
  rounds(2);
  EXPECT_FALSE(ingress_->finished());
  release_all();
  EXPECT_TRUE(ingress_->finished());
  EXPECT_EQ(shares_.waiting[2].size(), 8u);
}

}  // namespace
}  // namespace millrace
