// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "shared/actor/context.hpp"
#include "shared/recovery/driver_queues.hpp"

namespace millrace {

/// The standby's view of DPDK ports: their primary process was the hub, and without it nothing
/// stops a queue or lets a new process in. An actor of such a port stays out until a planned
/// restart, and that is said once; all others are restarted as ever.
class AbsentPrimary final : public DriverQueues {
 public:
  AbsentPrimary(const ActorContext& context, std::function<void(const std::string&)> alert)
      : context_(context), alert_(std::move(alert)), told_(context.plan->actors.size(), false) {}

  bool stop(std::uint32_t actor) override {
    if (!serves_dpdk(actor)) return true;
    if (!told_[actor]) {
      told_[actor] = true;
      alert_(context_.plan->actors[actor].name +
             " serves a dpdk port and cannot restart without the hub; plan a restart: millrace "
             "down " +
             context_.plan->name + ", then up");
    }
    return false;
  }

 private:
  bool serves_dpdk(std::uint32_t actor) const {
    const Plan& plan = *context_.plan;
    const PlanActor& about = plan.actors[actor];
    if (about.kind == ActorKind::kEgress) return uses_dpdk(plan);
    return about.kind == ActorKind::kIngress && is_dpdk(plan.ports[plan.streams[about.index].port]);
  }

  ActorContext context_;
  std::function<void(const std::string&)> alert_;
  std::vector<bool> told_;
};

}  // namespace millrace
