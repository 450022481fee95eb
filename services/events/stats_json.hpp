// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "services/events/event_json.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/status_layout.hpp"

/// EVE's `stats`: sums since the topology's start, read from the status file, so that packets are
/// not slowed.

namespace millrace {

/// The counts for which EVE has a field. Packets count when they have left, but for `missed`.
struct StatsSums {
  std::uint64_t uptime_s = 0;
  std::uint64_t received = 0, received_bytes = 0;
  std::uint64_t missed = 0;   ///< that ports could not take
  std::uint64_t refused = 0;  ///< of the received: at the ingress, by overload
  std::uint64_t malformed = 0;
  std::uint64_t transmitted = 0;
  std::uint64_t blocked = 0;  ///< dropped, as rules say so or as they are broken
  std::uint64_t by_rules = 0, by_stream_error = 0, by_stream_room = 0, by_flow_room = 0;
  std::uint64_t alerts = 0;
  std::uint64_t flows_begun = 0, flows_active = 0, flows_expired = 0, flows_evicted = 0;
  std::uint64_t flows_refused = 0;  ///< not begun for want of room
};

/// `now_ns`: system clock.
StatsSums stats_sums(const Plan& plan, const StatusView& status, std::uint64_t now_ns);

/// Adds the line with its line end. `rules`: the number of signatures of each function.
void put_stats(const StatsSums& sums, const std::vector<std::uint64_t>& rules, const Plan& plan,
               std::uint64_t time_ns, EventTimes& times, std::string& out);

}  // namespace millrace
