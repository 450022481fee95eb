// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "shared/base/error.hpp"
#include "shared/base/packet_filter.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/layout/limits.hpp"
#include "shared/layout/neighbour_table.hpp"

namespace millrace {
namespace {

/// Names the element in hand, so that each check is one line.
struct Item {
  const char* kind;
  std::size_t number;

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(std::string(kind) + " " + std::to_string(number) + ": " + what);
  }
  void index(const char* field, std::uint64_t value, std::size_t count) const {
    if (value >= count) {
      refuse(std::string(field) + " " + std::to_string(value) + " of " + std::to_string(count));
    }
  }
  void range(const char* field, std::uint64_t first, std::uint64_t count, std::uint64_t end) const {
    if (first + count > end) {
      refuse(std::string(field) + " [" + std::to_string(first) + ", " +
             std::to_string(first + count) + ") of " + std::to_string(end));
    }
  }
};

template <typename T, typename Check>
void each(const std::vector<T>& items, const char* kind, Check&& check) {
  for (std::size_t i = 0; i < items.size(); ++i) check(Item{kind, i}, items[i]);
}

void check_count(const char* what, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
  if (value < low || value > high) {
    throw Error(std::string(what) + " is " + std::to_string(value) + ", allowed are " +
                std::to_string(low) + " to " + std::to_string(high));
  }
}

void check_counts(const Plan& plan) {
  check_count("batch_capacity", plan.batch_capacity, 1, kBatchCapacityMax);
  check_count("buffer_stride", plan.buffer_stride, kBufferHeadroom + kCacheLine, 65536);
  check_count("slot_count", plan.slot_count, 0, kSlotCountMax);
  // A descriptor names a slot by 16 bits.
  check_count("stand_in_slot_count", plan.stand_in_slot_count, 0, 65536 - kSlotCountMax);
  check_count("buffer_count", plan.buffer_count, 0,
              kBufferCountMax + kActorCountMax * kSideBuffersDefault);
  check_count("side_first", plan.side_first, 0, plan.buffer_count);
  const auto egresses = std::ranges::count(plan.actors, ActorKind::kEgress, &PlanActor::kind);
  check_count("side_count", std::uint64_t{plan.side_count} * static_cast<std::uint64_t>(egresses),
              0, plan.buffer_count - plan.side_first);
  check_count("neighbour_count", plan.neighbour_count, kNeighbourEntriesMin, kNeighbourEntriesMax);
  if (!std::has_single_bit(plan.neighbour_count)) throw Error("neighbour_count is no power of two");
  check_count("ports", plan.ports.size(), 0, kPortCountMax);
  check_count("functions", plan.functions.size(), 0, kFunctionPlaceMax);
  check_count("groups", plan.groups.size(), 0, kGroupCountMax);
  check_count("stages", plan.stages.size(), 0, kStageCountMax);
  check_count("paths", plan.paths.size(), 0, kPathCountMax);
  check_count("streams", plan.streams.size(), 0, kStreamCountMax);
  check_count("actors", plan.actors.size(), 0, kActorCountMax);
}

void check_stage_number(const Item& item, const char* field, std::uint8_t stage, const Plan& plan) {
  if (stage != kEgressStage) item.index(field, stage, plan.stages.size());
}

/// What a stage runs, now or by its other list.
void check_list(const Item& item, const std::vector<std::uint32_t>& functions, const Plan& plan,
                bool other) {
  if (functions.size() > kStageFunctionCountMax) item.refuse("too many functions");
  for (const std::uint32_t function : functions) {
    item.index("function", function, plan.functions.size());
    if (edition_of(plan, function, other).gone) item.refuse("a function that has gone");
  }
}

void check_work(const Plan& plan) {
  each(plan.functions, "function", [&](const Item& item, const PlanFunction& function) {
    item.index("group", function.group, plan.groups.size());
  });
  each(plan.others, "other edition", [&](const Item& item, const PlanEdition& edition) {
    item.index("number", edition.number, plan.functions.size());
    item.index("group", edition.function.group, plan.groups.size());
    const PlanFunction& now = plan.functions[edition.number];
    const bool both = !edition.function.gone && !now.gone;
    if (both && edition.function.type != now.type) item.refuse("of another type");
    if (edition.function.edition == now.edition) item.refuse("the same edition");
  });
  each(plan.groups, "group", [&](const Item& item, const PlanGroup& group) {
    if (group.count > group.max) item.refuse("count above max");
    item.index("max", group.max, kActorCountMax + 1);
    if (group.autoscale.min > group.autoscale.max) item.refuse("autoscale: min above max");
    item.index("autoscale max", group.autoscale.max, group.max + 1);
    if (group.kind == GroupKind::kGpu) item.index("stand_in", group.stand_in, plan.groups.size());
    item.index("offload", group.offload, 101);
    item.index("spill", group.spill, kSlotCountMax + 1);
  });
  each(plan.stages, "stage", [&](const Item& item, const PlanStage& stage) {
    item.index("path", stage.path, plan.paths.size());
    item.index("group", stage.group, plan.groups.size());
    check_list(item, stage.functions, plan, false);
    item.index("share", stage.share, plan.slot_count + 1);
    item.index("lane_share", stage.lane_share, stage.share + 1);
    check_stage_number(item, "next", stage.next, plan);
  });
  each(plan.other_stages, "other list", [&](const Item& item, const PlanStageEdition& stage) {
    item.index("stage", stage.number, plan.stages.size());
    check_list(item, stage.functions, plan, true);
    if (stage.edition == plan.stages[stage.number].edition) item.refuse("the same edition");
  });
}

void check_ports(const Plan& plan) {
  each(plan.ports, "port", [&](const Item& item, const PlanPort& port) {
    if (port.host >= 0)
      item.index("host", static_cast<std::uint64_t>(port.host), plan.ports.size());
  });
}

void check_flows(const Plan& plan) {
  each(plan.paths, "path", [&](const Item& item, const PlanPath& path) {
    check_stage_number(item, "first_stage", path.first_stage, plan);
    item.range("lanes", path.lane_first, path.lane_count, kLaneCountMax);
    if (path.lane_count == 0) item.refuse("no lane");
    if (path.translation.block == 0) item.refuse("a block of no port");
    for (const std::uint32_t port : path.translation.inside) {
      item.index("inside", port, plan.ports.size());
    }
    if (!is_sound_filter(path.filter)) item.refuse("a filter that may not be run");
  });
  each(plan.streams, "stream", [&](const Item& item, const PlanStream& stream) {
    item.index("port", stream.port, plan.ports.size());
    if (stream.paths.empty()) item.refuse("no path");
    for (const PlanStreamPath& at : stream.paths) {
      item.index("path", at.path, plan.paths.size());
      item.index("output", at.output, plan.ports.size());
      item.index("slots_max", at.slots_max, stream.slot_count + 1);
    }
    item.index("ingress", stream.ingress, plan.actors.size());
    item.index("egress", stream.egress, plan.actors.size());
    item.range("slots", stream.slot_first, stream.slot_count, plan.slot_count);
    item.range("buffers", stream.buffer_first, stream.buffer_count, plan.buffer_count);
  });
}

void check_actors(const Plan& plan) {
  each(plan.actors, "actor", [&](const Item& item, const PlanActor& actor) {
    const bool worker = is_of_group(actor.kind);
    if (worker) item.index("group", actor.group, plan.groups.size());
    if (actor.kind == ActorKind::kGpu) item.index("twin", actor.twin, plan.actors.size());
    if (actor.kind == ActorKind::kIngress) item.index("index", actor.index, plan.streams.size());
    if (actor.core >= 0) item.index("core", static_cast<std::uint32_t>(actor.core), kCoreCountMax);
  });
  each(plan.nodes, "node", [&](const Item& item, const PlanNode& node) {
    for (const std::uint32_t core : node.cores) item.index("core", core, kCoreCountMax);
  });
  each(plan.links, "link", [&](const Item& item, const PlanLink& link) {
    item.index("producer", link.producer, plan.actors.size());
    item.index("consumer", link.consumer, plan.actors.size());
    if (!std::has_single_bit(link.depth)) item.refuse("depth is no power of two");
  });
}

}  // namespace

void check_plan(const Plan& plan) {
  if (plan.events && (plan.events->keep == 0 || plan.events->keep > kEventFilesMax)) {
    throw Error("events: keep " + std::to_string(plan.events->keep));
  }
  check_counts(plan);
  check_ports(plan);
  check_work(plan);
  check_flows(plan);
  check_actors(plan);
}

}  // namespace millrace
