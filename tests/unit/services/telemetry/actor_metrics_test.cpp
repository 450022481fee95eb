// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "shared/metrics/counter_ids.hpp"
#include "tests/unit/services/telemetry/watched_topology.hpp"

namespace millrace {
namespace {

using test::samples;
using test::WatchedTopology;
using Samples = std::map<std::string, double>;

Samples counters_of(const WatchedTopology& watched) {
  Families families;
  add_actor_counters(watched.source(), families);
  return samples(families.take());
}

Samples roster_of(const WatchedTopology& watched) {
  Families families;
  add_roster(watched.source(), families);
  return samples(families.take());
}

TEST(ActorCounters, ComeInBaseUnitsWithTheActorsLabels) {
  const WatchedTopology watched(test::small_plan(), 2'000'000'000);
  watched.start(3);
  std::uint64_t* words = watched.status.counters(3);
  words[static_cast<std::size_t>(Counter::kPackets)] = 1234;
  words[static_cast<std::size_t>(Counter::kPacketsOut)] = 1230;
  words[static_cast<std::size_t>(Counter::kBusyCycles)] = 3'000'000'000;
  words[static_cast<std::size_t>(Counter::kLongestLoopNs)] = 2'500'000;
  const Samples found = counters_of(watched);
  const std::string labels = "{actor=front.0,group=front,worker=0}";
  EXPECT_EQ(found.at("millrace_packets_total{actor=front.0,group=front,worker=0,direction=in}"),
            1234);
  EXPECT_EQ(found.at("millrace_packets_total{actor=front.0,group=front,worker=0,direction=out}"),
            1230);
  EXPECT_EQ(found.at("millrace_busy_seconds_total" + labels), 1.5);
  EXPECT_EQ(found.at("millrace_longest_loop_seconds" + labels), 0.0025);
}

TEST(ActorCounters, AreThereForEveryActorThatRanAndNoOther) {
  const WatchedTopology watched;
  EXPECT_TRUE(counters_of(watched).empty());
  watched.start(2);
  watched.start(4, ActorState::kVacant);  // ran once
  const Samples found = counters_of(watched);
  EXPECT_EQ(found.count(
                "millrace_packets_total{actor=ingress.lan.0,group=ingress,worker=0,direction=in}"),
            1u);
  EXPECT_EQ(found.count("millrace_packets_total{actor=front.1,group=front,worker=1,direction=in}"),
            1u);
  EXPECT_EQ(found.count("millrace_packets_total{actor=front.0,group=front,worker=0,direction=in}"),
            0u);
}

TEST(ActorCounters, AreThereOnlyForTheKindsOfActorsThatHaveThem) {
  const WatchedTopology watched;
  for (std::uint32_t actor = 0; actor < watched.plan.actors.size(); ++actor) watched.start(actor);
  const Samples found = counters_of(watched);
  EXPECT_EQ(found.count("millrace_rx_polls_total{actor=ingress.lan.0,group=ingress,worker=0}"), 1u);
  EXPECT_EQ(found.count("millrace_rx_polls_total{actor=egress.0,group=egress,worker=0}"), 0u);
  EXPECT_EQ(found.count("millrace_packets_total{actor=hub,group=hub,worker=0,direction=in}"), 0u);
  EXPECT_EQ(found.count("millrace_gpu_in_flight_batches{actor=gpu.0.a,group=gpu,worker=0}"), 1u);
  EXPECT_EQ(found.count("millrace_pool_slots_free{stream=lan.0}"), 1u);
  EXPECT_EQ(found.count("millrace_pool_slots_free{stream=wan.3}"), 1u);
}

TEST(ActorCounters, AreLeftOutWhereThePortDoesNotKnow) {
  Plan plan = test::small_plan();
  plan.ports[1].device = "afpacket";
  const WatchedTopology watched(plan);
  watched.start(2);
  watched.start(8);
  const Samples found = counters_of(watched);
  const std::string name = "millrace_port_missed_packets_total";
  EXPECT_EQ(found.count(name + "{actor=ingress.lan.0,group=ingress,worker=0}"), 0u);
  EXPECT_EQ(found.count(name + "{actor=ingress.wan.3,group=ingress,worker=1}"), 1u);
}

TEST(ActorCounters, OfTheDeadGaugesAreLeftOutAndCountersStay) {
  const WatchedTopology watched;
  watched.start(7, ActorState::kFenced);
  const Samples found = counters_of(watched);
  EXPECT_EQ(
      found.count("millrace_packets_total{actor=egress.0,group=egress,worker=0,direction=in}"), 1u);
  EXPECT_EQ(found.count("millrace_window_batches{actor=egress.0,group=egress,worker=0}"), 0u);
}

TEST(ActorCounters, GiveTheAgeOfWhatBegan) {
  const WatchedTopology watched(test::small_plan(), measure_tsc_hz());
  watched.start(3);
  watched.start(7);
  watched.status.counters(7)[static_cast<std::size_t>(Counter::kOldestHole)] =
      tsc_now() - watched.status.header().tsc_hz * 60;
  const Samples found = counters_of(watched);
  const double age = found.at("millrace_oldest_hole_seconds{actor=egress.0,group=egress,worker=0}");
  EXPECT_GE(age, 60);
  EXPECT_LT(age, 80);
  EXPECT_EQ(found.at("millrace_oldest_hole_seconds{actor=front.0,group=front,worker=0}"), 0);
}

TEST(Roster, GivesTheLongestTurnOfTheLastSeconds) {
  const WatchedTopology watched(test::small_plan(), measure_tsc_hz());
  watched.start(3);
  PeakMark(watched.status.actor_tally(3).turn_ns).note(tsc_now(), 4'000'000);
  const Samples found = roster_of(watched);
  const std::string labels = "{actor=front.0,group=front,worker=0}";
  EXPECT_EQ(found.at("millrace_longest_loop_10s_seconds" + labels), 0.004);
  EXPECT_EQ(found.at("millrace_window_high_water_10s_batches" + labels), 0);
}

TEST(ActorCounters, AreLeftOutWhenTheirUnitIsNotKnown) {
  const WatchedTopology watched(test::small_plan(), 0);
  watched.start(3);
  const Samples found = counters_of(watched);
  EXPECT_EQ(found.count("millrace_busy_seconds_total{actor=front.0,group=front,worker=0}"), 0u);
  EXPECT_EQ(found.count("millrace_packets_total{actor=front.0,group=front,worker=0,direction=in}"),
            1u);
}

TEST(Roster, TellsWhoIsUpAndWhoNeverRan) {
  const WatchedTopology watched;
  watched.start(3);
  watched.start(5, ActorState::kDraining);
  watched.start(7, ActorState::kFenced);
  watched.status.actor_tally(3).build = 0x00c0ffee00c0ffee;
  const Samples found = roster_of(watched);
  EXPECT_EQ(found.at("millrace_up{actor=front.0,group=front,worker=0}"), 1);
  EXPECT_EQ(found.at("millrace_up{actor=gpu.0.a,group=gpu,worker=0}"), 1);
  EXPECT_EQ(found.at("millrace_up{actor=egress.0,group=egress,worker=0}"), 0);
  EXPECT_EQ(found.at("millrace_up{actor=hub,group=hub,worker=0}"), 0);
  EXPECT_EQ(found.count("millrace_up{actor=front.1,group=front,worker=1}"), 0u);
  EXPECT_EQ(found.at("millrace_workers{group=front,state=alive}"), 1);
  EXPECT_EQ(found.at("millrace_workers{group=front,state=vacant}"), 1);
  EXPECT_EQ(found.at("millrace_workers{group=egress,state=fenced}"), 1);
  EXPECT_EQ(found.at("millrace_worker_info{actor=ingress.lan.0,group=ingress,worker=0,"
                     "kind=ingress,core=3,node=none,build=none}"),
            1);
  EXPECT_EQ(found.at("millrace_worker_info{actor=front.0,group=front,worker=0,kind=classifier,"
                     "core=none,node=none,build=00c0ffee00c0ffee}"),
            1);
}

TEST(Roster, CountsRestartsOfAGpuWorkersOtherIncarnationBeforeItsFirstLife) {
  const WatchedTopology watched;
  const std::string restarts =
      "millrace_restarts_total{actor=gpu.0.b,group=gpu,worker=0,cause=crash}";
  EXPECT_EQ(roster_of(watched).count(restarts), 0u);
  watched.start(5);
  EXPECT_EQ(roster_of(watched).at(restarts), 0) << "a first sample of 1 is no increase";
  EXPECT_EQ(roster_of(watched).count("millrace_up{actor=gpu.0.b,group=gpu,worker=0}"), 0u);
}

TEST(Roster, GivesTheAgeOfAHeartbeatOnlyWhileThereIsOne) {
  const WatchedTopology watched(test::small_plan(), measure_tsc_hz());
  watched.start(3);
  watched.start(5, ActorState::kQuarantined);
  watched.start(7);
  ActorEntry& slow = watched.status.actor(7);
  slow.heartbeat_tsc = tsc_now() - watched.status.header().tsc_hz * 60;
  ActorEntry& ahead = watched.status.actor(2);
  watched.start(2);
  ahead.heartbeat_tsc = tsc_now() + watched.status.header().tsc_hz * 20;
  slow.crashes = 4;
  slow.hangs = 3;
  slow.was_asked = 2;
  slow.in_hand = 99;
  watched.status.actor(2).in_hand = 7;
  const Samples found = roster_of(watched);
  EXPECT_LT(found.at("millrace_heartbeat_age_seconds{actor=front.0,group=front,worker=0}"), 20);
  const double age =
      found.at("millrace_heartbeat_age_seconds{actor=egress.0,group=egress,worker=0}");
  EXPECT_GE(age, 60);
  EXPECT_LT(age, 80);
  EXPECT_EQ(found.at("millrace_heartbeat_age_seconds{actor=ingress.lan.0,group=ingress,worker=0}"),
            0);
  EXPECT_EQ(found.count("millrace_heartbeat_age_seconds{actor=gpu.0.a,group=gpu,worker=0}"), 0u);
  EXPECT_EQ(found.count("millrace_heartbeat_age_seconds{actor=hub,group=hub,worker=0}"), 0u);
  const std::string restarts = "millrace_restarts_total{actor=egress.0,group=egress,worker=0,";
  EXPECT_EQ(found.at(restarts + "cause=crash}"), 4);
  EXPECT_EQ(found.at(restarts + "cause=hang}"), 3);
  EXPECT_EQ(found.at(restarts + "cause=asked}"), 2);
  EXPECT_EQ(found.at("millrace_in_hand_packets{actor=ingress.lan.0,group=ingress,worker=0}"), 7);
  EXPECT_EQ(found.count("millrace_in_hand_packets{actor=egress.0,group=egress,worker=0}"), 0u)
      << "that is batches, millrace_window_batches";
}

TEST(Roster, LeavesOutAStateThatIsNone) {
  const WatchedTopology watched;
  watched.start(3);
  watched.status.actor(3).state = 77;
  EXPECT_EQ(roster_of(watched).count("millrace_up{actor=front.0,group=front,worker=0}"), 0u);
}

}  // namespace
}  // namespace millrace
