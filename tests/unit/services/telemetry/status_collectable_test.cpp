// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/status_collectable.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <set>
#include <vector>

#include "services/functions/flow/flow.hpp"
#include "services/functions/ids/signature_names.hpp"
#include "services/functions/image_file.hpp"
#include "services/functions/nat/pool_notes.hpp"
#include "services/telemetry/exporter.hpp"
#include "services/telemetry/families.hpp"
#include "shared/control/run_state.hpp"
#include "tests/unit/services/telemetry/fake_nvml.hpp"
#include "tests/unit/services/telemetry/scraping.hpp"
#include "tests/unit/services/telemetry/watched_topology.hpp"

namespace millrace {
namespace {

using test::WatchedTopology;

TEST(StatusCollectable, GivesEveryMetricThatIsDeclared) {
  Plan plan = test::small_plan();
  plan.ports[0] = {.name = "lan", .device = "dpdk"};
  plan.groups[1].spill = 16;  // it shares its batches
  plan.events = PlanEvents{};
  plan.functions.push_back({.name = "track",
                            .type = "flow",
                            .counter_count = static_cast<std::uint32_t>(FlowCounter::kCount)});
  plan.functions.push_back({.name = "edge",
                            .type = "nat",
                            .settings = {{"inside", "lan"}, {"pool", "203.0.113.1"}},
                            .counter_count = kPoolCounterCount});
  const test::TestFolder run_dir;
  plan.functions[1].type = "ids";  // whose counters have names
  plan.functions[1].image = run_dir.path("ids.image");
  write_signature_names(names_beside_image(plan.functions[1].image), std::vector<Signature>(1));
  const WatchedTopology watched(plan);
  watched.status.function_counters(3, function_counter_first(plan, 1), 1)[0] = 1;
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) watched.start(actor);
  watched.status.header().leader = test::leader_word(::getpid());
  watched.status.port(0).known = 1;
  watched.status.port(0).up = 1;
  watched.status.port(0).bytes_per_second = 1;
  watched.status.actor_tally(5).backend = static_cast<std::uint64_t>(Backend::kCuda);
  note_routes(run_dir.path(""), {{.function = "route", .prefixes = 1}});
  save_run_state(
      run_dir.path(""),
      {.wanted = {{"front", 1}},
       .tables = {{.function = "route", .accepted = 1}},
       .config = {
           .generation = 1, .hash = "0123", .bypass = false, .changed_ns = 1, .failed_ns = 1}});
  const StatusCollectable collectable(watched.plan, watched.status, run_dir.path(""),
                                      Nvml::load(test::make_nvml(run_dir, "-DINIT=0").c_str()));
  std::set<std::string> found;
  for (const auto& family : collectable.Collect()) {
    found.insert(family.name);
    EXPECT_FALSE(family.help.empty());
  }
  std::set<std::string> declared;
  for (const MetricInfo& one : kMetrics) declared.emplace(one.name);
  EXPECT_EQ(found, declared);
}

/// The largest topology there can be, and more: a hundred workers, each behind four ingresses.
Plan large_plan() {
  Plan plan = test::small_plan();
  plan.paths[0].lane_count = kLaneCountMax;
  while (plan.streams.size() < kStreamCountMax) plan.streams.push_back(plan.streams[0]);
  for (std::uint32_t i = 0; i < plan.streams.size(); ++i) plan.streams[i].queue = i;
  plan.groups[0].max = 100;
  for (std::uint32_t i = 2; i < 100; ++i) {
    const auto actor = static_cast<std::uint32_t>(plan.actors.size());
    plan.actors.push_back(
        {.name = "front." + std::to_string(i), .kind = ActorKind::kClassifier, .index = i});
    for (const std::uint32_t producer : {2u, 7u, 8u}) {
      plan.links.push_back({.producer = producer, .consumer = actor, .depth = 128});
    }
    plan.links.push_back({.producer = actor, .consumer = 7, .depth = 128});
  }
  return plan;
}

TEST(StatusCollectable, IsScrapedQuicklyWithAHundredWorkers) {
  const Plan plan = large_plan();
  const WatchedTopology watched(plan);
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) watched.start(actor);
  const test::TestFolder run_dir;
  const auto collectable = std::make_shared<StatusCollectable>(watched.plan, watched.status);
  Exporter exporter("127.0.0.1:0", run_dir.path(""));
  exporter.serve(collectable);
  auto quickest = std::chrono::nanoseconds::max();
  std::size_t lines = 0;
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const std::string answer = test::scrape(exporter.address());
    quickest =
        std::min<std::chrono::nanoseconds>(quickest, std::chrono::steady_clock::now() - start);
    lines = static_cast<std::size_t>(std::count(answer.begin(), answer.end(), '\n'));
  }
  const double seconds = std::chrono::duration<double>(quickest).count();
  std::cout << lines << " lines in " << seconds * 1e3 << " ms\n";
  EXPECT_GT(lines, 5000u);
  EXPECT_LT(seconds, 10 * 0.05);
}

}  // namespace
}  // namespace millrace
