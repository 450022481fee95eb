// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "shared/layout/latency.hpp"
#include "tests/unit/services/telemetry/watched_topology.hpp"

namespace millrace {
namespace {

using test::samples;
using test::WatchedTopology;

TEST(StageMetrics, SumTheActorsOfEachStep) {
  const WatchedTopology watched;
  for (std::uint32_t actor = 0; actor < watched.plan.actors.size(); ++actor) watched.start(actor);
  const StatusView& status = watched.status;
  const auto put = [](LatencyHistogram& histogram, int times) {
    for (int i = 0; i < times; ++i) note_duration(histogram, 5000);
  };
  put(status.stage_latency(3, 0), 1);
  put(status.stage_latency(4, 0), 2);
  put(status.stage_latency(7, 1), 4);  // the egress accepts completions
  put(status.stage_latency(3, 1), 8);  // a stand-in
  put(status.stage_latency(5, 1), 16);
  put(status.port_latency(2, 0), 32);
  put(status.port_latency(8, 0), 64);
  put(status.port_latency(7, 0), 128);
  Families families;
  add_stages(watched.source(), families);
  const auto found = samples(families.take());
  const std::string name = "millrace_stage_latency_seconds";
  EXPECT_EQ(found.at(name + "{path=rest,stage=route,group=front}"), 3);
  EXPECT_EQ(found.at(name + "{path=rest,stage=ids,group=gpu}"), 12);
  EXPECT_EQ(found.at(name + "{path=rest,stage=ingress,group=ingress}"), 96);
  EXPECT_EQ(found.at(name + "{path=rest,stage=egress,group=egress}"), 128);
  EXPECT_EQ(found.at("millrace_gpu_handover_seconds{actor=gpu.0.a,group=gpu,worker=0}"), 16);
}

}  // namespace
}  // namespace millrace
