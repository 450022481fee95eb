// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/detach.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace millrace {
namespace {

TEST(Detach, GivesTheStatusOfAChildThatEndsBeforeItRuns) {
  EXPECT_EQ(run_detached([](Starter&) { return 3; }), 3);
}

TEST(Detach, ReturnsOnceTheChildRunsInASessionOfItsOwn) {
  char pattern[] = "/tmp/millrace-detach-XXXXXX";
  const std::string folder = ::mkdtemp(pattern);
  const pid_t parent_session = ::getsid(0);
  const int status = run_detached([&](Starter& starter) {
    starter.running();
    for (int wait = 0; wait < 1000 && !std::filesystem::exists(folder + "/go"); ++wait) {
      ::usleep(10'000);
    }
    std::ofstream(folder + "/draft") << ::getsid(0) << " " << ::getpid();
    std::filesystem::rename(folder + "/draft", folder + "/done");
    return 5;
  });
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(std::filesystem::exists(folder + "/done")) << "it was not waited for";
  std::ofstream(folder + "/go") << "go";
  for (int wait = 0; wait < 1000 && !std::filesystem::exists(folder + "/done"); ++wait) {
    ::usleep(10'000);
  }
  std::ifstream file(folder + "/done");
  pid_t session = 0;
  pid_t pid = 0;
  file >> session >> pid;
  EXPECT_EQ(session, pid);
  EXPECT_NE(session, parent_session);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace millrace
