// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ingress/keeper_watch.hpp"

#include "shared/base/clock.hpp"

namespace millrace {

void KeeperWatch::look() noexcept {
  constexpr std::uint64_t kAskAgainNs = 1'000'000'000;  // a new process is not ready at once
  const std::uint64_t hub = context_.entry(0).incarnation.load(std::memory_order_acquire);
  const std::uint64_t now =
      hub << 32 | context_.entry(1).incarnation.load(std::memory_order_acquire);
  if (now == keepers_ || monotonic_ns() < ask_ns_) return;
  if (queue_.leave_with_keepers()) keepers_ = now;
  ask_ns_ = monotonic_ns() + kAskAgainNs;
}

}  // namespace millrace
