// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "services/hub/neighbour_follower.hpp"
#include "shared/actor/context.hpp"

namespace millrace {

/// Keeps a thread with a NeighbourFollower while a function of the plan says `neighbours: kernel`.
/// Notices changes of the plan. Called by the leader's thread.
class NeighbourKeeper {
 public:
  static constexpr std::chrono::milliseconds kTurn{100};  ///< of its thread

  /// `tell`: called by the follower's thread.
  NeighbourKeeper(const ActorContext& context, const std::string& run_dir,
                  std::function<void(const std::string& what)> tell);
  ~NeighbourKeeper();
  NeighbourKeeper(const NeighbourKeeper&) = delete;  // its thread refers to it
  NeighbourKeeper& operator=(const NeighbourKeeper&) = delete;

  /// Called every second or so. Waits only for a thread that ends, for kTurn.
  void look();

 private:
  bool plan_has_changed();
  void stop();

  const ActorContext context_;
  const std::string plan_file_;
  const std::function<void(const std::string&)> tell_;
  ino_t seen_file_ = 0;  ///< the plan's that was read last, and when it was written
  std::int64_t seen_ns_ = 0;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace millrace
