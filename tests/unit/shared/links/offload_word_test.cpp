// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/links/offload_word.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

TEST(OffloadWord, StandsWithTheFirstActorOfTheGroup) {
  test::SmallWorld world;
  const std::uint32_t first = world.actor("gpu.0.a");
  const std::uint32_t group = world.plan.actors[first].group;
  EXPECT_EQ(&offload_of(world.plan, world.status, group), &world.entry("gpu.0.a").offload);
  EXPECT_EQ(world.entry("gpu.0.a").offload, 0u);
}

TEST(OffloadWord, IsReadAsItWasSetAndAsAllUntilThen) {
  std::atomic<std::uint32_t> word{0};
  EXPECT_EQ(measured_offload(word), 100u);
  for (std::uint32_t percent = 0; percent <= 100; ++percent) {
    set_offload(word, percent);
    EXPECT_EQ(measured_offload(word), percent);
  }
  word = 4'000'000'000;  // no program has written it
  EXPECT_EQ(measured_offload(word), 100u);
}

}  // namespace
}  // namespace millrace
