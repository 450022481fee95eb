// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "services/telemetry/status_metrics.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/process.hpp"
#include "shared/layout/mapping.hpp"
#include "shared/layout/status_layout.hpp"

namespace millrace::test {

/// Two ports, one path of two lanes, a group with a spare worker, a GPU with two incarnations.
inline Plan small_plan(const std::string& name = "watched") {
  Plan plan;
  plan.name = name;
  plan.ports = {{.name = "lan", .device = "null"}, {.name = "wan", .device = "null"}};
  plan.functions = {
      {.name = "route", .type = "route", .unavailable = Fallback::kPass, .counter_count = 3},
      {.name = "ids", .type = "match", .group = 1, .class_mask = 2, .counter_count = 100}};
  plan.classes = {"bulk", "voice"};
  plan.groups = {{.name = "front", .count = 1, .max = 2}, {.name = "gpu", .kind = GroupKind::kGpu}};
  plan.stages = {{.path = 0, .group = 0, .functions = {0}, .next = 1},
                 {.path = 0, .group = 1, .functions = {1}}};
  plan.paths = {{.name = "rest", .first_stage = 0, .lane_first = 0, .lane_count = 2}};
  plan.streams = {
      {.port = 0,
       .paths = {{0, 1}},
       .ingress = 2,
       .egress = 7,
       .slot_count = 64,
       .buffer_count = 900},
      {.port = 1, .queue = 3, .paths = {{0, 0}}, .ingress = 8, .egress = 7, .slot_count = 32}};
  plan.actors = {
      {.name = "hub", .kind = ActorKind::kHub},
      {.name = "standby", .kind = ActorKind::kStandby},
      {.name = "ingress.lan.0", .kind = ActorKind::kIngress, .core = 3},
      {.name = "front.0", .kind = ActorKind::kClassifier},
      {.name = "front.1", .kind = ActorKind::kClassifier, .index = 1, .at_start = false},
      {.name = "gpu.0.a", .kind = ActorKind::kGpu, .group = 1, .twin = 6},
      {.name = "gpu.0.b", .kind = ActorKind::kGpu, .group = 1, .twin = 5, .at_start = false},
      {.name = "egress.0", .kind = ActorKind::kEgress},
      {.name = "ingress.wan.3", .kind = ActorKind::kIngress, .index = 1}};
  plan.slot_count = 96;
  plan.buffer_count = 900;
  plan.links = {{.producer = 2, .consumer = 3, .depth = 128},
                {.producer = 2, .consumer = 4, .depth = 128},
                {.producer = 3, .consumer = 5, .depth = 128},
                {.producer = 0, .consumer = 3, .depth = 128}};
  return plan;
}

/// As services/hub/leader.cpp writes it.
inline std::uint64_t leader_word(pid_t pid) {
  return process_start_time(pid) << 24 | static_cast<std::uint64_t>(pid);
}

/// A plan and its status file in private memory, as the hub leaves it: all actors vacant.
struct WatchedTopology {
  explicit WatchedTopology(Plan with = small_plan(), std::uint64_t tsc_hz = 1'000'000'000)
      : plan(std::move(with)),
        memory(Mapping::create_anonymous(status_layout(plan).bytes)),
        status(StatusView::create(memory.base(), plan, tsc_hz)) {}

  StatusSource source() const { return {plan, status}; }
  void start(std::uint32_t actor, ActorState state = ActorState::kAlive) const {
    ActorEntry& entry = status.actor(actor);
    entry.incarnation = 1;
    entry.heartbeat_tsc = tsc_now();
    entry.state = static_cast<std::uint32_t>(state);
  }
  /// Publishes `record` as the egress does.
  void release(std::uint32_t stream, std::uint32_t lane, const LaneRecord& record) const {
    LaneLedger& ledger = status.ledger(stream, lane);
    const std::uint64_t next = ledger.flips.load() + 1;
    ledger.record[next & 1] = record;
    ledger.flips.store(next, std::memory_order_release);
  }

  Plan plan;
  Mapping memory;
  StatusView status;
};

/// "name{a="b",...}" of every sample to its value; histograms by their count.
inline std::map<std::string, double> samples(const std::vector<prometheus::MetricFamily>& from) {
  std::map<std::string, double> all;
  for (const prometheus::MetricFamily& family : from) {
    for (const prometheus::ClientMetric& metric : family.metric) {
      std::string key = family.name + "{";
      for (const auto& label : metric.label) key += label.name + "=" + label.value + ",";
      if (key.back() == ',') key.pop_back();
      const double value = family.type == prometheus::MetricType::Counter ? metric.counter.value
                           : family.type == prometheus::MetricType::Gauge
                               ? metric.gauge.value
                               : static_cast<double>(metric.histogram.sample_count);
      if (!all.emplace(key + "}", value).second) std::abort();  // the same series twice
    }
  }
  return all;
}

}  // namespace millrace::test
