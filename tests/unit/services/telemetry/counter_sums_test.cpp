// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/counter_sums.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/telemetry/watched_topology.hpp"

namespace millrace {
namespace {

enum class Counter : std::uint8_t { kBegun, kEnded, kCount };

TEST(CounterSums, AreOfAllActorsAndWhatIsLeftIsNeverBelowZero) {
  Plan plan = test::small_plan();
  plan.functions.push_back({.name = "counts", .type = "any", .counter_count = 2});
  const test::WatchedTopology watched(plan);
  const std::uint32_t first = function_counter_first(watched.plan, 2);
  const auto of = [&](std::uint32_t actor) {
    return watched.status.function_counters(actor, first, 2);
  };
  of(3)[0] = 5;
  of(4)[0] = 2;
  of(4)[1] = 3;
  const CounterSums<Counter> sums(watched.source(), 2);
  EXPECT_EQ(sums.of(Counter::kBegun), 7);
  EXPECT_EQ(sums.left(Counter::kBegun, Counter::kEnded), 4);
  EXPECT_EQ(sums.left(Counter::kEnded, Counter::kBegun), 0);
}

}  // namespace
}  // namespace millrace
