// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stop_token>
#include <thread>
#include <vector>

#include "shared/actor/context.hpp"

namespace millrace {

/// Beats for an actor between its grant and its first turn, while its ports are opened. That takes
/// time in proportion to a file (an output that is continued, an input that is read up to where the
/// process before was). It acknowledges no epoch: what the actor scans meanwhile must not be
/// repaired.
class SetupBeat {
 public:
  /// It beats no longer than this: from then on the leader takes the actor for hung.
  static constexpr std::chrono::minutes kLimit{5};

  /// Beats for all `actors`, on a thread of its own, until it is destroyed.
  explicit SetupBeat(std::vector<ActorContext> actors);

 private:
  void beat(const std::stop_token& stop) const;

  const std::vector<ActorContext> actors_;
  std::jthread thread_;
};

}  // namespace millrace
