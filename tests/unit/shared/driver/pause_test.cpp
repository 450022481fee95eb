// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/driver/pause.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using S = ActorState;

class PauseTest : public ::testing::Test {
 protected:
  PauseTest() { world_.start_all(); }
  void become(const char* name, S state) {
    world_.set(name, state);
    world_.status.header().epoch.fetch_add(1);
  }
  test::SmallWorld world_;
  PortPause pause_{world_.context("egress.0"), 0};
};

TEST_F(PauseTest, AUserIsAnIngressOfThePortOrAnyEgress) {
  EXPECT_EQ(users_of(world_.plan, 0),
            (std::vector<std::uint32_t>{world_.actor("ingress.a.0"), world_.actor("egress.0")}));
  EXPECT_EQ(users_of(world_.plan, 1),
            (std::vector<std::uint32_t>{world_.actor("ingress.b.0"), world_.actor("egress.0")}));
}

TEST_F(PauseTest, FromADeathUntilItsPlaceIsVacantThePortIsLeftAlone) {
  EXPECT_FALSE(pause_.now());
  become("ingress.a.0", S::kFenced);
  EXPECT_TRUE(pause_.now());
  become("ingress.a.0", S::kReclaiming);
  EXPECT_TRUE(pause_.now());
  become("ingress.a.0", S::kVacant);
  EXPECT_FALSE(pause_.now());
}

TEST_F(PauseTest, OthersDoNotMatter) {
  become("front.0", S::kFenced);
  become("ingress.b.0", S::kFenced);
  EXPECT_FALSE(pause_.now());
}

TEST_F(PauseTest, OneThatCannotBeKilledDoesNotStopThePort) {
  become("ingress.a.0", S::kQuarantined);
  EXPECT_FALSE(pause_.now());
}

TEST_F(PauseTest, WithoutAHubNobodyWaits) {
  become("ingress.a.0", S::kFenced);
  become("hub", S::kFenced);
  EXPECT_FALSE(pause_.now());
}

}  // namespace
}  // namespace millrace
