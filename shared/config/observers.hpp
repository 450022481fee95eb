// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iterator>

#include "shared/config/plan.hpp"
#include "shared/config/plan_settings.hpp"

/// The observers: processes of a topology that play no actor and move no packet. A further one is a
/// row here, and its program; the code that starts, watches, lists and counts processes goes
/// through the rows.

namespace millrace {

struct ObserverKind {
  /// Of its post and its log; the program is millrace-NAME. Its files in the run directory are
  /// NAME.*, with its heartbeat in NAME.beat (beat_file.hpp).
  const char* name;
  const char* ready_file;  ///< in the run directory: it serves
  bool before_packets;     ///< it serves before the first packet; otherwise when ports are open
  bool (*is_wanted)(const Plan& plan);
};

/// In the order in which they start. Events lose nothing of the first packet; routes follow behind
/// the ports, whose host interfaces are there then; what telemetry shows is there when it comes.
/// The last one is the first to be told to end: it takes its time, and nothing waits for it.
inline constexpr ObserverKind kObservers[] = {
    {.name = "events",
     .ready_file = "events.ready",
     .before_packets = true,
     .is_wanted = [](const Plan& plan) { return plan.events.has_value(); }},
    {.name = "routes",
     .ready_file = "routes.ready",
     .before_packets = false,
     .is_wanted = follows_kernel_in_place},
    {.name = "telemetry",
     .ready_file = "telemetry.address",
     .before_packets = false,
     .is_wanted = [](const Plan&) { return true; }},
};
inline constexpr std::size_t kObserverCount = std::size(kObservers);

}  // namespace millrace
