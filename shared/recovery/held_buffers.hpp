// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shared/links/return_link.hpp"
#include "shared/recovery/driver_queues.hpp"
#include "shared/recovery/recovery_event.hpp"

namespace millrace {

/// Buffers in the queues of a dead ingress or egress, which no slot and no link shows: they are
/// free once no device touches them any more. Called by the leader, from one thread.
class HeldBuffers {
 public:
  /// All are borrowed. `drivers`: of queues that outlive their process; null: there are none.
  HeldBuffers(const ActorContext& context, DriverQueues* drivers, ReturnLinks& returns,
              const TellRecovery& tell)
      : context_(context),
        drivers_(drivers != nullptr ? *drivers : ended_with_process_),
        returns_(returns),
        tell_(tell) {}

  /// Called when an actor of any kind has ended. True once its queues are still.
  bool stop(std::uint32_t actor);
  /// Called when all have acknowledged that it is reclaiming. True once its queues can serve a
  /// successor; false: call again.
  bool restore(std::uint32_t actor);

 private:
  void account_waiting(std::uint32_t egress);
  void free_pool(std::uint32_t egress);
  std::uint32_t free_held(std::uint32_t actor);

  const ActorContext& context_;
  DriverQueues ended_with_process_;
  DriverQueues& drivers_;
  ReturnLinks& returns_;
  const TellRecovery& tell_;
};

}  // namespace millrace
