// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/io-worker/ingress/ingress_fixture.hpp"

namespace millrace {
namespace {

/// Batches of 8; the path may use 4 of the 16 slots.
class IngressRefuseTest : public test::IngressFixture {
 public:
  ~IngressRefuseTest() override { ingress_.reset(); }

 protected:
  IngressRefuseTest() : IngressFixture(test::ingress_topology(2, 16)) {
    plan_ = world_.plan;
    plan_.streams[0].paths[0].slots_max = 4;
    context_.plan = &plan_;
    begin_life();
  }
  RefusedLedger& ledger(std::uint32_t lane) const {
    return world_.status.ingress_lane(0, lane).refused;
  }
  std::uint64_t refused() const {
    return ledger(0).complete().packets + ledger(1).complete().packets;
  }
  std::uint64_t received() const {
    return world_.status.ingress_lane(0, 0).received + world_.status.ingress_lane(0, 1).received;
  }
  /// 8 packets of flow 0, whose lane is one of the two.
  void offer_batches(std::uint32_t count) { rx_.offer(8 * count); }

  Plan plan_;
};

TEST_F(IngressRefuseTest, WhatThePathHasNoSlotsForIsCountedAndItsBuffersAreBack) {
  offer_batches(4);
  rounds(1);
  EXPECT_EQ(left().size(), 4u);
  EXPECT_EQ(refused(), 0u);
  for (int i = 0; i < 200; ++i) {  // more packets than there are buffers
    offer_batches(4);
    rounds(1);
  }
  EXPECT_TRUE(left().empty());
  EXPECT_EQ(refused(), 200u * 32);
  EXPECT_EQ(received(), 32u);
  EXPECT_EQ(ledger(0).complete().bytes + ledger(1).complete().bytes,
            200u * 32 * test::FakeRx::kBytes);
  EXPECT_EQ(world_.entry("ingress.a.0").in_hand, 0u);
}

TEST_F(IngressRefuseTest, ItTakesPacketsAgainAsSoonAsSlotsAreBack) {
  offer_batches(6);
  rounds(1);
  EXPECT_EQ(left().size(), 4u);
  EXPECT_EQ(refused(), 16u);
  release_one();
  offer_batches(2);
  rounds(1);
  const auto batches = left();
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].sequence, 5u) << "what was refused has no number";
  EXPECT_EQ(batches[0].received_total, 40u);
  EXPECT_EQ(ordinals_of(batches).front(), 48u);
  EXPECT_EQ(refused(), 24u);
}

TEST_F(IngressRefuseTest, ANextLifeReadsNeitherWhatWasSealedNorWhatWasRefusedAgain) {
  offer_batches(6);
  rounds(1);
  left();
  world_.entry("ingress.a.0").resume_position = 30;  // it had not told more when it died
  begin_life();
  EXPECT_EQ(rx_.resumed, 30u);
  rounds(1);
  EXPECT_EQ(refused(), 16u) << "counted once";
  EXPECT_TRUE(left().empty());
  offer_batches(1);
  rounds(1);
  EXPECT_EQ(refused(), 24u) << "the four slots of the life before are known";
  release_all();
  rounds(1);
  offer_batches(1);
  rounds(1);
  EXPECT_EQ(ordinals_of(left()).front(), 56u);
}

TEST_F(IngressRefuseTest, WhatWasBeingWrittenWhenItDiedWasNotRefused) {
  offer_batches(6);
  rounds(1);
  left();
  for (std::uint32_t lane = 0; lane < 2; ++lane) {
    RefusedRecord& half = ledger(lane).record[(ledger(lane).flips + 1) & 1];
    half.packets = 1000;
    half.position = 1000;
  }
  begin_life();
  EXPECT_EQ(refused(), 16u);
  offer_batches(1);
  rounds(1);
  EXPECT_EQ(refused(), 24u) << "read, and counted from the complete record on";
}

/// Two paths on one port; the second may use 2 slots.
class IngressTwoPathsTest : public test::IngressFixture {
 public:
  ~IngressTwoPathsTest() override { ingress_.reset(); }

 protected:
  IngressTwoPathsTest()
      : IngressFixture(
            "millrace: 1\nname: in\nbatch: { capacity: 8 }\n"
            "ports: { a: { device: \"null\" }, b: { device: \"null\" } }\n"
            "paths:\n"
            "  small: { from: [a], match: \"ether dst 01:00:00:00:00:00\", run: [] }\n"
            "  large: { from: [a], run: [], slots: 8 }\n") {
    plan_ = world_.plan;
    plan_.streams[0].paths[1].slots_max = 2;
    context_.plan = &plan_;
    begin_life();
  }

  Plan plan_;
};

TEST_F(IngressTwoPathsTest, APathThatIsFullDoesNotHoldUpTheOther) {
  for (int i = 0; i < 5; ++i) {
    rx_.offer(24, 0);
    rx_.offer(8, 1);
  }
  rounds(5);
  std::map<std::uint32_t, int> batches;
  for (const Left& batch : left()) ++batches[batch.lane];
  EXPECT_EQ(batches, (std::map<std::uint32_t, int>{{0, 5}, {1, 2}}));
  EXPECT_EQ(world_.status.ingress_lane(0, 1).refused.complete().packets, 5u * 24 - 16);
  EXPECT_EQ(world_.status.ingress_lane(0, 0).refused.complete().packets, 0u);
}

}  // namespace
}  // namespace millrace
