// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/plan_sources.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace millrace {
namespace {

TEST(PlanSources, SayWhatIsInAFile) {
  const std::string path =
      testing::TempDir() + "/millrace-plan-sources-" + std::to_string(::getpid());
  const auto write = [&](const char* text) { std::ofstream(path) << text; };
  write("one");
  const std::string source = source_of(path);
  EXPECT_EQ(path_of_source(source), path);
  EXPECT_EQ(hash_of_source(source), hash_of_file(path));
  EXPECT_EQ(hash_of_file(path).size(), 16U);
  write("two");
  EXPECT_NE(hash_of_source(source), hash_of_file(path));
  write("one");
  EXPECT_EQ(hash_of_source(source), hash_of_file(path));
  std::filesystem::remove(path);
}

TEST(PlanSources, KnowThatAFileIsNotThere) {
  EXPECT_EQ(hash_of_file("/tmp/millrace-no-such-file"), kNoSuchFile);
  EXPECT_EQ(hash_of_file("/tmp"), kNoSuchFile) << "a folder";
  EXPECT_EQ(path_of_source(""), "");
}

TEST(PlanSources, DoNotWaitForAPipe) {
  const std::string pipe = testing::TempDir() + "/millrace-pipe-" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(hash_of_file(pipe), kNoSuchFile);
  std::filesystem::remove(pipe);
}

TEST(PlanSources, HaveOneHashTogether) {
  EXPECT_EQ(hash_of_sources({"a", "b"}), hash_of_sources({"a", "b"}));
  EXPECT_NE(hash_of_sources({"a", "b"}), hash_of_sources({"b", "a"}));
  EXPECT_NE(hash_of_sources({"ab"}), hash_of_sources({"a", "b"}));
  EXPECT_EQ(hash_of_sources({}), "");
}

}  // namespace
}  // namespace millrace
