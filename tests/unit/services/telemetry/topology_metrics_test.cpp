// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "tests/unit/services/telemetry/watched_topology.hpp"

namespace millrace {
namespace {

using test::leader_word;
using test::samples;
using test::WatchedTopology;

TEST(TopologyMetrics, SayThatADeadLeaderLeadsNoMore) {
  const WatchedTopology watched;
  const std::uint64_t words[] = {0, leader_word(::getpid()) + (std::uint64_t{1} << 24),
                                 leader_word(::getpid())};
  double sum = 0;
  for (const std::uint64_t word : words) {
    watched.status.header().leader = word;  // none; an earlier process of this pid; this one
    Families families;
    add_topology(watched.source(), "1.2.3", families);
    sum += samples(families.take()).at("millrace_leader{}");
    EXPECT_EQ(sum, word == words[2] ? 1 : 0);
  }
}

TEST(TopologyMetrics, TellWhatRecoveryDid) {
  const WatchedTopology watched;
  StatusHeader& header = watched.status.header();
  header.leader = leader_word(::getpid());
  header.recoveries = 1;
  header.quarantined_slots = 2;
  header.lane_states_discarded = 3;
  header.batches_worker_lost = 4;
  header.batches_handed_on = 5;
  header.batches_redone = 6;
  header.control_refused = 7;
  Families families;
  add_topology(watched.source(), "1.2.3", families);
  const auto found = samples(families.take());
  EXPECT_EQ(found.at("millrace_build_info{version=1.2.3}"), 1);
  EXPECT_EQ(found.at("millrace_topology_info{topology=watched}"), 1);
  EXPECT_EQ(found.at("millrace_leader{}"), 1);
  EXPECT_EQ(found.at("millrace_recoveries_total{}"), 1);
  EXPECT_EQ(found.at("millrace_quarantined_slots{}"), 2);
  EXPECT_EQ(found.at("millrace_recovery_lane_states_discarded_total{}"), 3);
  EXPECT_EQ(found.at("millrace_recovery_batches_lost_total{}"), 4);
  EXPECT_EQ(found.at("millrace_recovery_batches_handed_on_total{}"), 5);
  EXPECT_EQ(found.at("millrace_recovery_batches_redone_total{}"), 6);
  EXPECT_EQ(found.at("millrace_control_refused_messages_total{server=leader}"), 7);
  EXPECT_NEAR(found.at("millrace_created_timestamp_seconds{}"),
              static_cast<double>(system_clock_ns()) / 1e9, 60);
}

TEST(TopologyMetrics, TellOfNeighboursWhileSomebodyCountsThem) {
  const WatchedTopology watched;
  StatusHeader& header = watched.status.header();
  header.neighbours[0] = 5;
  header.neighbours[4] = 6;
  header.neighbours_evicted = 7;
  header.neighbours_refused = 8;
  const auto collected = [&] {
    Families families;
    add_topology(watched.source(), "1.2.3", families);
    return samples(families.take());
  };
  EXPECT_FALSE(collected().contains("millrace_neighbours{state=reachable}")) << "nobody leads";
  header.leader = leader_word(::getpid());
  const auto found = collected();
  EXPECT_EQ(found.at("millrace_neighbours{state=reachable}"), 5);
  EXPECT_EQ(found.at("millrace_neighbours{state=stale}"), 0);
  EXPECT_EQ(found.at("millrace_neighbours{state=failed}"), 6);
  EXPECT_EQ(found.at("millrace_neighbour_room{}"), watched.plan.neighbour_count);
  EXPECT_EQ(found.at("millrace_neighbours_evicted_total{}"), 7);
  EXPECT_EQ(found.at("millrace_neighbours_refused_total{}"), 8);
}

std::map<std::string, double> config_metrics(const ConfigFacts& facts) {
  Families families;
  add_config(facts, families);
  return samples(families.take());
}

TEST(TopologyMetrics, TellWhichConfigurationIsInUse) {
  const auto found = config_metrics({4, "abc", true, 5, 6, 7, false, 8'000'000'000, 9'000'000'000});
  EXPECT_EQ(found.at("millrace_config_generation{}"), 4);
  EXPECT_EQ(found.at("millrace_config_info{hash=abc}"), 1);
  EXPECT_EQ(found.at("millrace_config_differs{}"), 1);
  EXPECT_EQ(found.at("millrace_reloads_total{result=done}"), 5);
  EXPECT_EQ(found.at("millrace_reloads_total{result=refused}"), 6);
  EXPECT_EQ(found.at("millrace_control_refused_messages_total{server=supervisor}"), 7);
  EXPECT_EQ(found.at("millrace_config_changed_timestamp_seconds{}"), 8);
  EXPECT_EQ(found.at("millrace_reload_failed_timestamp_seconds{}"), 9);
  EXPECT_TRUE(config_metrics({}).empty()) << "nobody has said";
  EXPECT_FALSE(
      config_metrics({.generation = 1}).contains("millrace_reload_failed_timestamp_seconds{}"));
}

TEST(TopologyMetrics, TellOfABypassWhereThereIsOne) {
  EXPECT_EQ(config_metrics({.generation = 1, .bypass = false}).at("millrace_bypass_active{}"), 0);
  EXPECT_EQ(config_metrics({.generation = 1, .bypass = true}).at("millrace_bypass_active{}"), 1);
  EXPECT_FALSE(config_metrics({.generation = 1}).contains("millrace_bypass_active{}"));
}

TEST(TopologyMetrics, OfEventsSayWhatWasToldAndWhatBecameOfIt) {
  Plan plan = test::small_plan();
  plan.events = PlanEvents{};
  plan.events->ipfix = PlanIpfix{};
  const WatchedTopology watched(plan);
  watched.start(3);
  watched.start(7);
  const EventRings rings = watched.status.events();
  ASSERT_EQ(rings.count(), 3u) << "two workers and an egress";
  rings.ring(0).lines = 100;
  rings.ring(0).lost = 5;
  rings.ring(1).lost = 2;  // of one that has left
  rings.ring(2).lines = 7;
  EventSink& sink = rings.sink();
  sink.file_written = 90;
  sink.file_lost = 10;
  sink.client_written = 180;
  sink.client_lost = 11;
  sink.clients_cut = 1;
  sink.ipfix_sent = 40;
  sink.ipfix_lost = 4;
  sink.clients = 2;
  Families families;
  add_events(watched.source(), families);
  EXPECT_EQ(samples(families.take()),
            (std::map<std::string, double>{{"millrace_events_emitted_total{actor=front.0}", 105},
                                           {"millrace_events_emitted_total{actor=egress.0}", 7},
                                           {"millrace_events_lost_total{cause=ring}", 7},
                                           {"millrace_events_lost_total{cause=file}", 10},
                                           {"millrace_events_lost_total{cause=client}", 11},
                                           {"millrace_events_lost_total{cause=collector}", 4},
                                           {"millrace_events_written_total{sink=ipfix}", 40},
                                           {"millrace_events_written_total{sink=file}", 90},
                                           {"millrace_events_written_total{sink=socket}", 180},
                                           {"millrace_events_clients{}", 2},
                                           {"millrace_events_clients_cut_total{}", 1}}));
}

TEST(TopologyMetrics, OfEventsAreLeftOutWithoutAny) {
  const WatchedTopology watched;
  Families families;
  add_events(watched.source(), families);
  EXPECT_TRUE(families.take().empty());
}

}  // namespace
}  // namespace millrace
