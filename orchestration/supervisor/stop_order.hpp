// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <string>

#include "orchestration/supervisor/fleet.hpp"

namespace millrace {

/// Ends the processes of a topology: ingress first, then what is in flight is waited for, then
/// workers, egress, standby, hub; each in bounded time.
class StopOrder {
 public:
  struct Means {
    /// Waits that long for something to happen, and deals with it.
    std::function<void(std::chrono::milliseconds)> turn;
    std::function<void(const std::string& what)> say;  ///< a step is done
  };
  /// `plan` and `fleet` are borrowed.
  StopOrder(const Plan& plan, Fleet& fleet, Means means);

  /// The ingresses; telemetry is told to end.
  void stop_sources();
  /// All others.
  void stop_rest();

 private:
  void drain_flight();
  void stop_kinds(std::initializer_list<ActorKind> kinds, const char* what);

  const Plan& plan_;
  Fleet& fleet_;
  Means means_;
};

}  // namespace millrace
