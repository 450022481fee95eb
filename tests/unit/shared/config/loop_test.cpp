// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/config/loop.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(Loop, AnEgressKnowsItByItsDevice) {
  Plan plan;
  plan.ports.push_back({.name = "a", .device = "null"});
  EXPECT_FALSE(is_loop(plan.ports[0]));
  EXPECT_FALSE(has_loop(plan));
  plan.ports.push_back({.name = "again", .device = "loop"});
  EXPECT_TRUE(is_loop(plan.ports[1]));
  EXPECT_TRUE(has_loop(plan));
}

TEST(Loop, ItsDepthIsAPowerOfTwo) {
  EXPECT_EQ(loop_depth({.device = "loop"}), 1024u);
  EXPECT_EQ(loop_depth({.device = "loop", .settings = {{"depth", "64"}}}), 64u);
  EXPECT_EQ(loop_depth({.device = "loop", .settings = {{"depth", "65"}}}), 128u);
  EXPECT_EQ(loop_depth({.device = "loop", .settings = {{"depth", "65536"}}}), 65536u);
}

TEST(Loop, TicksHaveAnInterval) {
  EXPECT_EQ(loop_tick_ms({.device = "loop"}), 0u);
  EXPECT_EQ(loop_tick_ms({.device = "loop", .settings = {{"tick", "1s"}}}), 1000u);
  EXPECT_EQ(loop_tick_ms({.device = "null", .settings = {{"tick", "1s"}}}), 0u);
  EXPECT_EQ(parse_loop_tick("100ms"), 100u);
  EXPECT_EQ(parse_loop_tick("3600s"), 3'600'000u);
  for (const char* wrong : {"", "s", "1", "99ms", "3601s", "3600001ms", "1 s", "1m", "-1s", "1.5s",
                            "18446744073709552s"}) {
    EXPECT_FALSE(parse_loop_tick(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace millrace
