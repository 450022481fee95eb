// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/config/plan.hpp"

namespace millrace::test {

/// Hub 0, standby 1, ingress 2, classifiers 3 and 4 (a spare one), GPU worker 5 and its twin 6,
/// egress 7.
inline Plan small_plan(const std::string& name) {
  Plan plan;
  plan.name = name;
  plan.slot_count = 16;
  plan.buffer_count = 64;
  plan.ports.push_back({.name = "a", .device = "null"});
  plan.groups = {{.name = "front", .count = 1, .max = 2}, {.name = "gpu", .kind = GroupKind::kGpu}};
  plan.paths = {{.name = "main", .lane_count = 2}};
  plan.streams = {
      {.paths = {{0, 0}}, .ingress = 2, .egress = 7, .slot_count = 16, .buffer_count = 64}};
  plan.actors = {
      {.name = "hub", .kind = ActorKind::kHub},
      {.name = "standby", .kind = ActorKind::kStandby},
      {.name = "ingress.lan.0", .kind = ActorKind::kIngress},
      {.name = "front.0", .kind = ActorKind::kClassifier},
      {.name = "front.1", .kind = ActorKind::kClassifier, .index = 1, .at_start = false},
      {.name = "gpu.0.a", .kind = ActorKind::kGpu, .group = 1, .twin = 6},
      {.name = "gpu.0.b", .kind = ActorKind::kGpu, .group = 1, .twin = 5, .at_start = false},
      {.name = "egress.0", .kind = ActorKind::kEgress}};
  return plan;
}

}  // namespace millrace::test
