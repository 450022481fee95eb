// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "io-worker/ports/port.hpp"
#include "shared/actor/context.hpp"

namespace millrace {

/// Sees that another process has come in the place of the hub or of the standby: what a queue had
/// left with the one before may have gone with it, and is left anew.
class KeeperWatch {
 public:
  /// `queue` is borrowed.
  KeeperWatch(const ActorContext& context, RxQueue& queue) : context_(context), queue_(queue) {}

  /// Now and then; two lines of other cores.
  void look() noexcept;

 private:
  ActorContext context_;
  RxQueue& queue_;
  std::uint64_t keepers_ = 0;  ///< incarnations of hub and standby that have what outlives it
  std::uint64_t ask_ns_ = 0;   ///< monotonic: not before
};

}  // namespace millrace
