// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stop_token>
#include <thread>
#include <vector>

#include "shared/actor/context.hpp"

namespace millrace {

/// Between an actor's grant and its first turn: says that it lives while its ports are opened. That
/// takes as long as a file is (an output that is continued, an input that is read up to where a
/// life before was). It acknowledges nothing: what the actor scans meanwhile must not be repaired.
class SetupBeat {
 public:
  /// Longer than that is no setting up: from then on the leader takes it for hung.
  static constexpr std::chrono::minutes kLimit{5};

  /// Beats for all of them, by a thread of its own, until it ends.
  explicit SetupBeat(std::vector<ActorContext> actors);

 private:
  void beat(const std::stop_token& stop) const;

  const std::vector<ActorContext> actors_;
  std::jthread thread_;
};

}  // namespace millrace
