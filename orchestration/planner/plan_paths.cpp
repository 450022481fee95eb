// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orchestration/planner/planning.hpp"
#include "shared/base/limits.hpp"
#include "shared/config/known_devices.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kFlowLanesDefault = 8;
constexpr std::uint32_t kTurnLanesDefault = 16;  ///< as many as slots: no batch waits for another
constexpr std::uint32_t kSlotsPerLane = 3;
constexpr std::uint32_t kSlotsDefault = 16;
constexpr std::uint32_t kSlotsPerShare = 4;  ///< room for what goes past, until it is in order
constexpr std::uint32_t kOpenBuffers = 512;  ///< in polls and open slots, beyond sealed slots

/// Appends the path's stages to the plan; returns the number of the first.
std::uint8_t add_stages(Planning& planning, const TopologyPath& from, std::uint32_t path) {
  Plan& plan = planning.plan;
  const std::size_t first = plan.stages.size();
  for (const Marked<std::string>& name : from.run) {
    const auto index =
        static_cast<std::uint32_t>(index_of(planning.topology.functions, name.value));
    const PlanFunction& function = plan.functions[index];
    if (plan.stages.size() == first || plan.stages.back().group != function.group) {
      plan.stages.push_back({.path = path, .group = function.group, .next = kEgressStage});
    }
    plan.stages.back().functions.push_back(index);
    plan.stages.back().stateful = plan.stages.back().stateful || function.stateful;
  }
  if (plan.stages.size() == first) return kEgressStage;
  for (std::size_t i = first; i + 1 < plan.stages.size(); ++i) {
    plan.stages[i].next = static_cast<std::uint8_t>(i + 1);
  }
  return static_cast<std::uint8_t>(first);
}

std::uint32_t lanes_of(const Plan& plan, const TopologyPath& from, std::uint32_t path) {
  if (from.lanes) return from.lanes->value;
  if (from.unordered.value) return kTurnLanesDefault;
  std::uint32_t lanes = 1;
  for (const PlanStage& stage : plan.stages) {
    const PlanGroup& group = plan.groups[stage.group];
    if (stage.path != path || group.dispatch != Dispatch::kFlow) continue;
    lanes = std::max({lanes, kFlowLanesDefault, group.max});
  }
  return lanes;
}

/// The first stage is a GPU's, and to all of its functions the keys of flows are enough.
bool needs_keys(const Planning& planning, const PlanPath& path) {
  const Plan& plan = planning.plan;
  if (path.first_stage >= plan.stages.size()) return false;
  const PlanStage& stage = plan.stages[path.first_stage];
  if (plan.groups[stage.group].kind != GroupKind::kGpu) return false;
  return std::ranges::all_of(stage.functions, [&](std::uint32_t function) {
    return known_of(planning, plan.functions[function].type).keys_suffice;
  });
}

/// Stages of the path that batches may go past when they are overloaded.
template <typename Visit>
void each_shared_stage(const Plan& plan, std::uint32_t path, Visit&& visit) {
  for (const PlanStage& stage : plan.stages) {
    if (stage.path == path && stage.share != 0) visit(stage);
  }
}

/// Slots that a path asks a stream for.
std::uint32_t slots_of(Planning& planning, const TopologyPath& from, std::uint32_t path) {
  const Plan& plan = planning.plan;
  const std::uint32_t lanes = plan.paths[path].lane_count;
  const std::uint32_t open = from.unordered.value ? 1 : lanes;  // that are filled at a time
  if (from.slots) {
    if (from.slots->value < 2 * open + 1) {
      planning.problems.add(
          from.slots->mark,
          std::to_string(from.slots->value) + " slots for " + std::to_string(lanes) + " lanes",
          "at least " + std::to_string(2 * open + 1));
    }
    return from.slots->value;
  }
  std::uint32_t slots = std::max({kSlotsDefault, kSlotsPerLane * open, lanes});
  const bool gpu = std::any_of(plan.stages.begin(), plan.stages.end(), [&](const PlanStage& s) {
    return s.path == path && plan.groups[s.group].kind == GroupKind::kGpu;
  });
  if (gpu) slots *= 2;
  each_shared_stage(plan, path, [&](const PlanStage& stage) {
    slots = std::max(slots, kSlotsPerShare * share_of_stream(planning, stage));
  });
  return slots;
}

/// Slots beyond which the ingress refuses the path's packets. What went past a slow function waits
/// behind what did not; so a path with `overload` leaves the others of its port theirs, and itself
/// one, with which the port is read on. Alone, and if it drops nothing, it rather waits.
std::uint32_t slots_max_of(const Plan& plan, std::uint32_t path, std::uint32_t asked, bool alone) {
  bool refuses = false;
  each_shared_stage(plan, path, [&](const PlanStage& stage) {
    const auto drops = [&](std::uint32_t function) {
      return plan.functions[function].overload == Fallback::kDrop;
    };
    refuses = refuses || !alone || std::ranges::any_of(stage.functions, drops);
  });
  return refuses ? asked - 1 : 0;
}

std::uint32_t output_of(const Topology& topology, const TopologyPath& path, std::uint32_t port) {
  if (path.to) return static_cast<std::uint32_t>(index_of(topology.ports, path.to->value));
  if (const auto host_of = topology.ports[port].host_of) {
    return static_cast<std::uint32_t>(*host_of);
  }
  const auto of_file =
      std::ranges::count_if(topology.ports, [](const TopologyPort& each) { return !each.host_of; });
  return of_file == 2 ? 1 - port : 0;
}

/// Buffers that devices can have of a stream: those of its receive queue, and a transmit queue's at
/// every port.
std::uint32_t held_of(const Plan& plan, std::uint32_t stream_port) {
  std::uint32_t held = 0;
  for (std::uint32_t i = 0; i < plan.ports.size(); ++i) {
    const PlanPort& port = plan.ports[i];
    const KnownDevice* const device = known_device(port.device);
    if (device == nullptr) continue;
    if (i == stream_port) held += port_number(port, device->held_by);
    held += port_number(port, device->sent_by);
  }
  return held;
}

/// What the paths of a stream ask for together.
void size_stream(Planning& planning, PlanStream& stream) {
  Plan& plan = planning.plan;
  std::uint32_t asked = 0;
  const TopologyPath* asks = nullptr;
  const bool alone = stream.paths.size() == 1;
  for (PlanStreamPath& at : stream.paths) {
    const TopologyPath& from = planning.topology.paths[at.path];
    const std::uint32_t slots = slots_of(planning, from, at.path);
    stream.slot_count += slots;
    at.slots_max = slots_max_of(plan, at.path, slots, alone);
    if (!from.buffers) continue;
    asked += from.buffers->value;
    asks = &from;
  }
  const std::uint32_t least =
      stream.slot_count * plan.batch_capacity + kOpenBuffers + held_of(plan, stream.port);
  stream.buffer_count = asks == nullptr ? least : asked;
  if (stream.buffer_count < least) {
    planning.problems.add(
        asks->buffers->mark,
        std::to_string(asked) + " buffers for " + std::to_string(stream.slot_count) + " slots",
        "at least " + std::to_string(least));
  }
  stream.slot_first = plan.slot_count;
  stream.buffer_first = plan.buffer_count;
  plan.slot_count += stream.slot_count;
  plan.buffer_count += stream.buffer_count;
}

/// Receive queues that it may have while it runs.
std::uint32_t queues_of(Planning& planning, const TopologyPort& port) {
  const std::uint32_t most = port.queues_max.value;
  if (most == 0) return port.queues;
  if (most < port.queues) {
    planning.problems.add(
        port.queues_max.mark,
        "queues_max " + std::to_string(most) + " with queues " + std::to_string(port.queues),
        "at least " + std::to_string(port.queues));
  }
  if (planning.topology.fused) {
    planning.problems.add(port.queues_max.mark,
                          "queues_max " + std::to_string(most) + " with `placement: fused`",
                          "no queues_max: all queues share one thread");
  }
  return std::max(most, port.queues);
}

/// The stream of a queue, made at its first path.
PlanStream& stream_of(Plan& plan, std::uint32_t port, std::uint32_t queue) {
  const auto found = std::find_if(plan.streams.begin(), plan.streams.end(), [&](const auto& s) {
    return s.port == port && s.queue == queue;
  });
  if (found != plan.streams.end()) return *found;
  PlanStream stream;
  stream.port = port;
  stream.queue = queue;
  return plan.streams.emplace_back(std::move(stream));
}

}  // namespace

void plan_paths(Planning& planning) {
  Plan& plan = planning.plan;
  std::uint32_t lane_first = 0;
  for (const TopologyPath& from : planning.topology.paths) {
    const auto number = static_cast<std::uint32_t>(plan.paths.size());
    PlanPath path{.name = from.name.value};
    path.first_stage = add_stages(planning, from, number);
    path.match = from.match.value;
    path.filter = from.filter;
    path.lane_first = lane_first;
    path.lane_count = lanes_of(plan, from, number);
    path.has_keys = needs_keys(planning, path);
    lane_first += path.lane_count;
    check_most(planning, from.lanes ? from.lanes->mark : from.name.mark, "lanes", lane_first,
               kLaneCountMax);
    check_most(planning, from.name.mark, "stages", plan.stages.size(), kStageCountMax);
    plan.paths.push_back(std::move(path));
  }
}

void plan_streams(Planning& planning) {
  Plan& plan = planning.plan;
  for (std::uint32_t path = 0; path < plan.paths.size(); ++path) {
    const TopologyPath& from = planning.topology.paths[path];
    for (const Marked<std::string>& name : from.from) {
      const auto port = static_cast<std::uint32_t>(index_of(planning.topology.ports, name.value));
      const std::uint32_t queues = queues_of(planning, planning.topology.ports[port]);
      for (std::uint32_t queue = 0; queue < queues; ++queue) {
        stream_of(plan, port, queue)
            .paths.push_back({path, output_of(planning.topology, from, port)});
      }
    }
    check_most(planning, from.name.mark, "streams", plan.streams.size(), kStreamCountMax);
  }
  if (plan.fused && plan.streams.empty()) {
    planning.problems.add(planning.topology.mark, "'placement: fused' and no path",
                          "at least one path: its ingress has the thread");
  }
  for (PlanStream& stream : plan.streams) {
    size_stream(planning, stream);
    const TopologyPath& from = planning.topology.paths[stream.paths.front().path];
    check_most(planning, from.slots ? from.slots->mark : from.name.mark, "slots", plan.slot_count,
               kSlotCountMax);
    check_most(planning, from.buffers ? from.buffers->mark : from.name.mark, "buffers",
               plan.buffer_count, kBufferCountMax);
  }
}

}  // namespace millrace
