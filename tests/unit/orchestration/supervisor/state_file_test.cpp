// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/state_file.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "shared/base/error.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"

namespace millrace {
namespace {

void stop(RunState& state) { state.stopping = true; }
void follow(RunState& state) { state.config.generation = 7; }

TEST(StateFile, IsWrittenWhenSomethingHasChanged) {
  const test::TestFolder run_dir;
  StateFile file(run_dir.path(""));
  file.keep([](RunState&) {});
  EXPECT_FALSE(std::filesystem::exists(run_state_path(run_dir.path(""))));
  file.keep(follow);
  EXPECT_EQ(load_run_state(run_dir.path("")), file.now());
  EXPECT_EQ(file.now().config.generation, 7u);
  std::filesystem::remove(run_state_path(run_dir.path("")));
  file.keep(follow);
  file.change(follow);
  EXPECT_FALSE(std::filesystem::exists(run_state_path(run_dir.path("")))) << "all is as it was";
}

TEST(StateFile, ASuccessorGoesOnWithAll) {
  const test::TestFolder run_dir;
  StateFile(run_dir.path("")).change(follow);
  StateFile next(run_dir.path(""));
  next.resume();
  next.change(stop);
  const RunState state = load_run_state(run_dir.path(""));
  EXPECT_EQ(state.config.generation, 7u);
  EXPECT_TRUE(state.stopping);
}

TEST(StateFile, AChangeThatCannotBeWrittenIsNone) {
  StateFile file("/nowhere/at/all");
  EXPECT_THROW(file.change(stop), Error);
  EXPECT_FALSE(file.now().stopping);
}

TEST(StateFile, WhatIsKeptIsToldOnceAndWrittenLater) {
  const test::TestFolder folder;
  const std::string run_dir = folder.path("run");
  StateFile file(run_dir);
  testing::internal::CaptureStderr();
  file.keep(stop);
  file.keep(stop);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "millrace: open " + run_state_path(run_dir) + ".tmp: No such file or directory\n");
  EXPECT_TRUE(file.now().stopping);
  std::filesystem::create_directory(run_dir);
  file.change(follow);
  EXPECT_TRUE(load_run_state(run_dir).stopping) << "with the next change";
}

TEST(StateFile, WhatIsKeptIsTriedAgainOnceASecondAndToldAgainOnceItWasWritten) {
  const test::TestFolder folder;
  const std::string run_dir = folder.path("run");
  const auto nothing = [](RunState&) {};
  const auto begin = StateFile::Clock::now();
  StateFile file(run_dir);
  testing::internal::CaptureStderr();
  file.keep(stop, begin);
  std::filesystem::create_directory(run_dir);
  file.keep(follow, begin + std::chrono::milliseconds(999));
  EXPECT_FALSE(std::filesystem::exists(run_state_path(run_dir)));
  file.keep(nothing, begin + std::chrono::seconds(1));
  EXPECT_EQ(load_run_state(run_dir), file.now());
  std::filesystem::remove_all(run_dir);
  file.keep([](RunState& state) { state.stopping = false; }, begin + std::chrono::seconds(1));
  const std::string once =
      "millrace: open " + run_state_path(run_dir) + ".tmp: No such file or directory\n";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), once + once);
}

TEST(StateFile, ABrokenFileIsNotResumed) {
  const test::TestFolder run_dir;
  std::ofstream(run_state_path(run_dir.path(""))) << "front.0 up 1\n";
  StateFile file(run_dir.path(""));
  EXPECT_THROW(file.resume(), Error);
  EXPECT_NE(file.try_resume().find(run_state_path(run_dir.path(""))), std::string::npos);
  EXPECT_EQ(file.now(), RunState{});
  file.keep(stop);
  EXPECT_EQ(file.try_resume(), "") << "it is written anew";
  EXPECT_TRUE(file.now().stopping);
}

}  // namespace
}  // namespace millrace
