// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/flow_look.hpp"

#include <algorithm>
#include <cstring>

#include "services/functions/flow/flow_settings.hpp"
#include "shared/base/error.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/nearest.hpp"

namespace millrace {
namespace {

FlowEntry copy_of(const FlowTable& table, std::uint32_t flow) {
  FlowEntry entry;
  std::memcpy(&entry, &table.entry(flow), sizeof entry);
  return entry;
}

bool is_same_flow(const FlowEntry& a, const FlowEntry& b) {
  return b.used == 1 && a.tuple == b.tuple && a.answer == b.answer &&
         a.own.started_ms == b.own.started_ms;
}

bool is_family(std::uint8_t version) { return version == 4 || version == 6; }

std::string_view state_of_flow(const FlowEntry& entry) {
  const auto names = flow_state_names();
  if (entry.tuple.protocol != ip_protocol::kTcp)
    return entry.own.answered != 0 ? names[3] : names[0];
  const auto state = static_cast<std::size_t>(state_of(entry.own.tcp));
  return state < names.size() ? names[state] : names[0];
}

}  // namespace

std::optional<FlowEntry> read_flow(const FlowTable& table, std::uint32_t flow) {
  constexpr int kTries = 4;
  for (int i = 0; i < kTries; ++i) {
    const FlowEntry first = copy_of(table, flow);
    if (first.used != 1) return std::nullopt;
    if (!is_family(first.tuple.version) || !is_family(first.answer.version)) continue;
    // Its reference is written last, and goes first.
    if (!table.is_referenced(first.tuple, flow)) continue;
    const FlowEntry second = copy_of(table, flow);
    if (is_same_flow(first, second)) return second;
  }
  return std::nullopt;
}

FlowLine flow_line_of(const FlowEntry& entry) {
  FlowLine line;
  line.tuple = entry.tuple;
  line.answer = entry.answer;
  line.packets = {entry.sent.packets.value(), entry.answered.packets.value()};
  line.bytes = {entry.sent.bytes.value(), entry.answered.bytes.value()};
  line.started_ms = entry.own.started_ms;
  line.lasted_ms = entry.own.duration_ms;
  line.deadline_ms = std::uint64_t{entry.deadline_s} * 1000;
  line.state = state_of_flow(entry);
  line.is_assured = entry.established != 0;
  return line;
}

std::vector<FlowLane> flow_lanes(const Plan& plan, const std::string& function) {
  std::vector<FlowLane> lanes;
  std::vector<std::string_view> names;
  for (std::uint32_t id = 0; id < plan.functions.size(); ++id) {
    const PlanFunction& one = plan.functions[id];
    if (one.type != "flow" || one.gone) continue;
    names.push_back(one.name);
    if (!function.empty() && function != one.name) continue;
    for (const PlanStage& stage : plan.stages) {
      if (std::ranges::count(stage.functions, id) == 0) continue;
      const PlanPath& path = plan.paths[stage.path];
      for (std::uint32_t lane = 0; lane < path.lane_count; ++lane) {
        lanes.push_back({id, stage.path, path.lane_first + lane});
      }
    }
  }
  if (names.empty()) {
    throw Error("topology '" + plan.name +
                "' tracks no connections: a path needs a function of type flow");
  }
  if (!function.empty() && std::ranges::find(names, function) == names.end()) {
    throw Error(no_such("function of type flow", function, names));
  }
  return lanes;
}

std::uint32_t FlowLook::flows_of(const FlowLane& lane) const {
  const FlowSettings settings = flow_settings(plan_.functions[lane.function].settings);
  return flows_of_lane(settings, plan_.paths[lane.path].lane_count);
}

std::uint64_t FlowLook::room() const {
  std::uint64_t room = 0;
  for (const FlowLane& lane : lanes_) room += flows_of(lane);
  return room;
}

std::optional<FlowTable> FlowLook::table_of(const FlowLane& lane) const {
  const std::span<std::byte> state = segment_.lane_state(plan_, lane.function, lane.lane);
  return FlowTable::of_reader(state, flows_of(lane));
}

}  // namespace millrace
