// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/actor/wake.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace millrace {

void sleep(ActorEntry& entry, std::uint64_t timeout_ns) noexcept {
  const std::uint64_t bounded = std::min(timeout_ns, kSleepMaxNs);
  const timespec wait{0, static_cast<long>(bounded)};
  syscall(SYS_futex, &entry.sleeping, FUTEX_WAIT, 1, &wait, nullptr, 0);
  entry.sleeping.store(0, std::memory_order_relaxed);
}

void sleep_on(std::span<const int> descriptors, std::uint64_t timeout_ns) noexcept {
  std::array<pollfd, kSleepDescriptorsMax> items;
  const std::size_t count = std::min(descriptors.size(), items.size());
  for (std::size_t i = 0; i < count; ++i) items[i] = {descriptors[i], POLLIN, 0};
  const timespec wait{0, static_cast<long>(std::min(timeout_ns, kSleepMaxNs))};
  ppoll(items.data(), count, &wait, nullptr);
}

bool join_fences() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void fence_for_all() noexcept {
  // If the kernel refuses it, no producer has joined either.
  syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

void futex_wake(std::atomic<std::uint32_t>& word) noexcept {
  if (word.exchange(0) != 0) syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace millrace
