// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>

#include "shared/base/error.hpp"
#include "shared/base/limits.hpp"
#include "shared/base/packet_filter.hpp"
#include "shared/config/plan_fields.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/layout/neighbour_table.hpp"

namespace millrace {
namespace {

/// Names the element in hand, so that each check is one line.
struct Item {
  std::string_view kind;  ///< empty: the plan itself
  std::size_t number;

  [[noreturn]] void refuse(const std::string& what) const {
    if (kind.empty()) throw Error(what);
    throw Error(std::string(kind) + " " + std::to_string(number) + ": " + what);
  }
  void index(std::string_view field, std::uint64_t value, std::size_t count) const {
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

std::size_t size_of(const Plan& plan, PlanTable table) {
  switch (table) {
    case PlanTable::kPorts:
      return plan.ports.size();
    case PlanTable::kFunctions:
      return plan.functions.size();
    case PlanTable::kGroups:
      return plan.groups.size();
    case PlanTable::kStages:
      return plan.stages.size();
    case PlanTable::kPaths:
      return plan.paths.size();
    case PlanTable::kActors:
      return plan.actors.size();
    case PlanTable::kNone:
    case PlanTable::kClasses:
      break;
  }
  return SIZE_MAX;
}

/// Follows the list of fields: lengths, and numbers of other items.
class FieldCheck {
 public:
  explicit FieldCheck(const Plan& plan) : plan_(plan) {}

  template <HasFields Struct>
  void check(const Item& item, const Struct& of) const {
    each_field<Struct>([&](const auto& row) {
      if (row.applies == nullptr || row.applies(of)) field(item, row, of.*row.member);
    });
  }

 private:
  template <typename Row, typename Value>
  void field(const Item& item, const Row& row, const Value& value) const {
    if constexpr (std::is_integral_v<Value>) {
      number(item, row.name, row.table, value);
    } else if constexpr (HasFields<Value>) {
      check(item, value);
    }
  }
  template <typename Row, typename Element>
  void field(const Item& item, const Row& row, const std::vector<Element>& elements) const {
    if (elements.size() > row.count_max) {
      item.refuse(std::to_string(elements.size()) + " " + std::string(row.name) + ", at most " +
                  std::to_string(row.count_max));
    }
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if constexpr (HasFields<Element>) {
        check(item.kind.empty() ? Item{row.element, i} : item, elements[i]);
      } else if constexpr (std::is_integral_v<Element>) {
        number(item, row.element, row.table, elements[i]);
      }
    }
  }
  template <typename Number>
  void number(const Item& item, std::string_view name, PlanTable table, Number value) const {
    if (table == PlanTable::kNone || table == PlanTable::kClasses) return;
    if constexpr (std::is_same_v<Number, std::uint8_t>) {
      if (value == kEgressStage) return;  // no stage
    }
    if constexpr (std::is_signed_v<Number>) {
      if (value < 0) return;  // none
    }
    item.index(name, static_cast<std::uint64_t>(value), size_of(plan_, table));
  }

  const Plan& plan_;
};

template <typename T, typename Check>
void each(const std::vector<T>& items, std::string_view kind, Check&& check) {
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
  check_count("neighbour_count", plan.neighbour_count, kNeighbourCountMin, kNeighbourCountMax);
  if (!std::has_single_bit(plan.neighbour_count)) throw Error("neighbour_count is no power of two");
}

/// What a stage runs, now or by its other list.
void check_list(const Item& item, const std::vector<std::uint32_t>& functions, const Plan& plan,
                bool other) {
  for (const std::uint32_t function : functions) {
    if (edition_of(plan, function, other).gone) item.refuse("a function that has gone");
  }
}

void check_work(const Plan& plan) {
  each(plan.others, "other edition", [&](const Item& item, const PlanEdition& edition) {
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
    item.index("offload", group.offload, 101);
    item.index("spill", group.spill, kSlotCountMax + 1);
  });
  each(plan.stages, "stage", [&](const Item& item, const PlanStage& stage) {
    check_list(item, stage.functions, plan, false);
    item.index("share", stage.share, plan.slot_count + 1);
    item.index("lane_share", stage.lane_share, stage.share + 1);
  });
  each(plan.other_stages, "other list", [&](const Item& item, const PlanStageEdition& stage) {
    check_list(item, stage.functions, plan, true);
    if (stage.edition == plan.stages[stage.number].edition) item.refuse("the same edition");
  });
}

void check_flows(const Plan& plan) {
  each(plan.paths, "path", [&](const Item& item, const PlanPath& path) {
    item.range("lanes", path.lane_first, path.lane_count, kLaneCountMax);
    if (path.lane_count == 0) item.refuse("no lane");
    if (path.translation.block == 0) item.refuse("a block of no port");
    if (!is_sound_filter(path.filter)) item.refuse("a filter that may not be run");
  });
  each(plan.streams, "stream", [&](const Item& item, const PlanStream& stream) {
    if (stream.paths.empty()) item.refuse("no path");
    for (const PlanStreamPath& at : stream.paths) {
      item.index("slots_max", at.slots_max, stream.slot_count + 1);
    }
    item.range("slots", stream.slot_first, stream.slot_count, plan.slot_count);
    item.range("buffers", stream.buffer_first, stream.buffer_count, plan.buffer_count);
  });
}

void check_actors(const Plan& plan) {
  each(plan.actors, "actor", [&](const Item& item, const PlanActor& actor) {
    if (actor.kind == ActorKind::kIngress) item.index("index", actor.index, plan.streams.size());
    if (actor.core >= 0) item.index("core", static_cast<std::uint32_t>(actor.core), kCoreCountMax);
  });
  each(plan.nodes, "node", [&](const Item& item, const PlanNode& node) {
    for (const std::uint32_t core : node.cores) item.index("core", core, kCoreCountMax);
  });
  each(plan.links, "link", [&](const Item& item, const PlanLink& link) {
    if (!std::has_single_bit(link.depth)) item.refuse("depth is no power of two");
  });
}

}  // namespace

void check_plan(const Plan& plan) {
  if (plan.events) check_count("events: keep", plan.events->keep, 1, kEventFilesMax);
  check_counts(plan);
  FieldCheck(plan).check(Item{}, plan);
  check_work(plan);
  check_flows(plan);
  check_actors(plan);
}

}  // namespace millrace
