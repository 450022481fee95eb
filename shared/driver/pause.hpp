// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "shared/actor/context.hpp"

namespace millrace {

/// Actors that poll a DPDK port: its ingresses, and every egress.
std::vector<std::uint32_t> users_of(const Plan& plan, std::uint32_t port);

/// Tells a port's users not to touch it while the hub stops and starts it: from the moment that one
/// of them is known to be dead until its place is vacant. All have acknowledged that before the hub
/// touches the port. Without a hub nothing stops a port, so nothing waits.
class PortPause {
 public:
  PortPause(const ActorContext& context, std::uint32_t port)
      : context_(context), users_(users_of(*context.plan, port)) {}
  /// Called before each burst; one load if the roster has not moved.
  bool now() noexcept {
    const std::uint64_t epoch = context_.status.header().epoch.load(std::memory_order_acquire);
    if (epoch != seen_epoch_) [[unlikely]] {
      seen_epoch_ = epoch;
      paused_ = look();
    }
    return paused_;
  }

 private:
  bool look() const noexcept;

  ActorContext context_;
  std::vector<std::uint32_t> users_;
  std::uint64_t seen_epoch_ = UINT64_MAX;
  bool paused_ = false;
};

}  // namespace millrace
