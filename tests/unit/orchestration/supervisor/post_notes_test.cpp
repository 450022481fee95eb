// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/post_notes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

Post& post_named(std::vector<Post>& posts, const std::string& name) {
  const auto at = std::ranges::find(posts, name, &Post::name);
  EXPECT_NE(at, posts.end()) << name;
  return *at;
}

TEST(PostNotes, WhatASupervisorWantedIsWhatItsSuccessorWants) {
  const test::TestFolder run_dir;
  const Plan plan = test::small_plan("notes");
  std::vector<Post> before = make_posts(plan, RestartLimits{});
  post_named(before, "front.0").wish = Wish::kUp;
  post_named(before, "front.0").policy.resume(7);
  post_named(before, "front.0").seat().note = "killed by signal 9 (Killed)";
  post_named(before, "front.1").wish = Wish::kDraining;
  PostNoter noter;
  noter.tend(run_dir.path(""), before);
  std::vector<Post> after = make_posts(plan, RestartLimits{});
  post_named(after, "front.1").wish = Wish::kUp;
  restore_posts(read_post_notes(run_dir.path("")), after);
  EXPECT_EQ(post_named(after, "front.0").wish, Wish::kUp);
  EXPECT_EQ(post_named(after, "front.0").policy.restarts(), 7U);
  EXPECT_EQ(post_named(after, "front.0").seat().note, "killed by signal 9 (Killed)");
  EXPECT_EQ(post_named(after, "front.1").wish, Wish::kDown) << "it was leaving";
}

TEST(PostNotes, TheFileIsWrittenWhenSomethingHasChanged) {
  const test::TestFolder run_dir;
  const Plan plan = test::small_plan("notes");
  std::vector<Post> posts = make_posts(plan, RestartLimits{});
  PostNoter noter;
  noter.tend(run_dir.path(""), posts);
  EXPECT_EQ(read_post_notes(run_dir.path("")).size(), posts.size());
  std::filesystem::remove(run_dir.path("supervisor.posts"));
  noter.tend(run_dir.path(""), posts);
  EXPECT_TRUE(read_post_notes(run_dir.path("")).empty());
  posts[0].wish = Wish::kUp;
  noter.tend(run_dir.path(""), posts);
  EXPECT_EQ(read_post_notes(run_dir.path(""))[0].wish, Wish::kUp);
}

TEST(PostNotes, LinesThatMakeNoSenseAreLeftOut) {
  const test::TestFolder run_dir;
  std::ofstream(run_dir.path("supervisor.posts"))
      << "front.0 up 1\nfront.1 sideways 2\nfront.2\n\nhub up x\ngpu.0.a down 3 exited with 1\n";
  EXPECT_THAT(read_post_notes(run_dir.path("")),
              testing::ElementsAre(PostNote{"front.0", Wish::kUp, 1, ""},
                                   PostNote{"gpu.0.a", Wish::kDown, 3, "exited with 1"}));
}

TEST(PostNotes, AFolderThatIsGoneIsNoError) {
  const Plan plan = test::small_plan("notes");
  PostNoter noter;
  noter.tend("/nowhere/at/all", make_posts(plan, RestartLimits{}));
}

}  // namespace
}  // namespace millrace
