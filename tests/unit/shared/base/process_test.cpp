// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/base/process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace millrace {
namespace {

std::int32_t sleeping_child(const char* name = "child") {
  const std::int32_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_NAME, name);
    while (true) pause();
  }
  return pid;
}

void end(std::int32_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

TEST(Process, AProcessHasOneStartTimeAndALaterOneALaterTime) {
  const std::uint64_t mine = process_start_time(getpid());
  EXPECT_GT(mine, 0u);
  EXPECT_EQ(process_start_time(getpid()), mine);
  // Clock ticks are 10 ms.
  std::this_thread::sleep_for(std::chrono::milliseconds(25));
  const std::int32_t child = sleeping_child();
  EXPECT_GT(process_start_time(child), mine);
  end(child);
}

TEST(Process, ACommandWithParenthesesAndSpacesDoesNotConfuseTheFields) {
  const std::int32_t plain = sleeping_child();
  const std::int32_t odd = sleeping_child(") S 1 2 (3");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::uint64_t first = process_start_time(plain);
  const std::uint64_t second = process_start_time(odd);
  EXPECT_GE(second, first);
  EXPECT_LE(second, first + 1000) << "another field was read";
  end(plain);
  end(odd);
}

TEST(Process, NobodyHasNoStartTime) {
  const std::int32_t child = sleeping_child();
  end(child);
  EXPECT_EQ(process_start_time(child), 0u);
  EXPECT_EQ(process_start_time(-1), 0u);
}

TEST(Process, ADescriptorIsOfExactlyThatProcess) {
  const std::int32_t child = sleeping_child();
  const std::uint64_t start = process_start_time(child);
  EXPECT_TRUE(open_process(child, start));
  EXPECT_FALSE(open_process(child, start + 1)) << "the number was used again";
  end(child);
  EXPECT_FALSE(open_process(child, start));
}

TEST(Process, TheEndIsSeenOnceItIsCertain) {
  const std::int32_t child = sleeping_child();
  const UniqueFd process = open_process(child, process_start_time(child));
  EXPECT_FALSE(process_ended(process));
  end(child);
  EXPECT_TRUE(process_ended(process));
  EXPECT_TRUE(process_ended(UniqueFd())) << "nobody has ended";
}

TEST(Process, WithoutDescriptorsOnlyWhatIsCertainHasEnded) {
  const std::int32_t child = sleeping_child();
  const std::uint64_t start = process_start_time(child);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const UniqueFd process = open_process(child, start);
  const bool ended = process_ended(process, child, start);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(process);
  EXPECT_FALSE(ended) << "it lives, and has an owner's rights";
  EXPECT_TRUE(process_ended({}, child, start + 1)) << "the number was used again";
  end(child);
  EXPECT_TRUE(process_ended({}, child, start));
}

TEST(Process, OneThatIsDeadAndNotYetCollectedIsEnding) {
  const std::int32_t child = sleeping_child();
  const std::uint64_t start = process_start_time(child);
  EXPECT_FALSE(process_is_ending(child, start));
  kill(child, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(process_is_ending(child, start));
  EXPECT_FALSE(process_is_ending(child, start + 1)) << "the number was used again";
  end(child);
  EXPECT_FALSE(process_is_ending(child, start)) << "it has gone";
}

TEST(Process, MayHaveAllTheFilesThatItsHardLimitAllows) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{before.rlim_max / 2, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  allow_many_files();
  rlimit after{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  EXPECT_EQ(after.rlim_max, before.rlim_max);
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace millrace
