// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/system_calls.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <functional>
#include <thread>

#if !defined(MILLRACE_SANITIZE_ADDRESS) && !defined(MILLRACE_SANITIZE_THREAD)

namespace millrace {
namespace {

constexpr int kEndedBySignal = 1000;

/// What became of `body` in a process with the filter: its result, or 1000 and a signal's number.
int filtered(const SystemCalls& wanted, const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_DUMPABLE, 0);  // it may be ended on purpose: no core
    filter_system_calls(wanted);
    ::_exit(body());
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kEndedBySignal + WTERMSIG(status);
}

int execute() {
  ::execl("/bin/true", "true", nullptr);
  return errno;
}
int error_of(long result) { return result < 0 ? errno : 0; }
int open_socket(int family) { return error_of(::socket(family, SOCK_DGRAM, 0)); }

constexpr SystemCalls kOwn{};
constexpr SystemCalls kDriver{.driver = true};

TEST(SystemCalls, WhatSomebodyWhoTookOverMakesNextEndsTheProcess) {
  EXPECT_EQ(filtered(kOwn, execute), kEndedBySignal + SIGSYS);
  EXPECT_EQ(filtered(kOwn, [] { return error_of(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); }),
            kEndedBySignal + SIGSYS);
  EXPECT_EQ(filtered(kOwn, [] { return error_of(::syscall(SYS_unshare, 0)); }),
            kEndedBySignal + SIGSYS);
  EXPECT_EQ(filtered(kOwn, [] { return error_of(::syscall(SYS_bpf, 0, nullptr, 0)); }),
            kEndedBySignal + SIGSYS);
}

TEST(SystemCalls, ADriverIsRefusedTheSameButNotEnded) {
  EXPECT_EQ(filtered(kDriver, execute), EPERM);
  EXPECT_EQ(
      filtered(kDriver, [] { return error_of(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); }),
      EPERM);
  EXPECT_EQ(filtered(kDriver, [] { return open_socket(AF_INET); }), 0);
  EXPECT_NE(filtered(kDriver, [] { return error_of(::syscall(SYS_bpf, 0, nullptr, 0)); }),
            kEndedBySignal + SIGSYS);
}

TEST(SystemCalls, WhatIsOnNoListIsRefused) {
  EXPECT_EQ(filtered(kOwn, [] { return error_of(::kill(::getppid(), 0)); }), EPERM);
  EXPECT_EQ(filtered(kOwn, [] { return error_of(::syscall(SYS_io_uring_setup, 1, nullptr)); }),
            EPERM);
  EXPECT_EQ(filtered(kOwn, [] { return error_of(::setuid(::getuid())); }), EPERM);
  EXPECT_EQ(filtered(kOwn, [] { return error_of(::fork()); }), EPERM);
}

TEST(SystemCalls, OnlyWhoHasPortsOpensSocketsOfTheNetwork) {
  EXPECT_EQ(filtered(kOwn, [] { return open_socket(AF_UNIX); }), 0);
  EXPECT_EQ(filtered(kOwn, [] { return open_socket(AF_INET); }), EPERM);
  EXPECT_EQ(filtered({.network = true}, [] { return open_socket(AF_INET); }), 0);
  EXPECT_EQ(filtered({.network = true}, [] { return open_socket(AF_PACKET); }), EPERM);
}

TEST(SystemCalls, OnlyTheHubsWatchProcesses) {
  const auto watch = [] { return error_of(::syscall(SYS_pidfd_open, ::getpid(), 0)); };
  EXPECT_EQ(filtered(kOwn, watch), EPERM);
  EXPECT_EQ(filtered({.processes = true}, watch), 0);
}

TEST(SystemCalls, NoMemoryBecomesCode) {
  const auto map = [](int protection) {
    void* base = ::mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return base == MAP_FAILED ? errno : 0;
  };
  EXPECT_EQ(filtered(kOwn, [&] { return map(PROT_READ | PROT_WRITE); }), 0);
  EXPECT_EQ(filtered(kOwn, [&] { return map(PROT_READ | PROT_EXEC); }), EPERM);
}

TEST(SystemCalls, ThreadsCanBeStartedAndThoseThatRunAreFilteredToo) {
  EXPECT_EQ(filtered(kOwn,
                     [] {
                       int error = -1;
                       std::thread([&] { error = open_socket(AF_INET); }).join();
                       return error;
                     }),
            EPERM);
  const pid_t child = ::fork();
  if (child == 0) {
    std::atomic<bool> filtered{false};
    int error = -1;
    std::thread before([&] {
      while (!filtered) std::this_thread::yield();
      error = open_socket(AF_INET);
    });
    filter_system_calls(kOwn);
    filtered = true;
    before.join();
    ::_exit(error);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), EPERM);
}

}  // namespace
}  // namespace millrace

#endif
