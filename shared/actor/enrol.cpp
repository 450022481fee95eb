// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/actor/enrol.hpp"

#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/process.hpp"
#include "shared/layout/actor_states.hpp"

namespace millrace {
namespace {

void await(const Plan& plan, const StatusView& status, std::uint32_t actor, ActorState wanted,
           std::uint64_t limit_ns, const std::function<bool()>& give_up) {
  const std::uint64_t start = monotonic_ns();
  const ActorEntry& entry = status.actor(actor);
  while (static_cast<ActorState>(entry.state.load(std::memory_order_acquire)) != wanted) {
    const auto now = static_cast<ActorState>(entry.state.load(std::memory_order_acquire));
    if (give_up() || monotonic_ns() - start > limit_ns) {
      throw Error("actor " + plan.actors[actor].name + " awaits state " +
                  std::string(rule_of(wanted).name) + ", it is " + std::string(rule_of(now).name) +
                  (wanted == ActorState::kAlive ? " (is the hub or its standby running?)" : ""));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

}  // namespace

Owner enrol(const Plan& plan, const StatusView& status, std::uint32_t actor, std::uint64_t limit_ns,
            const std::function<bool()>& give_up) {
  await(plan, status, actor, ActorState::kVacant, limit_ns, give_up);
  ActorEntry& entry = status.actor(actor);
  const std::int32_t pid = getpid();
  entry.pid.store(pid);
  entry.start_time.store(process_start_time(pid));
  const std::uint32_t incarnation = entry.incarnation.load() % 0xffff + 1;
  entry.incarnation.store(incarnation);
  entry.sleeping.store(0);
  entry.exhausted.store(0);  // the last life may have left it set
  entry.acked_epoch.store(0);
  entry.heartbeat_tsc.store(tsc_now());
  entry.state.store(static_cast<std::uint32_t>(ActorState::kStarting), std::memory_order_release);
  await(plan, status, actor, ActorState::kAlive, limit_ns, give_up);
  return {static_cast<std::uint16_t>(actor), static_cast<std::uint16_t>(incarnation)};
}

}  // namespace millrace
