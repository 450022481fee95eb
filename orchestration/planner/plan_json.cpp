// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "orchestration/planner/plan_printer.hpp"
#include "shared/base/limits.hpp"
#include "shared/base/reason.hpp"
#include "shared/base/secrets.hpp"
#include "shared/config/plan_fields.hpp"

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

/// A key that is there several times becomes a list.
Json settings_json(const Plan& plan, const Settings& settings) {
  Json object = Json::object();
  for (const auto& [key, written] : settings) {
    const std::string value = without_secrets(written, plan.secrets);
    if (!object.contains(key)) {
      object[key] = value;
    } else if (object[key].is_array()) {
      object[key].push_back(value);
    } else {
      object[key] = Json::array({object[key], value});
    }
  }
  return object;
}

Json class_names(const Plan& plan, std::uint32_t mask) {
  Json names = Json::array();
  for (std::size_t i = 0; i < plan.classes.size(); ++i) {
    if ((mask >> i & 1) != 0) names.push_back(plan.classes[i]);
  }
  return names;
}

Json memory_json(const Plan& plan) {
  const PlanMemory memory = plan_memory(plan);
  return {{"total_bytes", memory.total},
          {"slot_bytes", memory.slots},
          {"buffer_bytes", memory.buffers},
          {"link_bytes", memory.links},
          {"loop_bytes", memory.loops}};
}

/// What the item with this number of a table is called.
const std::string& name_of(const Plan& plan, PlanTable table, std::size_t number) {
  if (table == PlanTable::kPorts) return plan.ports[number].name;
  if (table == PlanTable::kFunctions) return plan.functions[number].name;
  if (table == PlanTable::kGroups) return plan.groups[number].name;
  if (table == PlanTable::kPaths) return plan.paths[number].name;
  return plan.actors[number].name;
}

/// Shows the fields of the plan's structs in the order of their list.
class Shown {
 public:
  explicit Shown(const Plan& plan) : plan_(plan) {}

  template <HasFields Item>
  Json object(const Item& item) const {
    Json json = Json::object();
    add_computed(json, item, "");
    each_field<Item>([&](const auto& row) {
      const bool applies = row.applies == nullptr || row.applies(item);
      if (applies && !row.shown.empty()) {
        json[std::string(row.shown)] = value(row.table, item.*row.member);
      }
      add_computed(json, item, row.name);
    });
    return json;
  }

 private:
  Json value(PlanTable /*table*/, int number) const {
    return number >= 0 ? Json(number) : Json(nullptr);
  }
  Json value(PlanTable table, std::uint8_t number) const {
    return table == PlanTable::kStages ? chain(number) : Json(number);
  }
  Json value(PlanTable table, std::uint32_t number) const {
    if (table == PlanTable::kNone) return number;
    if (table == PlanTable::kClasses) return class_names(plan_, number);
    return name_of(plan_, table, number);
  }
  Json value(PlanTable /*table*/, const Settings& settings) const {
    return settings_json(plan_, settings);
  }
  template <typename Value>
  Json value(PlanTable /*table*/, const Value& item) const {
    if constexpr (std::is_enum_v<Value>) {
      return enum_name(item);
    } else if constexpr (HasFields<Value>) {
      return object(item);
    } else {
      return item;
    }
  }
  template <typename Value>
  Json value(PlanTable table, const std::optional<Value>& item) const {
    return item ? value(table, *item) : Json(nullptr);
  }
  template <typename Element>
  Json value(PlanTable table, const std::vector<Element>& elements) const {
    Json list = Json::array();
    for (const Element& element : elements) list.push_back(value(table, element));
    return list;
  }

  Json chain(std::uint8_t stage) const {
    Json list = Json::array();
    for (; stage != kEgressStage; stage = plan_.stages[stage].next) {
      list.push_back(object(plan_.stages[stage]));
    }
    return list;
  }

  /// What follows from others stands behind a field, or in front of all: "".
  template <typename Item>
  void add_computed(Json& /*json*/, const Item& /*item*/, std::string_view /*behind*/) const {}
  void add_computed(Json& json, const PlanReason& reason, std::string_view behind) const {
    const auto number = static_cast<std::size_t>(&reason - plan_.reasons.data());
    if (behind.empty()) json["number"] = kCoreReasonCount + number;
  }
  void add_computed(Json& json, const PlanGroup& group, std::string_view behind) const {
    if (behind == "offload" && is_balanced(group)) json["offload"] = "auto";
  }
  void add_computed(Json& json, const PlanActor& actor, std::string_view behind) const {
    if (behind.empty()) json["id"] = &actor - plan_.actors.data();
  }
  void add_computed(Json& json, const PlanLink& link, std::string_view behind) const {
    if (behind.empty()) json["name"] = link_name(plan_, link);
  }
  void add_computed(Json& json, const PlanStage& stage, std::string_view behind) const {
    const auto number = static_cast<std::uint8_t>(&stage - plan_.stages.data());
    if (behind.empty()) json["number"] = number;
    if (behind == "lane_share") json["producers"] = producers_of(plan_, number);
  }
  void add_computed(Json& json, const PlanStream& stream, std::string_view behind) const {
    if (behind != "buffer_count") return;
    json["packets_in_flight_max"] = stream.slot_count * plan_.batch_capacity;
  }
  void add_computed(Json& json, const Plan& plan, std::string_view behind) const {
    if (behind == "crash_limit") json["placement"] = plan.fused ? "fused" : "processes";
    if (behind == "events") json["memory"] = memory_json(plan);
  }

  const Plan& plan_;
};

Json crossings_json(const Plan& plan) {
  Json list = Json::array();
  for (const NodeCrossing& crossing : node_crossings(plan)) {
    list.push_back({{"from", crossing.from},
                    {"from_node", crossing.from_node},
                    {"to", crossing.to},
                    {"to_node", crossing.to_node}});
  }
  return list;
}

Json warnings_json(const std::vector<TopologyWarning>& warnings) {
  Json list = Json::array();
  for (const TopologyWarning& warning : warnings) {
    list.push_back({{"file", warning.mark.file},
                    {"line", warning.mark.line},
                    {"column", warning.mark.column},
                    {"text", to_text(warning)}});
  }
  return list;
}

}  // namespace

std::string plan_json(const Plan& plan, const std::vector<TopologyWarning>& warnings) {
  Json json = Shown(plan).object(plan);
  json["node_crossings"] = crossings_json(plan);
  json["warnings"] = warnings_json(warnings);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace millrace
