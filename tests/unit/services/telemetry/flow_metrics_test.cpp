// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "services/functions/flow/flow.hpp"
#include "tests/unit/services/telemetry/watched_topology.hpp"

namespace millrace {
namespace {

using test::samples;
using test::WatchedTopology;

constexpr auto kCounters = static_cast<std::uint32_t>(FlowCounter::kCount);

Plan plan_that_tracks() {
  Plan plan = test::small_plan();
  plan.functions.push_back(
      {.name = "track", .type = "flow", .settings = {{"max", "5000"}}, .counter_count = kCounters});
  return plan;
}

std::map<std::string, double> flow_metrics(const WatchedTopology& watched) {
  Families families;
  add_flows(watched.source(), families);
  return samples(families.take());
}

TEST(FlowMetrics, SayWhatIsThereAndWhatBecameOfTheRest) {
  const WatchedTopology watched(plan_that_tracks());
  const std::uint32_t first = function_counter_first(watched.plan, 2);
  const auto count = [&](std::uint32_t actor, FlowCounter counter, std::uint64_t times) {
    watched.status.function_counters(actor, first, kCounters)[static_cast<std::size_t>(counter)] =
        times;
  };
  count(3, FlowCounter::kBegun, 100);
  count(4, FlowCounter::kBegun, 20);
  count(4, FlowCounter::kEnded, 50);
  count(3, FlowCounter::kEstablished, 60);
  count(3, FlowCounter::kEstablishedEnded, 15);
  count(3, FlowCounter::kExpired, 30);
  count(3, FlowCounter::kGivenUp, 12);
  count(3, FlowCounter::kTableFull, 3);
  count(3, FlowCounter::kUntracked, 1);
  count(3, FlowCounter::kInvalid, 2);
  count(3, FlowCounter::kNew, 130);
  count(3, FlowCounter::kEstablishedPackets, 1000);
  count(4, FlowCounter::kRelated, 4);
  EXPECT_EQ(flow_metrics(watched),
            (std::map<std::string, double>{
                {"millrace_flows{function=track,state=established}", 45},
                {"millrace_flows{function=track,state=opening}", 25},
                {"millrace_flows_max{function=track}", 5000},
                {"millrace_flows_begun_total{function=track}", 120},
                {"millrace_flows_ended_total{function=track,cause=expired}", 30},
                {"millrace_flows_ended_total{function=track,cause=evicted}", 12},
                {"millrace_flows_ended_total{function=track,cause=closed}", 8},
                {"millrace_flows_refused_total{function=track}", 3},
                {"millrace_flow_packets_total{function=track,state=untracked}", 1},
                {"millrace_flow_packets_total{function=track,state=invalid}", 2},
                {"millrace_flow_packets_total{function=track,state=new}", 130},
                {"millrace_flow_packets_total{function=track,state=established}", 1000},
                {"millrace_flow_packets_total{function=track,state=related}", 4}}));
}

TEST(FlowMetrics, AreNeverBelowZeroAndOfFunctionsThatAreThere) {
  Plan plan = plan_that_tracks();
  {
    const WatchedTopology watched(plan);
    const std::uint32_t first = function_counter_first(plan, 2);
    const auto words = watched.status.function_counters(3, first, kCounters);
    words[static_cast<std::size_t>(FlowCounter::kEnded)] = 5;
    words[static_cast<std::size_t>(FlowCounter::kExpired)] = 6;
    words[static_cast<std::size_t>(FlowCounter::kEstablished)] = 7;
    for (const auto& [name, value] : flow_metrics(watched)) EXPECT_GE(value, 0) << name;
  }
  plan.functions[2].gone = true;
  EXPECT_TRUE(flow_metrics(WatchedTopology(plan)).empty());
  EXPECT_TRUE(flow_metrics(WatchedTopology()).empty());
}

}  // namespace
}  // namespace millrace
