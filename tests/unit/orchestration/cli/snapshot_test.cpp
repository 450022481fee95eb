// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/snapshot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"
#include "shared/layout/latency.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace::test {
namespace {

TEST(Snapshot, AddsUpTheLanesOfAStream) {
  SmallWorld world(kTwoPaths);
  Observed observed{.plan = world.plan, .mapping = {}, .status = world.status};
  for (std::uint32_t lane = 0; lane < 2; ++lane) {
    LaneLedger& ledger = world.status.ledger(0, lane);
    ledger.record[0].received = 10 + lane;
    ledger.record[0].dropped[3] = 1;
    ledger.record[0].consumed[4] = 2;
    ledger.record[0].generated[5] = 3;
    ledger.record[0].transmitted[1] = 2;
  }
  world.status.latency(1).count[7] = 5;
  world.status.actor(2).state = static_cast<std::uint32_t>(ActorState::kAlive);
  world.status.counters(2)[static_cast<std::size_t>(Counter::kPackets)] = 21;
  const Snapshot look = look_at(observed);
  EXPECT_EQ(look.streams[0].received, 21U);
  EXPECT_EQ(look.streams[0].dropped[3], 2U);
  EXPECT_EQ(look.streams[0].consumed[4], 4U);
  EXPECT_EQ(look.streams[0].generated[5], 6U);
  EXPECT_EQ(look.streams[0].transmitted[1], 4U);
  EXPECT_EQ(look.streams[1].received, 0U);
  EXPECT_EQ(look.latency[1][7], 5U);
  EXPECT_EQ(look.actors[2].state, ActorState::kAlive);
  EXPECT_EQ(look.actors[2].counter(Counter::kPackets), 21U);
}

TEST(Snapshot, LatencyIsOfWhatWasCountedBetween) {
  Snapshot::Buckets before{}, after{};
  before[latency_bucket(100)] = after[latency_bucket(100)] = 1000;
  EXPECT_EQ(latency_us(before, after, 0.5), 0);
  after[latency_bucket(2'000)] = 99;
  after[latency_bucket(1'000'000)] = 1;
  EXPECT_NEAR(latency_us(before, after, 0.5), 2, 0.13);
  EXPECT_NEAR(latency_us(before, after, 0.995), 1000, 63);
  EXPECT_NEAR(latency_us({}, after, 0.5), 0.1, 0.007);
}

TEST(Snapshot, ThePlanIsFollowedWhileItIsOfTheSameStart) {
  SmallWorld world(kTwoPaths);
  Observed observed{.plan = world.plan, .mapping = {}, .status = world.status};
  const std::string folder = testing::TempDir() + "snapshot-" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  Plan next = world.plan;
  next.reasons = {{.name = "odd"}};
  save_plan(next, plan_path(folder));
  follow_plan(observed, folder);
  ASSERT_EQ(observed.plan.reasons.size(), 1u);
  std::string other = kTwoPaths;
  other.replace(other.find("lanes: 4"), 8, "lanes: 3");
  save_plan(plan_of_text(other), plan_path(folder));
  follow_plan(observed, folder);
  EXPECT_EQ(observed.plan.reasons.size(), 1u) << "of another start";
  std::filesystem::remove_all(folder);
  follow_plan(observed, folder);
  EXPECT_EQ(observed.plan.reasons.size(), 1u) << "there is none";
}

TEST(Snapshot, OfNothingIsAnError) { EXPECT_THROW(observe("/nowhere/at/all"), Error); }

}  // namespace
}  // namespace millrace::test
