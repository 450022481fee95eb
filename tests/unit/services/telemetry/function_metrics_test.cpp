// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "tests/unit/services/telemetry/watched_topology.hpp"

namespace millrace {
namespace {

using test::samples;
using test::WatchedTopology;

TEST(FunctionMetrics, SumOverActorsAndBoundTheirSeries) {
  const WatchedTopology watched;
  watched.status.function_counters(3, 0, 3)[2] = 5;
  watched.status.skipped(2, 0, SkipReason::kUnavailable) = 7;
  watched.status.skipped(4, 0, SkipReason::kUnavailable) = 2;
  watched.status.skipped(2, 0, SkipReason::kOverload) = 1;  // it waits: not told
  watched.status.function_counters(4, 0, 3)[2] = 6;
  watched.status.function_counters(4, 0, 3)[0] = 1;
  watched.status.function_counters(5, function_counter_first(watched.plan, 1), 100)[99] = 7;
  Families families;
  add_functions(watched.source(), families);
  const auto found = samples(families.take());
  EXPECT_EQ(found.at("millrace_function_number_hits_total{function=route,number=2}"), 11);
  EXPECT_EQ(found.at("millrace_function_number_hits_total{function=route,number=1}"), 0);
  EXPECT_EQ(found.at("millrace_function_hits_total{function=route}"), 12);
  EXPECT_EQ(found.at("millrace_function_hits_total{function=ids}"), 7);
  EXPECT_EQ(
      found.at("millrace_function_skipped_packets_total{function=route,why=unavailable,fate=pass}"),
      9);
  // 100 counters are too many for a series each.
  EXPECT_EQ(found.count("millrace_function_number_hits_total{function=ids,number=99}"), 0u);
  EXPECT_EQ(found.count("millrace_function_skipped_packets_total{function=route,why=overload,"
                        "fate=wait}"),
            0u);
}

TEST(FunctionMetrics, NameTheCountersBehindTheRulesOfIds) {
  Plan plan = test::small_plan();
  plan.functions[1].type = "ids";
  const WatchedTopology watched(plan, 2'000'000'000);
  const std::uint32_t first = function_counter_first(watched.plan, 1);
  watched.status.function_counters(5, first, 100)[99] = 7;
  watched.status.function_counters(4, first, 100)[81] = 1;
  watched.status.function_counters(5, first, 100)[89] = 2;
  watched.status.function_counters(4, first, 100)[89] = 3;
  watched.status.function_counters(4, first, 100)[80] = 9;  // of a rule
  Families families;
  add_functions(watched.source(), families);
  const auto found = samples(families.take());
  EXPECT_EQ(found.at("millrace_function_named_hits_total{function=ids,counter=urgent}"), 7);
  EXPECT_EQ(found.at("millrace_function_named_hits_total{function=ids,counter=given_up}"), 5);
  EXPECT_EQ(found.at("millrace_function_named_hits_total{function=ids,counter=dropped_flow}"), 1);
  EXPECT_EQ(found.at("millrace_function_named_hits_total{function=ids,counter=clean}"), 0);
}

TEST(FunctionMetrics, GiveVerdictsAlertsClassesAndTime) {
  const WatchedTopology watched(test::small_plan(), 2'000'000'000);
  FunctionTally& one = watched.status.tally(3, 1);
  one = {.packets = 100, .dropped = 10, .alerts = 7, .timed_packets = 64, .timed_ticks = 4000};
  one.classed[0] = 99;  // it says nothing of that class
  one.classed[1] = 5;
  watched.status.tally(4, 1).packets = 1;
  Families families;
  add_functions(watched.source(), families);
  const auto found = samples(families.take());
  EXPECT_EQ(found.at("millrace_function_packets_total{function=ids,verdict=pass}"), 101);
  EXPECT_EQ(found.at("millrace_function_packets_total{function=ids,verdict=drop}"), 10);
  EXPECT_EQ(found.at("millrace_function_alerts_total{function=ids}"), 7);
  EXPECT_EQ(found.at("millrace_function_timed_packets_total{function=ids}"), 64);
  EXPECT_EQ(found.at("millrace_function_timed_seconds_total{function=ids}"), 2e-6);
  EXPECT_EQ(found.at("millrace_function_classified_packets_total{function=ids,class=voice}"), 5);
  EXPECT_EQ(found.count("millrace_function_classified_packets_total{function=ids,class=bulk}"), 0u);
}

TEST(FunctionMetrics, TellWhoDroppedByPathAndReason) {
  Plan plan = test::small_plan();
  plan.reasons = {{"odd", ReasonCause::kPacket, ""}, {"rule", ReasonCause::kPolicy, ""}};
  constexpr Reason kRule{kCoreReasonCount + 1};
  const WatchedTopology watched(plan);
  const auto drops = [&](std::uint32_t actor, Reason reason) -> std::uint64_t& {
    return watched.status.drops(actor, 0, 1).dropped[static_cast<std::size_t>(reason)];
  };
  drops(3, kRule) = 5;
  drops(7, kRule) = 6;
  drops(3, Reason::kUnavailable) = 2;
  drops(7, Reason::kWorkerLost) = 1;  // of an edition that is not known any more
  Families families;
  add_functions(watched.source(), families);
  const auto found = samples(families.take());
  const std::string ids = "millrace_function_drops_total{function=ids,group=gpu,path=rest,reason=";
  EXPECT_EQ(found.at(ids + "rule}"), 11);
  EXPECT_EQ(found.at(ids + "unavailable}"), 2);
  EXPECT_EQ(found.at(ids + "odd}"), 0);
  EXPECT_EQ(found.at(ids + "worker_lost}"), 1);
  EXPECT_EQ(found.at(ids + "malformed}"), 0);
  EXPECT_EQ(found.count(ids + "tx_full}"), 0u);
  EXPECT_EQ(found.at("millrace_function_drops_total{function=route,group=front,path=rest,"
                     "reason=rule}"),
            0);
}

TEST(FunctionMetrics, SayWhichIsOutOfService) {
  const WatchedTopology watched;
  watched.status.header().functions_out = 2;
  Families families;
  add_functions(watched.source(), families);
  const auto found = samples(families.take());
  EXPECT_EQ(found.at("millrace_function_out{function=route}"), 0);
  EXPECT_EQ(found.at("millrace_function_out{function=ids}"), 1);
}

TEST(FunctionMetrics, GiveWhatTheBuildersSaid) {
  Families families;
  add_tables({{.function = "route", .generation = 3, .accepted = 12, .refused = 1}}, families);
  const auto found = samples(families.take());
  EXPECT_EQ(found.at("millrace_function_rules{function=route,state=loaded}"), 12);
  EXPECT_EQ(found.at("millrace_function_rules{function=route,state=refused}"), 1);
  EXPECT_EQ(found.at("millrace_function_table_generation{function=route}"), 3);
}

TEST(FunctionMetrics, GiveHowTheKernelsRoutesAreFollowed) {
  Families families;
  add_routes({{"way", 12, 40, 2, 1}}, families);
  const auto found = samples(families.take());
  EXPECT_EQ(found.at("millrace_routes{function=way}"), 12);
  EXPECT_EQ(found.at("millrace_route_changes_total{function=way}"), 40);
  EXPECT_EQ(found.at("millrace_route_dumps_total{function=way}"), 2);
  EXPECT_EQ(found.at("millrace_route_overruns_total{function=way}"), 1);
}

}  // namespace
}  // namespace millrace
