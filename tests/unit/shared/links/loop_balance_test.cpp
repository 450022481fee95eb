// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/links/loop_balance.hpp"

#include <gtest/gtest.h>

#include "shared/links/ledger.hpp"
#include "tests/unit/support/loop_world.hpp"

namespace millrace {
namespace {

class LoopBalanceTest : public ::testing::Test {
 protected:
  void sends(std::uint32_t stream, std::uint32_t lane, std::uint32_t port, std::uint64_t packets) {
    LaneLedger& ledger = world_.status.ledger(stream, lane);
    begin_amendment(ledger).transmitted[port] += packets;
    publish(ledger);
  }
  const test::SmallWorld world_{test::kLoopTopology};
};

TEST_F(LoopBalanceTest, IsWhatAllLanesHaveSentThereAndItsStreamsHaveReceived) {
  EXPECT_EQ(packets_in_loops(world_.plan, world_.status), 0u);
  sends(0, 0, 2, 10);
  sends(0, 0, 1, 100);
  sends(1, 2, 2, 3);
  world_.status.ingress_lane(0, 0).received = 50;
  world_.status.ingress_lane(1, 1).received = 4;
  world_.status.ingress_lane(2, 2).received = 2;
  world_.status.ingress_lane(2, 1).refused.add(1, 60, 1);
  const LoopBalance balance = loop_balance(world_.plan, world_.status, 2);
  EXPECT_EQ(balance.sent, 13u);
  EXPECT_EQ(balance.received, 7u);
  EXPECT_EQ(balance.under_way(), 6u);
  EXPECT_EQ(packets_in_loops(world_.plan, world_.status), 6u);
}

TEST_F(LoopBalanceTest, WhatWasBornThereIsOfThemToo) {
  world_.entry("ingress.again.0").made = 5;
  world_.status.ingress_lane(1, 1).received = 4;
  EXPECT_EQ(packets_in_loops(world_.plan, world_.status), 1u);
}

TEST_F(LoopBalanceTest, IsNeverLessThanNothing) {
  world_.status.ingress_lane(1, 1).received = 4;
  EXPECT_EQ(loop_balance(world_.plan, world_.status, 2).under_way(), 0u);
}

}  // namespace
}  // namespace millrace
