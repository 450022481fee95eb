// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/actor/own_faults.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include "shared/base/limits.hpp"

namespace millrace {
namespace {

constexpr std::array<int, 5> kFaults = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

struct Life {
  ActorEntry* entry = nullptr;
  std::uint32_t incarnation = 0;
};

// Global, as a signal reaches a process, not an object.
std::array<Life, kActorCountMax> g_lives;
std::atomic<std::uint32_t> g_life_count{0};
std::array<struct sigaction, kFaults.size()> g_before;  ///< what a sanitizer does, say

/// The handler's own stack: the thread's may have overflowed.
alignas(16) std::array<std::byte, 32 * 1024> g_stack;

void note(int signal, siginfo_t* info, void*) {
  const bool by_instruction = info->si_code > 0;
  if (by_instruction || info->si_pid == ::getpid()) {
    for (std::uint32_t i = 0; i < g_life_count.load(std::memory_order_acquire); ++i) {
      g_lives[i].entry->fault.store(g_lives[i].incarnation, std::memory_order_relaxed);
    }
  }
  for (std::size_t i = 0; i < kFaults.size(); ++i) {
    if (kFaults[i] == signal) ::sigaction(signal, &g_before[i], nullptr);
  }
  if (!by_instruction) ::raise(signal);  // otherwise the instruction raises it again
}

void take_signals() noexcept {
  const stack_t stack{.ss_sp = g_stack.data(), .ss_flags = 0, .ss_size = g_stack.size()};
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = note;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (std::size_t i = 0; i < kFaults.size(); ++i) ::sigaction(kFaults[i], &action, &g_before[i]);
}

}  // namespace

void note_own_faults(ActorEntry& entry, std::uint32_t incarnation) noexcept {
  const std::uint32_t place = g_life_count.load(std::memory_order_relaxed);
  if (place == g_lives.size()) return;
  g_lives[place] = {&entry, incarnation};
  g_life_count.store(place + 1, std::memory_order_release);
  if (place == 0) take_signals();
}

}  // namespace millrace
