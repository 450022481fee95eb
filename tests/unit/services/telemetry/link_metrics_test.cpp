// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "tests/unit/services/telemetry/watched_topology.hpp"

namespace millrace {
namespace {

using test::samples;
using test::WatchedTopology;

TEST(LinkMetrics, TellDepthAndHighWaterOfLinksThatAreInUse) {
  const WatchedTopology watched(test::small_plan(), measure_tsc_hz());
  for (const std::uint32_t actor : {0u, 2u, 3u}) watched.start(actor);
  watched.start(5, ActorState::kReclaiming);
  watched.status.link(0).depth = 9;
  PeakMark(watched.status.link(0).high).note(tsc_now(), 40);
  Families families;
  add_links(watched.source(), families);
  const auto found = samples(families.take());
  const std::string first = "{producer=ingress.lan.0,consumer=front.0}";
  EXPECT_EQ(found.at("millrace_link_depth_batches" + first), 9);
  EXPECT_EQ(found.at("millrace_link_high_water_10s_batches" + first), 40);
  EXPECT_EQ(found.at("millrace_link_capacity_batches" + first), 64);  // the stream's slots
  EXPECT_EQ(found.size(), 3u);  // not the hub's, nor those to a spare and to one that is gone
}

TEST(LinkMetrics, KeepTheLinkOfADeadProducerWhileSomethingIsInIt) {
  const WatchedTopology watched;
  watched.start(2, ActorState::kVacant);
  watched.start(3);
  for (const std::uint64_t depth : {2u, 0u}) {
    watched.status.link(0).depth = depth;
    Families families;
    add_links(watched.source(), families);
    EXPECT_EQ(samples(families.take()).size(), depth == 0 ? 0u : 3u);
  }
}

}  // namespace
}  // namespace millrace
