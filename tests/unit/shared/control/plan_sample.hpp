// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "shared/base/packet_filter.hpp"
#include "shared/config/plan.hpp"

/// A plan with a value of its own in every field, and a description of a plan that leaves nothing
/// out: the structured bindings stop compiling when a struct of plan.hpp gets a further field,
/// which then belongs into control.capnp, the codec and here.

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
  plan.events =
      PlanEvents{"/var/eve.json", 77'000'000, 7, "/run/e.sock", PlanIpfix{"192.0.2.9:4739", 12}};
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
      {"front", GroupKind::kClassifier, 2, 4, Dispatch::kFlow, 0, 0, 100, {}, {2, 4, 70, 20}},
      {"gpu", GroupKind::kGpu, 1, 1, Dispatch::kAny, 0, 16, 75, {{"seed", "7"}}, {}}};
  plan.stages = {{0, 0, {0, 1}, 1, true, 12, 7, 0}, {0, 1, {1}, 255, false, 0, 0, 3}};
  plan.paths = {{"rest", 0, 3, 8, true, "ip", {filter_word(0x6, 0, 0, 65535)}},
                {"all", 1, 11, 1, false, "", {}}};
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
  plan.others = {{1, plan.functions[1]}};
  plan.others[0].function.edition = 4;
  plan.others[0].function.image = "/dev/shm/m.4";
  plan.other_stages = {{0, {1, 0}, 4}};
  plan.spare_counters = 99;
  return plan;
}

/// One line a field of everything in `plan`.
class PlanText {
 public:
  static std::string of(const Plan& plan) {
    PlanText text;
    const auto& [name, batch_capacity, buffer_stride, slot_count, stand_in_slot_count, buffer_count,
                 side_first, side_count, neighbour_count, heartbeat_limit_ms, crash_limit, fused,
                 shared_cores, telemetry_listen, events, ports, functions, classes, reasons, groups,
                 stages, paths, streams, actors, links, secrets, nodes, memory_node, sources, hash,
                 generation, revision, others, other_stages, spare_counters] = plan;
    text.line(name, batch_capacity, buffer_stride, slot_count, stand_in_slot_count, buffer_count,
              side_first, side_count, neighbour_count, heartbeat_limit_ms, crash_limit, fused,
              shared_cores, telemetry_listen, memory_node, revision, hash, generation,
              spare_counters);
    if (events) text.line(events->file, events->rotate_bytes, events->keep, events->socket);
    if (events && events->ipfix) text.line(events->ipfix->collector, events->ipfix->domain);
    for (const auto& item : sources) text.line(item);
    for (const auto& item : ports) text.add(item);
    for (const auto& item : functions) text.add(item);
    for (const auto& item : classes) text.line(item);
    for (const auto& [name_, cause, summary] : reasons) text.line(name_, int(cause), summary);
    for (const auto& item : groups) text.add(item);
    for (const auto& item : stages) text.add(item);
    for (const auto& item : paths) text.add(item);
    for (const auto& item : streams) text.add(item);
    for (const auto& item : actors) text.add(item);
    for (const auto& item : links) text.add(item);
    for (const auto& item : secrets) text.line(item);
    for (const auto& [number, cores] : nodes) {
      text.line(number);
      for (const auto core : cores) text.line(core);
    }
    for (const auto& [number, function] : others) {
      text.line(number);
      text.add(function);
    }
    for (const auto& [number, functions_of_stage, edition] : other_stages) {
      text.line(number, edition);
      for (const auto function : functions_of_stage) text.line(function);
    }
    return text.out_.str();
  }

 private:
  template <typename... Fields>
  void line(const Fields&... fields) {
    (field(fields), ...);
    out_ << '\n';
  }
  template <typename Field>
  void field(const Field& value) {
    if constexpr (std::is_arithmetic_v<Field>) {
      out_ << '[' << +value << ']';  // a byte as its number
    } else {
      out_ << '[' << value << ']';
    }
  }
  void settings(const Settings& settings) {
    for (const auto& [key, value] : settings) line(key, value);
  }
  void add(const PlanPort& port) {
    const auto& [name, device, pairs, mtu, mac, addresses, node, host] = port;
    line(name, device, mac, mtu, node, host);
    settings(pairs);
    for (const auto& address : addresses) line(address);
  }
  void add(const PlanFunction& function) {
    const auto& [name, type, pairs, image, group, when_class, class_mask, unavailable, overload,
                 stateful, lane_state_bytes, lane_undo_lines, counter_count, share, edition, gone] =
        function;
    line(name, type, image, group, when_class, class_mask, static_cast<int>(unavailable),
         static_cast<int>(overload), stateful, lane_state_bytes, lane_undo_lines, counter_count,
         share, edition, gone);
    settings(pairs);
  }
  void add(const PlanGroup& group) {
    const auto& [name, kind, count, max, dispatch, stand_in, spill, offload, pairs, autoscale] =
        group;
    const auto& [min, most, up, down] = autoscale;
    line(min, most, up, down);
    line(name, static_cast<int>(kind), count, max, static_cast<int>(dispatch), stand_in, spill,
         offload);
    settings(pairs);
  }
  void add(const PlanStage& stage) {
    const auto& [path, group, functions, next, stateful, share, lane_share, edition] = stage;
    line(path, group, next, stateful, share, lane_share, edition);
    for (const auto function : functions) line(function);
  }
  void add(const PlanPath& path) {
    const auto& [name, first_stage, lane_first, lane_count, has_keys, match, filter, lanes_by,
                 translation] = path;
    line(name, first_stage, lane_first, lane_count, has_keys, match, static_cast<int>(lanes_by));
    const auto& [inside, pool, block, fixed] = translation;
    for (const auto port : inside) line(port);
    for (const auto& [first, last] : pool) line(first, last);
    for (const auto& [outside, in, count, protocol, port] : fixed) {
      line(outside, in, count, protocol, port);
    }
    line(block);
    for (const auto instruction : filter) line(instruction);
  }
  void add(const PlanStream& stream) {
    const auto& [port, queue, paths, ingress, egress, slot_first, slot_count, buffer_first,
                 buffer_count] = stream;
    line(port, queue, ingress, egress, slot_first, slot_count, buffer_first, buffer_count);
    for (const auto& at : paths) {
      const auto& [path, output, slots_max] = at;
      line(path, output, slots_max);
    }
  }
  void add(const PlanActor& actor) {
    const auto& [name, kind, group, index, twin, at_start, core, core_named, node, home] = actor;
    line(name, static_cast<int>(kind), group, index, twin, at_start, core, core_named, node, home);
  }
  void add(const PlanLink& link) {
    const auto& [producer, consumer, depth] = link;
    line(producer, consumer, depth);
  }

  std::ostringstream out_;
};

}  // namespace millrace::test
