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

}  // namespace
}  // namespace millrace
