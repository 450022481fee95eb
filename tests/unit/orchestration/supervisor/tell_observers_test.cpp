// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/tell_observers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"

namespace millrace {
namespace {

using Wanted = std::vector<WantedWorkers>;

void wish_up(std::vector<Post>& posts, const std::string& name) {
  for (Post& post : posts) {
    if (post.name == name) post.wish = Wish::kUp;
  }
}

TEST(TellObservers, AGpuWorkerWithItsTwinIsOne) {
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

TEST(TellObservers, WorkersInOneProcessAreCountedOneByOne) {
  Plan plan = test::small_plan("wanted");
  plan.fused = true;
  std::vector<Post> posts = make_posts(plan, RestartLimits{});
  wish_up(posts, "ingress.lan.0");
  const Wanted wanted = wanted_workers(plan, posts);
  EXPECT_EQ(wanted[0].count, 1u);  // the spare one does not start
}

TEST(TellObservers, TheFileIsWrittenWhenSomethingHasChanged) {
  const test::TestFolder run_dir;
  const std::string path = run_dir.path("");
  const Plan plan = test::small_plan("wanted");
  std::vector<Post> posts = make_posts(plan, RestartLimits{});
  wish_up(posts, "front.0");
  WantedTeller teller;
  teller.tend(path, plan, posts);
  EXPECT_EQ(read_wanted(path), (Wanted{{"front", 1}, {"gpu", 0}, {"ingress", 0}, {"egress", 0}}));
  std::filesystem::remove(run_dir.path("telemetry.wanted"));
  teller.tend(path, plan, posts);
  EXPECT_TRUE(read_wanted(path).empty());
  wish_up(posts, "front.1");
  teller.tend(path, plan, posts);
  EXPECT_EQ(read_wanted(path), (Wanted{{"front", 2}, {"gpu", 0}, {"ingress", 0}, {"egress", 0}}));
}

TEST(TellObservers, AFolderThatIsGoneIsNoError) {
  const Plan plan = test::small_plan("wanted");
  WantedTeller teller;
  teller.tend("/nowhere/at/all", plan, make_posts(plan, RestartLimits{}));
}

TEST(TellObservers, TheConfigurationIsWrittenWhenItHasChanged) {
  const test::TestFolder run_dir;
  const std::string path = run_dir.path("");
  ConfigTeller teller;
  ConfigFacts facts{1, "abc", false, 2, 3};
  teller.tend(path, facts);
  EXPECT_EQ(read_config(path), facts);
  std::filesystem::remove(run_dir.path("telemetry.config"));
  teller.tend(path, facts);
  EXPECT_EQ(read_config(path).generation, 0u);
  facts.differs = true;
  teller.tend(path, facts);
  EXPECT_EQ(read_config(path), facts);
  teller.tend("/nowhere/at/all", {});
}

}  // namespace
}  // namespace millrace
