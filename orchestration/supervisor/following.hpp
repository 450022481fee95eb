// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "orchestration/supervisor/route_watch.hpp"
#include "orchestration/supervisor/table_switch.hpp"
#include "shared/control/messages.hpp"

namespace millrace {

/// Tables that follow the kernel's routes. They go over to new ones between the changes that are
/// asked for, by the same phases, and leave history and generation as they are. One thread.
class RouteFollowing {
 public:
  using Clock = std::chrono::steady_clock;

  /// All are borrowed. `tell` gets what could not be followed, and that it can be again.
  RouteFollowing(const Plan& plan, StateFile& state, TableSwitch& tables,
                 std::function<void(Event)> tell)
      : plan_(plan), state_(state), tables_(tables), tell_(std::move(tell)), routes_(plan) {}

  /// Readable when a route has changed; -1: none is waited for.
  int descriptor() const { return routes_.descriptor(); }
  /// Tables are to be built soon.
  bool pending() const { return routes_.pending(); }
  /// True while the change of tables that is under way is one of these.
  bool is_under_way() const { return under_way_; }
  /// Begins when tables are due; only while nothing else changes, or waits to.
  void begin_due();
  /// Goes on, while under way.
  void tend(Clock::time_point now);

 private:
  void end(const TableSwitch::Outcome& outcome);

  const Plan& plan_;
  StateFile& state_;
  TableSwitch& tables_;
  std::function<void(Event)> tell_;
  RouteWatch routes_;
  bool under_way_ = false;
  std::string error_;  ///< why they could not be followed, as told last
};

}  // namespace millrace
