// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/loop.hpp"

#include "io-worker/ports/settings.hpp"
#include "shared/config/loop.hpp"

namespace millrace {
namespace {

std::uint32_t queues_of(const PlanPort& port) {
  const PortSettings settings(port);
  settings.number("depth");
  if (settings.has("tick") && !parse_loop_tick(settings.text("tick"))) {
    settings.refuse("tick", settings.text("tick"), kLoopTicksAllowed);
  }
  return settings.count("queues");
}

}  // namespace

void check_loop(const PlanPort& port) { queues_of(port); }

PortQueues loop_queues(const PlanPort& port) { return {queues_of(port), kPortQueueCountMax}; }

}  // namespace millrace
