// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "io-worker/ports/port.hpp"
#include "shared/actor/context.hpp"

namespace millrace {

/// Notices that a new process has taken the place of the hub or the standby. The files that a queue
/// left with the process before may have gone with it, so the queue leaves them again.
class KeeperWatch {
 public:
  /// `queue` is borrowed.
  KeeperWatch(const ActorContext& context, RxQueue& queue) : context_(context), queue_(queue) {}

  /// Called now and then: reads two cache lines of other cores.
  void look() noexcept;

 private:
  ActorContext context_;
  RxQueue& queue_;
  std::uint64_t keepers_ = 0;  ///< incarnations of hub and standby that have what outlives it
  std::uint64_t ask_ns_ = 0;   ///< monotonic: not before
};

}  // namespace millrace
