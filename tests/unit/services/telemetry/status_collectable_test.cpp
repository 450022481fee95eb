// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/status_collectable.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>

#include "services/telemetry/families.hpp"
#include "tests/unit/services/telemetry/watched_topology.hpp"

namespace millrace {
namespace {

using test::WatchedTopology;

TEST(StatusCollectable, GivesEveryMetricThatIsDeclared) {
  const WatchedTopology watched;
  for (std::uint32_t actor = 0; actor < watched.plan.actors.size(); ++actor) watched.start(actor);
  std::set<std::string> found;
  for (const auto& family : StatusCollectable(watched.plan, watched.status).Collect()) {
    found.insert(family.name);
    EXPECT_FALSE(family.help.empty());
  }
  for (const MetricInfo& declared : kMetrics) {
    EXPECT_EQ(found.count(std::string(declared.name)), 1u) << declared.name;
  }
  EXPECT_EQ(found.size(), std::size(kMetrics));
}

TEST(StatusCollectable, IsQuickForTheLargestTopology) {
  Plan plan = test::small_plan();
  plan.paths[0].lane_count = kLaneCountMax;
  while (plan.streams.size() < kStreamCountMax) plan.streams.push_back(plan.streams[0]);
  for (std::uint32_t i = 0; i < plan.streams.size(); ++i) plan.streams[i].queue = i;
  while (plan.actors.size() < kActorCountMax) {
    plan.actors.push_back({.name = "front." + std::to_string(plan.actors.size()),
                           .kind = ActorKind::kClassifier,
                           .index = static_cast<std::uint32_t>(plan.actors.size())});
  }
  const WatchedTopology watched(plan);
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) watched.start(actor);
  const StatusCollectable collectable(watched.plan, watched.status);
  auto quickest = std::chrono::nanoseconds::max();
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_GT(collectable.Collect().size(), 40u);
    quickest =
        std::min<std::chrono::nanoseconds>(quickest, std::chrono::steady_clock::now() - start);
  }
  EXPECT_LT(std::chrono::duration<double>(quickest).count(), 0.05);
}

}  // namespace
}  // namespace millrace
