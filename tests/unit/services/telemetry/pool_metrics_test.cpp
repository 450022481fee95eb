// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "services/functions/nat/pool_notes.hpp"
#include "tests/unit/services/telemetry/watched_topology.hpp"

namespace millrace {
namespace {

using test::samples;
using test::WatchedTopology;

Plan plan_with(const std::string& type) {
  Plan plan = test::small_plan();
  plan.functions.push_back({.name = "edge",
                            .type = type,
                            .settings = {{"inside", "a"},
                                         {"pool", "203.0.113.0/30"},
                                         {"ports", "1024-1100"},
                                         {"max", "500"}},
                            .counter_count = kPoolCounterCount});
  return plan;
}

std::map<std::string, double> pool_metrics(const WatchedTopology& watched) {
  Families families;
  add_pools(watched.source(), families);
  return samples(families.take());
}

TEST(PoolMetrics, SayHowMuchOfAPoolIsInUse) {
  for (const char* type : {"nat", "nat64"}) {
    SCOPED_TRACE(type);
    const WatchedTopology watched(plan_with(type));
    const std::uint32_t first = function_counter_first(watched.plan, 2);
    const auto count = [&](std::uint32_t actor, PoolCounter counter, std::uint64_t times) {
      watched.status.function_counters(
          actor, first, kPoolCounterCount)[static_cast<std::size_t>(counter)] = times;
    };
    count(3, PoolCounter::kMappingsBegun, 100);
    count(4, PoolCounter::kMappingsBegun, 20);
    count(4, PoolCounter::kMappingsEnded, 50);
    count(3, PoolCounter::kBlocksTaken, 7);
    count(4, PoolCounter::kBlocksGivenBack, 2);
    EXPECT_EQ(pool_metrics(watched),
              (std::map<std::string, double>{{"millrace_nat_mappings{function=edge}", 70},
                                             {"millrace_nat_mappings_max{function=edge}", 500},
                                             {"millrace_nat_blocks{function=edge}", 5},
                                             {"millrace_nat_blocks_max{function=edge}", 8}}))
        << "ports 1024 to 1100 lie in two blocks of each of the four addresses";
  }
}

TEST(PoolMetrics, AreNeverBelowZeroAndOfFunctionsThatAreThere) {
  Plan plan = plan_with("nat");
  {
    const WatchedTopology watched(plan);
    const std::uint32_t first = function_counter_first(plan, 2);
    watched.status.function_counters(
        3, first, kPoolCounterCount)[static_cast<std::size_t>(PoolCounter::kMappingsEnded)] = 5;
    for (const auto& [name, value] : pool_metrics(watched)) EXPECT_GE(value, 0) << name;
  }
  plan.functions[2].gone = true;
  EXPECT_TRUE(pool_metrics(WatchedTopology(plan)).empty());
  EXPECT_TRUE(pool_metrics(WatchedTopology()).empty());
}

}  // namespace
}  // namespace millrace
