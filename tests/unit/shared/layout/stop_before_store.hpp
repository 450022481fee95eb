// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace {

/// Stops this process in front of one of its stores to a table: the table is read-only, so each
/// store faults, is made in a single step with the table writable, and so on.
class StopBeforeStore {
 public:
  StopBeforeStore(std::span<std::byte> table, std::uint32_t store) {
    table_ = table;
    left_ = store;
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = &on_store;
    sigaction(SIGSEGV, &action, nullptr);
    action.sa_sigaction = &on_step;
    sigaction(SIGTRAP, &action, nullptr);
    mprotect(table_.data(), table_.size(), PROT_READ);
  }

 private:
  static constexpr greg_t kTrapFlag = 0x100;

  static void on_store(int, siginfo_t* signal, void* context) {
    const auto* at = static_cast<const std::byte*>(signal->si_addr);
    if (at < table_.data() || at >= table_.data() + table_.size()) _exit(78);
    if (left_-- == 0) raise(SIGSTOP);
    mprotect(table_.data(), table_.size(), PROT_READ | PROT_WRITE);
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
  }
  static void on_step(int, siginfo_t*, void* context) {
    mprotect(table_.data(), table_.size(), PROT_READ);
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
  }

  static inline std::span<std::byte> table_;
  static inline std::uint32_t left_ = 0;
};

/// Runs `work`, which makes a StopBeforeStore, in a child, and kills it where it stops. False: it
/// came to its end.
bool killed_in_child(const auto& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, WUNTRACED);
  if (WIFEXITED(status)) return false;
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return true;
}

}  // namespace millrace
