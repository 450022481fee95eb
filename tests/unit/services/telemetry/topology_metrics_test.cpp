// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "tests/unit/services/telemetry/watched_topology.hpp"

namespace millrace {
namespace {

using test::samples;
using test::WatchedTopology;

TEST(TopologyMetrics, TellWhatRecoveryDid) {
  const WatchedTopology watched;
  StatusHeader& header = watched.status.header();
  header.leader = 5;
  header.recoveries = 1;
  header.quarantined_slots = 2;
  header.lane_states_discarded = 3;
  header.batches_worker_lost = 4;
  header.batches_handed_on = 5;
  header.batches_redone = 6;
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
  EXPECT_NEAR(found.at("millrace_created_timestamp_seconds{}"),
              static_cast<double>(system_clock_ns()) / 1e9, 60);
}

}  // namespace
}  // namespace millrace
