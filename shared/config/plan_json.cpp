// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "shared/base/secrets.hpp"
#include "shared/config/plan_printer.hpp"
#include "shared/config/plan_reasons.hpp"
#include "shared/layout/limits.hpp"

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

const char* fallback_name(Fallback fallback) {
  if (fallback == Fallback::kWait) return "wait";
  return fallback == Fallback::kPass ? "pass" : "drop";
}

Json class_names(const Plan& plan, std::uint32_t mask) {
  Json names = Json::array();
  for (std::size_t i = 0; i < plan.classes.size(); ++i) {
    if ((mask >> i & 1) != 0) names.push_back(plan.classes[i]);
  }
  return names;
}

Json number_json(int number) { return number >= 0 ? Json(number) : Json(nullptr); }

Json ports_json(const Plan& plan) {
  Json list = Json::array();
  for (const PlanPort& port : plan.ports) {
    list.push_back({{"name", port.name},
                    {"device", port.device},
                    {"settings", settings_json(plan, port.settings)},
                    {"mtu", port.mtu},
                    {"mac", port.mac},
                    {"addresses", port.addresses},
                    {"host", number_json(port.host)},
                    {"node", number_json(port.node)}});
  }
  return list;
}

Json groups_json(const Plan& plan) {
  Json list = Json::array();
  for (const PlanGroup& group : plan.groups) {
    const bool gpu = group.kind == GroupKind::kGpu;
    Json item = {{"name", group.name},
                 {"kind", gpu ? "gpu" : "classifier"},
                 {"count", group.count},
                 {"max", group.max},
                 {"dispatch", group.dispatch == Dispatch::kFlow ? "flow" : "any"},
                 {"settings", settings_json(plan, group.settings)}};
    if (gpu) item["stand_in"] = plan.groups[group.stand_in].name;
    if (splits(group)) {
      item["offload"] = group.offload;
      item["spill"] = group.spill;
    }
    if (const PlanAutoscale& scale = group.autoscale; scale.min != 0) {
      item["autoscale"] = {
          {"min", scale.min}, {"max", scale.max}, {"up", scale.up}, {"down", scale.down}};
    }
    list.push_back(std::move(item));
  }
  return list;
}

Json functions_json(const Plan& plan) {
  Json list = Json::array();
  for (const PlanFunction& function : plan.functions) {
    list.push_back({{"name", function.name},
                    {"type", function.type},
                    {"on", plan.groups[function.group].name},
                    {"settings", settings_json(plan, function.settings)},
                    {"image", function.image},
                    {"when", class_names(plan, function.when_class)},
                    {"classes", class_names(plan, function.class_mask)},
                    {"unavailable", fallback_name(function.unavailable)},
                    {"overload", fallback_name(function.overload)},
                    {"stateful", function.stateful},
                    {"lane_state_bytes", function.lane_state_bytes},
                    {"lane_undo_lines", function.lane_undo_lines}});
  }
  return list;
}

Json reasons_json(const Plan& plan) {
  Json list = Json::array();
  for (std::size_t i = 0; i < plan.reasons.size(); ++i) {
    const PlanReason& reason = plan.reasons[i];
    list.push_back({{"number", kCoreReasonCount + i},
                    {"name", reason.name},
                    {"cause", cause_name(reason.cause)},
                    {"summary", reason.summary}});
  }
  return list;
}

Json stages_json(const Plan& plan, std::uint8_t stage) {
  Json list = Json::array();
  for (; stage != kEgressStage; stage = plan.stages[stage].next) {
    Json functions = Json::array();
    for (const std::uint32_t function : plan.stages[stage].functions) {
      functions.push_back(plan.functions[function].name);
    }
    list.push_back({{"number", stage},
                    {"group", plan.groups[plan.stages[stage].group].name},
                    {"functions", std::move(functions)},
                    {"stateful", plan.stages[stage].stateful},
                    {"share", plan.stages[stage].share},
                    {"lane_share", plan.stages[stage].lane_share},
                    {"producers", producers_of(plan, stage)}});
  }
  return list;
}

const char* lanes_by_name(LanesBy by) {
  switch (by) {
    case LanesBy::kFlow:
      break;
    case LanesBy::kAddresses:
      return "addresses";
    case LanesBy::kInside:
      return "inside";
  }
  return "flow";
}

Json paths_json(const Plan& plan) {
  Json list = Json::array();
  for (const PlanPath& path : plan.paths) {
    list.push_back({{"name", path.name},
                    {"stages", stages_json(plan, path.first_stage)},
                    {"lane_first", path.lane_first},
                    {"lane_count", path.lane_count},
                    {"lanes_by", lanes_by_name(path.lanes_by)},
                    {"keys", path.has_keys},
                    {"match", path.match}});
  }
  return list;
}

Json stream_paths_json(const Plan& plan, const PlanStream& stream) {
  Json list = Json::array();
  for (const PlanStreamPath& at : stream.paths) {
    list.push_back({{"path", plan.paths[at.path].name},
                    {"output", plan.ports[at.output].name},
                    {"slots_max", at.slots_max}});
  }
  return list;
}

Json streams_json(const Plan& plan) {
  Json list = Json::array();
  for (const PlanStream& stream : plan.streams) {
    list.push_back({{"port", plan.ports[stream.port].name},
                    {"queue", stream.queue},
                    {"paths", stream_paths_json(plan, stream)},
                    {"ingress", plan.actors[stream.ingress].name},
                    {"egress", plan.actors[stream.egress].name},
                    {"slot_first", stream.slot_first},
                    {"slot_count", stream.slot_count},
                    {"buffer_first", stream.buffer_first},
                    {"buffer_count", stream.buffer_count},
                    {"packets_in_flight_max", stream.slot_count * plan.batch_capacity}});
  }
  return list;
}

Json actors_json(const Plan& plan) {
  Json list = Json::array();
  for (std::size_t i = 0; i < plan.actors.size(); ++i) {
    const PlanActor& actor = plan.actors[i];
    Json item = {{"id", i},
                 {"name", actor.name},
                 {"kind", kind_name(actor.kind)},
                 {"at_start", actor.at_start}};
    item["core"] = actor.core >= 0 ? Json(actor.core) : Json(nullptr);
    item["node"] = number_json(actor.node);
    if (actor.kind == ActorKind::kGpu) item["twin"] = plan.actors[actor.twin].name;
    list.push_back(std::move(item));
  }
  return list;
}

Json links_json(const Plan& plan) {
  Json list = Json::array();
  for (const PlanLink& link : plan.links) {
    list.push_back({{"name", link_name(plan, link)},
                    {"producer", plan.actors[link.producer].name},
                    {"consumer", plan.actors[link.consumer].name},
                    {"depth", link.depth}});
  }
  return list;
}

Json nodes_json(const Plan& plan) {
  Json list = Json::array();
  for (const PlanNode& node : plan.nodes) {
    list.push_back({{"number", node.number}, {"cores", node.cores}});
  }
  return list;
}

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

Json events_json(const Plan& plan) {
  if (!plan.events) return nullptr;
  Json ipfix = nullptr;
  if (const auto& to = plan.events->ipfix) {
    ipfix = {{"collector", to->collector}, {"domain", to->domain}};
  }
  return {{"file", plan.events->file},
          {"rotate_bytes", plan.events->rotate_bytes},
          {"keep", plan.events->keep},
          {"socket", plan.events->socket},
          {"ipfix", ipfix}};
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
  const PlanMemory memory = plan_memory(plan);
  const Json json = {{"name", plan.name},
                     {"batch_capacity", plan.batch_capacity},
                     {"heartbeat_limit_ms", plan.heartbeat_limit_ms},
                     {"crash_limit", plan.crash_limit},
                     {"placement", plan.fused ? "fused" : "processes"},
                     {"shared_cores", plan.shared_cores},
                     {"telemetry_listen", plan.telemetry_listen},
                     {"events", events_json(plan)},
                     {"memory",
                      {{"total_bytes", memory.total},
                       {"slot_bytes", memory.slots},
                       {"buffer_bytes", memory.buffers},
                       {"link_bytes", memory.links},
                       {"loop_bytes", memory.loops}}},
                     {"ports", ports_json(plan)},
                     {"groups", groups_json(plan)},
                     {"functions", functions_json(plan)},
                     {"reasons", reasons_json(plan)},
                     {"paths", paths_json(plan)},
                     {"streams", streams_json(plan)},
                     {"actors", actors_json(plan)},
                     {"links", links_json(plan)},
                     {"nodes", nodes_json(plan)},
                     {"memory_node", number_json(plan.memory_node)},
                     {"node_crossings", crossings_json(plan)},
                     {"warnings", warnings_json(warnings)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace millrace
