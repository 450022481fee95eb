// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestration/cli/flow_line.hpp"
#include "orchestration/cli/segment_look.hpp"
#include "services/functions/flow/flow_table.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// A flow of a table that its worker changes meanwhile. Nothing: there is none with that number, or
/// it is half written (or left so by a worker that was killed, until it is taken back).
std::optional<FlowEntry> read_flow(const FlowTable& table, std::uint32_t flow);

/// What of it is shown; without names and times of the look.
FlowLine flow_line_of(const FlowEntry& entry);

/// A lane that a function `flow` works on.
struct FlowLane {
  std::uint32_t function, path;  ///< of the plan
  std::uint32_t lane;            ///< of the plan, not of the path
};
/// `function`: of that name alone; empty: of all. Throws Error when there is none.
std::vector<FlowLane> flow_lanes(const Plan& plan, const std::string& function);

/// The tables of the functions `flow` of a running topology, by lanes.
class FlowLook {
 public:
  /// Borrows both. `function`: as above.
  FlowLook(const Plan& plan, const SegmentLook& segment, const std::string& function)
      : plan_(plan), segment_(segment), lanes_(flow_lanes(plan, function)) {}

  /// Calls `each` with a FlowLine of each connection. `now_ms`: since the topology started.
  template <typename Each>
  void list(std::uint64_t now_ms, const Each& each) const {
    for (const FlowLane& lane : lanes_) {
      const auto table = table_of(lane);
      if (!table) continue;
      for (std::uint32_t flow = 0; flow < table->size(); ++flow) {
        const auto entry = read_flow(*table, flow);
        if (!entry) continue;
        FlowLine line = flow_line_of(*entry);
        line.function = plan_.functions[lane.function].name;
        line.path = plan_.paths[lane.path].name;
        line.lane = lane.lane - plan_.paths[lane.path].lane_first;
        line.number = flow;
        line.now_ms = now_ms;
        each(std::move(line));
      }
    }
  }
  /// Connections that fit into the tables, together.
  std::uint64_t room() const;

 private:
  /// Nothing: no packet has been there yet.
  std::optional<FlowTable> table_of(const FlowLane& lane) const;
  std::uint32_t flows_of(const FlowLane& lane) const;

  const Plan& plan_;
  const SegmentLook& segment_;
  std::vector<FlowLane> lanes_;
};

}  // namespace millrace
