// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/recovery/kernel_processes.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/clock.hpp"
#include "shared/base/process.hpp"

namespace millrace {
namespace {

/// A child that sleeps until it is killed.
class KernelProcessesTest : public ::testing::Test {
 protected:
  KernelProcessesTest() : pid_(fork()) {
    if (pid_ == 0) {
      while (true) pause();
    }
    start_ = process_start_time(pid_);
  }
  ~KernelProcessesTest() override {
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  bool waits_until_it_has_exited() {
    for (int i = 0; i < 100; ++i) {
      if (processes_.exited(pid_, start_)) return true;
      processes_.wait_for_exit(100);
    }
    return false;
  }
  std::int32_t pid_;
  std::uint64_t start_ = 0;
  KernelProcesses processes_;
};

TEST_F(KernelProcessesTest, ARunningProcessHasNotExited) {
  ASSERT_NE(start_, 0u);
  EXPECT_FALSE(processes_.exited(pid_, start_));
  EXPECT_FALSE(processes_.exited(getpid(), process_start_time(getpid())));
}

TEST_F(KernelProcessesTest, AKilledProcessIsSeenToExitBeforeAnybodyCollectsIt) {
  EXPECT_FALSE(processes_.exited(pid_, start_));
  processes_.kill(pid_, start_);
  EXPECT_TRUE(waits_until_it_has_exited());
  EXPECT_TRUE(processes_.exited(pid_, start_)) << "asked again";
  int status = 0;
  ASSERT_EQ(waitpid(pid_, &status, 0), pid_);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_TRUE(processes_.exited(pid_, start_));
}

TEST_F(KernelProcessesTest, AnotherProcessOfTheSameNumberIsNeitherWaitedForNorKilled) {
  EXPECT_TRUE(processes_.exited(pid_, start_ + 1));
  processes_.kill(pid_, start_ + 1);
  usleep(50'000);
  EXPECT_EQ(waitpid(pid_, nullptr, WNOHANG), 0) << "the wrong one was killed";
}

TEST_F(KernelProcessesTest, WaitingEndsWithTheTimeOutWhileAllRun) {
  EXPECT_FALSE(processes_.exited(pid_, start_));
  const std::uint64_t before = processes_.now_ns();
  processes_.wait_for_exit(30);
  EXPECT_GE(processes_.now_ns() - before, 29'000'000u);
}

TEST_F(KernelProcessesTest, WaitingEndsAtTheExit) {
  EXPECT_FALSE(processes_.exited(pid_, start_));
  ::kill(pid_, SIGKILL);
  const std::uint64_t before = processes_.now_ns();
  processes_.wait_for_exit(20'000);
  EXPECT_LT(processes_.now_ns() - before, 10'000'000'000u);
  EXPECT_TRUE(processes_.exited(pid_, start_));
}

}  // namespace
}  // namespace millrace
