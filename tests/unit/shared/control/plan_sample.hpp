// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "orchestration/planner/plan_equal.hpp"
#include "shared/base/packet_filter.hpp"
#include "shared/config/plan_fields.hpp"

/// A plan with a value of its own in every field; a test says which one is missing.

namespace millrace::test {

inline std::vector<PlanFunction> filled_functions() {
  return {{"r",
           "route",
           {{"table", "routes.txt"}},
           "/dev/shm/r.1",
           0,
           1,
           2,
           Fallback::kPass,
           Fallback::kDrop,
           false,
           64,
           5,
           11,
           24,
           3,
           false},
          {"m",
           "match",
           {},
           "",
           1,
           3,
           4,
           Fallback::kDrop,
           Fallback::kWait,
           true,
           128,
           7,
           12,
           0,
           0,
           false},
          {"w",
           "match",
           {},
           "",
           1,
           0,
           0,
           Fallback::kDrop,
           Fallback::kWait,
           false,
           0,
           0,
           13,
           0,
           4,
           true}};
}

inline std::vector<PlanEdition> filled_editions(const std::vector<PlanFunction>& functions) {
  std::vector<PlanEdition> editions = {{1, functions[1]}, {2, functions[2]}};
  editions[0].function.edition = 4;
  editions[0].function.image = "/dev/shm/m.4";
  editions[1].function.settings = {{"rules", "w.rules"}};
  editions[1].function.overload = Fallback::kDrop;
  editions[1].function.share = 6;
  editions[1].function.edition = 9;
  return editions;
}

inline Plan filled_plan() {
  Plan plan;
  plan.name = "sample";
  plan.batch_capacity = 32;
  plan.buffer_stride = 4224;
  plan.slot_count = 48;
  plan.stand_in_slot_count = 8;
  plan.buffer_count = 900;
  plan.side_first = 700;
  plan.side_count = 150;
  plan.neighbour_count = 128;
  plan.heartbeat_limit_ms = 777;
  plan.crash_limit = 9;
  plan.fused = true;
  plan.shared_cores = false;
  plan.telemetry_listen = "127.0.0.1:9101";
  plan.events = PlanEvents{
      "/var/eve.json", 77'000'000, 7, "/run/e.sock", PlanIpfix{"192.0.2.9:4739", 12}, 13};
  plan.ports = {{"lan",
                 "pcap",
                 {{"in", "a b.pcap"}, {"in", "b.pcap"}},
                 1400,
                 "02:00:00:00:00:01",
                 {"10.1.0.1/24", "10.2.0.1/16"},
                 1,
                 1},
                {"wan", "null", {}, 9000, "02:00:00:00:00:02", {}, -1, -1}};
  plan.functions = filled_functions();
  plan.classes = {"suspicious", "voice"};
  plan.reasons = {{"odd", ReasonCause::kPacket, "as no sender should"}, {"shut", {}, ""}};
  plan.groups = {
      {"front", GroupKind::kClassifier, 2, 4, Dispatch::kFlow, 1, 0, 100, {}, {2, 4, 70, 20}},
      {"gpu", GroupKind::kGpu, 1, 1, Dispatch::kAny, 0, 16, 75, {{"seed", "7"}}, {}}};
  plan.stages = {{0, 0, {0, 1}, 1, true, 12, 7, 0}, {1, 1, {1}, 255, false, 0, 0, 3}};
  plan.paths = {{"rest",
                 0,
                 3,
                 8,
                 true,
                 "ip",
                 {filter_word(0x6, 0, 0, 65535)},
                 LanesBy::kInside,
                 false,
                 {{1}, {{10, 20}}, 32, {{7, 8, 3, 17, 53}}}},
                {"all", 1, 11, 1, false, "", {}, LanesBy::kFlow, true, {}}};
  plan.streams = {{0, 1, {{0, 1, 20}, {1, 0, 0}}, 2, 4, 0, 24, 0, 400},
                  {1, 0, {{0, 0, 0}}, 2, 4, 24, 24, 400, 500}};
  plan.actors = {{"hub", ActorKind::kHub, 0, 0, 0, true, -1, false, -1, 0},
                 {"standby", ActorKind::kStandby, 0, 0, 0, true, 1, false, 0, 1},
                 {"ingress.lan.0", ActorKind::kIngress, 0, 1, 0, true, 2, true, 1, 0},
                 {"gpu.0.b", ActorKind::kGpu, 1, 0, 3, false, 3, false, 1, 1},
                 {"egress.0", ActorKind::kEgress, 0, 0, 0, true, 4, true, 0, -1},
                 {"front.0", ActorKind::kClassifier, 0, 5, 0, true, 5, false, -1, -1}};
  plan.links = {{2, 3, 64}, {3, 4, 128}};
  plan.secrets = {"a b", "c"};
  plan.nodes = {{0, {0, 4}}, {3, {1, 2, 3, 5}}};
  plan.memory_node = 3;
  plan.revision = 5;
  plan.sources = {"/etc/a.yaml", "/etc/b.rules"};
  plan.hash = "0123abcd";
  plan.generation = 7;
  plan.others = filled_editions(plan.functions);
  plan.other_stages = {{0, {1, 0}, 4}, {1, {1}, 8}};
  plan.spare_counters = 99;
  return plan;
}

/// Which fields of a plan and of what it consists of have another value than by default, in one
/// item at least: "groups.autoscale.min".
class FilledFields {
 public:
  static std::map<std::string, bool> of(const Plan& plan) {
    FilledFields fields;
    fields.look_into("", &plan);
    return fields.filled_;
  }

 private:
  template <typename Value>
  void look_into(const std::string& prefix, const Value* value) {
    if constexpr (HasFields<Value>) {
      each_field<Value>([&](const auto& row) {
        const std::string name = prefix + std::string(row.name);
        const auto* const member = value == nullptr ? nullptr : &(value->*row.member);
        filled_[name] |= member != nullptr && !same_plan_value(*member, Value{}.*row.member);
        look_into(name + ".", member);
      });
    }
  }
  template <typename Value>
  void look_into(const std::string& prefix, const std::optional<Value>* value) {
    look_into(prefix, value != nullptr && *value ? &**value : nullptr);
  }
  template <typename Element>
  void look_into(const std::string& prefix, const std::vector<Element>* elements) {
    look_into(prefix, static_cast<const Element*>(nullptr));
    if (elements == nullptr) return;
    for (const Element& element : *elements) look_into(prefix, &element);
  }

  std::map<std::string, bool> filled_;
};

}  // namespace millrace::test
