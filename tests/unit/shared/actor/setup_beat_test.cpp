// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/actor/setup_beat.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

TEST(SetupBeat, SaysThatItsActorsLiveUntilItEnds) {
  const test::SmallWorld world;
  ActorEntry& front = world.entry("front.0");
  ActorEntry& egress = world.entry("egress.0");
  {
    const SetupBeat beat({world.context("front.0"), world.context("egress.0")});
    for (int turn = 0; turn < 2; ++turn) {
      front.heartbeat_tsc = egress.heartbeat_tsc = 0;
      while (front.heartbeat_tsc == 0 || egress.heartbeat_tsc == 0) std::this_thread::yield();
    }
  }
  front.heartbeat_tsc = 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(front.heartbeat_tsc, 0u);
  EXPECT_EQ(front.acked_epoch, 0u) << "nobody may repair what it looks at";
}

}  // namespace
}  // namespace millrace
