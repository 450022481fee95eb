// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/recovery/kernel_processes.hpp"

#include <poll.h>
#include <sys/syscall.h>

#include <csignal>
#include <vector>

#include "shared/base/clock.hpp"
#include "shared/base/process.hpp"

namespace millrace {

const UniqueFd& KernelProcesses::watched(std::int32_t pid, std::uint64_t start_time) {
  const auto key = std::make_pair(pid, start_time);
  const auto found = processes_.find(key);
  if (found != processes_.end()) return found->second;
  return processes_.emplace(key, open_process(pid, start_time)).first->second;
}

bool KernelProcesses::exited(std::int32_t pid, std::uint64_t start_time) {
  const UniqueFd& process = watched(pid, start_time);
  const bool ended = process_ended(process, pid, start_time);
  // Forget it: the next look opens it again, finds none with this start time, and returns the same.
  if (ended || !process) processes_.erase({pid, start_time});
  return ended;
}

bool KernelProcesses::ending(std::int32_t pid, std::uint64_t start_time) {
  return process_is_ending(pid, start_time);
}

bool KernelProcesses::stopped(std::int32_t pid, std::uint64_t start_time) {
  return process_is_stopped(pid, start_time);
}

void KernelProcesses::kill(std::int32_t pid, std::uint64_t start_time) {
  const UniqueFd& process = watched(pid, start_time);
  if (process) syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
}

std::optional<ThreadTimes> KernelProcesses::times(std::int32_t pid) { return thread_times(pid); }

std::uint64_t KernelProcesses::now_ns() { return monotonic_ns(); }

void KernelProcesses::wait_for_exit(int timeout_ms) {
  std::vector<pollfd> waits;
  for (const auto& [key, process] : processes_) {
    if (process) waits.push_back({process.get(), POLLIN, 0});
  }
  poll(waits.data(), waits.size(), timeout_ms);
}

}  // namespace millrace
