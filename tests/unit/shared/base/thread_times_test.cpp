// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/thread_times.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>

namespace millrace {
namespace {

namespace fs = std::filesystem;

TEST(ThreadTimes, AreReadWhateverTheProcessIsCalled) {
  std::string pattern = testing::TempDir() + "millrace-proc-XXXXXX";
  const fs::path proc = mkdtemp(pattern.data());
  fs::create_directories(proc / "7/task/7");
  std::ofstream(proc / "7/task/7/schedstat") << "123 45 6\n";
  for (const char state : {'R', 'S', 'T'}) {
    std::ofstream(proc / "7/task/7/stat") << "7 (a) R (b) " << state << " 1 7 7 0\n";
    const auto times = thread_times(7, proc);
    ASSERT_TRUE(times);
    EXPECT_EQ(times->ran_ns, 123u);
    EXPECT_EQ(times->waited_ns, 45u);
    EXPECT_EQ(times->ready, state == 'R');
  }
  std::ofstream(proc / "7/task/7/stat") << "7";
  EXPECT_FALSE(thread_times(7, proc));
  EXPECT_FALSE(thread_times(8, proc));
  fs::remove_all(proc);
}

TEST(ThreadTimes, TellOneThatRunsFromOneThatIsStopped) {
  if (!fs::exists("/proc/self/schedstat")) GTEST_SKIP() << "this kernel does not tell";
  const pid_t child = fork();
  if (child == 0) {
    for (std::atomic<int> rounds{0};;) ++rounds;
  }
  ASSERT_TRUE(thread_times(child));
  const std::uint64_t before = thread_times(child)->ran_ns;
  while (thread_times(child)->ran_ns == before) usleep(1000);
  EXPECT_TRUE(thread_times(child)->ready);
  kill(child, SIGSTOP);
  ASSERT_EQ(waitpid(child, nullptr, WUNTRACED), child);
  EXPECT_FALSE(thread_times(child)->ready);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(thread_times(child));
}

}  // namespace
}  // namespace millrace
