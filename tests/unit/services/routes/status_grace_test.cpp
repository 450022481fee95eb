// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/routes/status_grace.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

/// All readers begin a turn at `tsc`.
void begin_turn(test::SmallWorld& world, std::uint64_t tsc) {
  for (std::uint32_t actor = 0; actor < world.plan.actors.size(); ++actor) {
    world.status.actor(actor).heartbeat_tsc.store(tsc);
  }
}

TEST(StatusGrace, PassesWhenEveryWorkerAndEgressHasBegunATurnOrIsGone) {
  test::SmallWorld world;
  StatusGrace grace(world.plan, world.status);
  ActorEntry& worker = world.status.actor(world.actor("front.0"));
  ActorEntry& egress = world.status.actor(world.actor("egress.0"));
  ActorEntry& ingress = world.status.actor(world.actor("ingress.a.0"));
  begin_turn(world, 1);
  for (ActorEntry* const entry : {&worker, &egress, &ingress}) {
    entry->state.store(static_cast<std::uint32_t>(ActorState::kAlive));
  }
  const std::uint64_t moment = grace.now();
  EXPECT_FALSE(grace.passed(moment));
  const std::uint64_t later = moment + world.status.header().tsc_hz;
  worker.heartbeat_tsc.store(later);
  EXPECT_FALSE(grace.passed(moment)) << "the egress has not";
  egress.heartbeat_tsc.store(later);
  EXPECT_TRUE(grace.passed(moment)) << "an ingress looks nothing up";
  worker.heartbeat_tsc.store(moment + 1);
  EXPECT_FALSE(grace.passed(moment)) << "within what two cores' clocks may differ";
  for (const ActorState state : {ActorState::kFenced, ActorState::kQuarantined}) {
    worker.state.store(static_cast<std::uint32_t>(state));
    EXPECT_FALSE(grace.passed(moment));
  }
  worker.state.store(static_cast<std::uint32_t>(ActorState::kVacant));
  EXPECT_TRUE(grace.passed(moment));
  EXPECT_GT(grace.now(), moment);
}

}  // namespace
}  // namespace millrace
