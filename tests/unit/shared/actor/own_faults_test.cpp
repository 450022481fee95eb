// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/actor/own_faults.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <new>
#include <thread>

#include "shared/layout/mapping.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kLife = 7;

/// What a process leaves that runs `in_it`; `beside` runs here, with its number.
struct Left {
  int signal = 0;
  std::uint32_t fault = 0;
};
Left after(const std::function<void()>& in_it, const std::function<void(pid_t)>& beside = {}) {
  const Mapping memory = Mapping::create_anonymous(sizeof(ActorEntry));
  auto* const entry = new (memory.base()) ActorEntry{};
  const pid_t pid = fork();
  if (pid == 0) {
    note_own_faults(*entry, kLife);
    entry->acked_epoch = 1;
    in_it();
    _exit(0);
  }
  while (entry->acked_epoch == 0) std::this_thread::yield();
  if (beside) beside(pid);
  int status = 0;
  waitpid(pid, &status, 0);
  return {WIFSIGNALED(status) ? WTERMSIG(status) : 0, entry->fault};
}
void wait_for_ever() {
  while (true) pause();
}

TEST(OwnFaults, WhatTheProcessRaisesIsNoted) {
  const Left aborted = after([] { std::abort(); });
  EXPECT_EQ(aborted.signal, SIGABRT);
  EXPECT_EQ(aborted.fault, kLife);
  const Left trapped = after([] { __builtin_trap(); });
  EXPECT_EQ(trapped.signal, SIGILL);
  EXPECT_EQ(trapped.fault, kLife);
}

TEST(OwnFaults, WhatOthersSendIsNot) {
  for (const int signal : {SIGKILL, SIGSEGV, SIGABRT}) {
    const Left left = after(wait_for_ever, [&](pid_t pid) { kill(pid, signal); });
    EXPECT_EQ(left.signal, signal);
    EXPECT_EQ(left.fault, 0u) << signal;
  }
}

TEST(OwnFaults, AStackThatOverflowsIsNoted) {
  const std::function<int(std::array<char, 4096>)> deeper = [&](std::array<char, 4096> room) {
    ++room[0];
    return deeper(room) + room[0];
  };
  const Left left = after([&] {
    const rlimit limit{1 << 20, 1 << 20};  // also where the host sets none
    setrlimit(RLIMIT_STACK, &limit);
    deeper({});
  });
  EXPECT_EQ(left.signal, SIGSEGV);
  EXPECT_EQ(left.fault, kLife);
}

TEST(OwnFaults, AnEndInOrderIsNot) {
  EXPECT_EQ(after([] {}).fault, 0u);
}

}  // namespace
}  // namespace millrace
