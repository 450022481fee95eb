// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

#include "orchestration/supervisor/fleet.hpp"

namespace millrace {

/// Starts a topology: processes kind by kind; the next kind waits until all of one are alive.
class StartOrder {
 public:
  struct Means {
    /// Waits that long for something to happen, and deals with it.
    std::function<void(std::chrono::milliseconds)> turn;
    std::function<bool()> is_ending;                    ///< it is to stop
    std::function<bool(std::uint32_t actor)> is_ready;  ///< its ports are open
    std::function<void(const std::string& what)> say;   ///< a step is done
  };
  /// `plan` and `fleet` are borrowed.
  StartOrder(const Plan& plan, Fleet& fleet, std::string run_dir, Means means);

  /// Returns when all actors are alive and have opened their ports, and all observers serve. Throws
  /// Error with the log of what failed; what was started runs on.
  void run();

 private:
  void start_hub();
  void start_kind(std::initializer_list<ActorKind> kinds, const char* what);
  void wait_alive(const char* what);
  void wait_ready();
  void start_observers(bool before_packets);
  void start_observer(Post& post);

  const Plan& plan_;
  Fleet& fleet_;
  std::string run_dir_;
  Means means_;
};

}  // namespace millrace
