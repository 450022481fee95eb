// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/child.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "shared/base/error.hpp"
#include "shared/base/process.hpp"

namespace millrace {
namespace {

using testing::HasSubstr;

class ChildTest : public testing::Test {
 protected:
  ChildTest() {
    char pattern[] = "/tmp/millrace-child-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    log_ = folder_ + "/log";
  }
  ~ChildTest() override { std::filesystem::remove_all(folder_); }

  Child shell(const std::string& script) const {
    return Child::start({"/bin/sh", {"-c", script}}, log_);
  }
  std::string log() const {
    std::ifstream file(log_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder_, log_;
};

TEST_F(ChildTest, TellsHowAProcessEnded) {
  Child failing = shell("exit 3");
  const auto end = failing.wait(10'000);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->text(), "exited with 3");
  EXPECT_FALSE(end->clean());
  EXPECT_EQ(failing.ended()->code, 3) << "asked again, it says the same";
  EXPECT_TRUE(shell("exit 0").wait(10'000)->clean());
}

TEST_F(ChildTest, TellsTheSignalThatKilledIt) {
  Child child = shell("while kill -0 $PPID; do sleep 0.05; done");
  EXPECT_FALSE(child.ended());
  EXPECT_FALSE(child.wait(20));
  child.signal(SIGKILL);
  const auto end = child.wait(10'000);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->text(), "killed by signal 9 (Killed)");
  child.signal(SIGKILL);  // gone: nothing happens
}

TEST_F(ChildTest, AppendsOutputAndErrorsToTheLog) {
  shell("echo first").wait(10'000);
  shell("echo second >&2; cat").wait(10'000);
  EXPECT_EQ(log(), "first\nsecond\n");
}

TEST_F(ChildTest, GivesTheChildNeitherOurDescriptorsNorOurBlockedSignals) {
  const UniqueFd leak(::open("/dev/null", O_RDONLY));  // without O_CLOEXEC on purpose
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  Child child = shell("ls /proc/self/fd | wc -l; sed -n 's/SigBlk:\\s*//p' /proc/self/status");
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(child.wait(10'000));
  // ls has 0, 1, 2 and the folder that it reads.
  EXPECT_EQ(log(), "4\n0000000000000000\n");
}

TEST_F(ChildTest, GivesTheChildTheSegmentAtItsNumber) {
  const UniqueFd segment(::memfd_create("segment", MFD_CLOEXEC));
  const UniqueFd far(::fcntl(segment.get(), F_DUPFD_CLOEXEC, 100));
  for (const int number : {segment.get(), far.get()}) {
    Child child = Child::start({"/bin/sh", {"-c", "readlink /proc/self/fd/3"}, number}, log_);
    ASSERT_TRUE(child.wait(10'000));
  }
  EXPECT_EQ(log(), "/memfd:segment (deleted)\n/memfd:segment (deleted)\n");
}

TEST_F(ChildTest, NamesAProgramThatCannotBeStarted) {
  try {
    Child::start({folder_ + "/absent", {}}, log_);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(folder_ + "/absent: No such file"));
  }
}

TEST_F(ChildTest, LeavesTheProcessAloneWhenItsOwnerGoes) {
  pid_t pid = 0;
  std::uint64_t start_time = 0;
  {
    const Child child = shell("while kill -0 $PPID; do sleep 0.05; done");
    pid = child.pid();
    start_time = child.start_time();
  }
  auto found = Child::adopt(pid, start_time);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->ended());
  found->signal(SIGKILL);
  const auto end = found->wait(10'000);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->text(), "ended");
  EXPECT_FALSE(end->clean());
  ::waitpid(pid, nullptr, 0);
}

TEST_F(ChildTest, DoesNotAdoptAnotherProcessWithThePid) {
  EXPECT_FALSE(Child::adopt(::getpid(), process_start_time(::getpid()) + 1));
  EXPECT_TRUE(Child::adopt(::getpid(), process_start_time(::getpid())));
}

TEST_F(ChildTest, CapturesWhatAProgramPrints) {
  const Captured captured =
      run_and_capture({"/bin/sh", {"-c", "echo out; echo err >&2; exit 2"}}, log_);
  EXPECT_EQ(captured.output, "out\n");
  EXPECT_EQ(captured.end.code, 2);
  EXPECT_EQ(log(), "err\n");
}

TEST_F(ChildTest, CapturesAtMostAMebibyte) {
  const Captured captured = run_and_capture({"/bin/sh", {"-c", "head -c 3000000 /dev/zero"}}, log_);
  EXPECT_EQ(captured.output.size(), std::size_t{1} << 20);
  EXPECT_TRUE(captured.end.clean());
}

}  // namespace
}  // namespace millrace
