// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/post_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

using Wanted = std::vector<WantedWorkers>;

Post& post_named(std::vector<Post>& posts, const std::string& name) {
  const auto at = std::ranges::find(posts, name, &Post::name);
  EXPECT_NE(at, posts.end()) << name;
  return *at;
}

void wish_up(std::vector<Post>& posts, const std::string& name) {
  post_named(posts, name).wish = Wish::kUp;
}

TEST(PostState, WhatASupervisorWantedIsWhatItsSuccessorWants) {
  const Plan plan = test::small_plan("notes");
  std::vector<Post> before = make_posts(plan, RestartLimits{});
  wish_up(before, "front.0");
  post_named(before, "front.0").policy.resume(7);
  post_named(before, "front.0").seat().note = "killed by signal 9 (Killed)";
  post_named(before, "front.1").wish = Wish::kDraining;
  wish_up(before, "telemetry");
  post_named(before, "telemetry").helper = true;
  std::vector<Post> after = make_posts(plan, RestartLimits{});
  wish_up(after, "front.1");
  wish_up(after, "telemetry");
  restore_posts(states_of(before), after);
  EXPECT_EQ(post_named(after, "front.0").wish, Wish::kUp);
  EXPECT_EQ(post_named(after, "front.0").policy.restarts(), 7U);
  EXPECT_EQ(post_named(after, "front.0").seat().note, "killed by signal 9 (Killed)");
  EXPECT_EQ(post_named(after, "front.1").wish, Wish::kDown) << "it was leaving";
  EXPECT_EQ(post_named(after, "telemetry").wish, Wish::kDown) << "of an upgrade";
}

TEST(PostState, APostThatNothingIsKnownOfKeepsItsWish) {
  std::vector<Post> posts = make_posts(test::small_plan("notes"), RestartLimits{});
  wish_up(posts, "front.0");
  restore_posts({{"gone", false, 3, ""}}, posts);
  EXPECT_EQ(post_named(posts, "front.0").wish, Wish::kUp);
}

TEST(PostState, AGpuWorkerWithItsTwinIsOne) {
  const Plan plan = test::small_plan("wanted");
  std::vector<Post> posts = make_posts(plan, RestartLimits{});
  EXPECT_EQ(wanted_workers(plan, posts),
            (Wanted{{"front", 0}, {"gpu", 0}, {"ingress", 0}, {"egress", 0}}));
  for (const char* name : {"hub", "telemetry", "ingress.lan.0", "front.0", "gpu.0.a"}) {
    wish_up(posts, name);
  }
  EXPECT_EQ(wanted_workers(plan, posts),
            (Wanted{{"front", 1}, {"gpu", 1}, {"ingress", 1}, {"egress", 0}}));
  wish_up(posts, "front.1");
  EXPECT_EQ(wanted_workers(plan, posts),
            (Wanted{{"front", 2}, {"gpu", 1}, {"ingress", 1}, {"egress", 0}}));
}

TEST(PostState, WorkersInOneProcessAreCountedOneByOne) {
  Plan plan = test::small_plan("wanted");
  plan.fused = true;
  std::vector<Post> posts = make_posts(plan, RestartLimits{});
  wish_up(posts, "ingress.lan.0");
  const Wanted wanted = wanted_workers(plan, posts);
  EXPECT_EQ(wanted[0].count, 1u);  // the spare one does not start
}

}  // namespace
}  // namespace millrace
