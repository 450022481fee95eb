// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/loop/open_queues.hpp"

#include <gtest/gtest.h>

#include "io-worker/loop/loop_rx.hpp"
#include "io-worker/loop/loop_tx.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"
#include "tests/unit/support/loop_world.hpp"

namespace millrace {
namespace {

TEST(OpenQueues, ThoseOfALoopLieInTheSegment) {
  const test::SmallWorld world{test::kLoopTopology};
  const test::TestPool pool(4);
  const auto rx = open_rx(world.context("ingress.again.1"), 2, pool, false, "");
  EXPECT_NE(dynamic_cast<LoopRxQueue*>(rx.get()), nullptr);
  const auto tx = open_tx(world.context("egress.1"), 2, false, "");
  EXPECT_NE(dynamic_cast<LoopTxQueue*>(tx.get()), nullptr);
}

TEST(OpenQueues, OthersAreThoseOfTheirDevice) {
  const test::SmallWorld world{test::kLoopTopology};
  const test::TestPool pool(4);
  EXPECT_TRUE(open_rx(world.context("ingress.a.0"), 0, pool, false, "")->exhausted());
  EXPECT_EQ(open_tx(world.context("egress.1"), 1, false, "")->commits(), nullptr);
}

}  // namespace
}  // namespace millrace
