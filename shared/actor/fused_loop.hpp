// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "shared/actor/run_loop.hpp"

namespace millrace {

/// Several actors on one thread: each has a turn, and all sleep together. A batch passes from one
/// to the next without leaving the core.
class FusedLoop {
 public:
  struct Member {
    ActorContext context;
    Actor* actor = nullptr;  ///< borrowed
  };

  /// `members`: in the order of the path, ingresses first, egresses last. `stop`: as of RunLoop.
  FusedLoop(std::span<const Member> members, const std::atomic<bool>& stop);
  /// Returns when all have finished after a stop. Each finishes after those before it, so that it
  /// gets all batches that they had in hand.
  void run() noexcept;
  /// One turn of each. False: all have finished.
  bool turn() noexcept;

 private:
  struct Part {
    explicit Part(const Member& member) : loop(member.context, *member.actor, stop) {}
    std::atomic<bool> stop{false};
    bool finished = false;
    RunLoop loop;
  };

  void idle() noexcept;
  bool may_sleep() noexcept;

  const std::atomic<bool>& stop_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::uint64_t idle_since_ = 0;  ///< TSC; 0: busy
  std::uint64_t spin_ticks_;
};

}  // namespace millrace
