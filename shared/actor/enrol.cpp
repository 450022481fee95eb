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

bool has_ended(std::int32_t pid, std::uint64_t start_time) {
  return process_ended(open_process(pid, start_time), pid, start_time);
}

/// True when another process has taken that place and has not ended.
bool lives(const ActorEntry& entry) {
  const std::int32_t pid = entry.pid.load();
  return pid != 0 && !has_ended(pid, entry.start_time.load());
}

/// True for a standby whose hub has ended for good. The leader grants places; such a standby needs
/// no grant, as it is the leader, and recovers what its own process before left.
bool leads_alone(const Plan& plan, const StatusView& status, std::uint32_t actor) {
  if (plan.actors[actor].kind != ActorKind::kStandby) return false;
  for (std::uint32_t other = 0; other < plan.actors.size(); ++other) {
    if (plan.actors[other].kind != ActorKind::kHub) continue;
    const ActorEntry& hub = status.actor(other);
    if (hub.pid.load() == 0 || hub.start_time.load() == 0) return false;  // the hub has not begun
    if (!has_ended(hub.pid, hub.start_time)) return false;
  }
  return true;
}

void await(const Plan& plan, const StatusView& status, std::uint32_t actor, ActorState wanted,
           std::uint64_t limit_ns, const std::function<bool()>& give_up) {
  const std::uint64_t start = monotonic_ns();
  const ActorEntry& entry = status.actor(actor);
  while (static_cast<ActorState>(entry.state.load(std::memory_order_acquire)) != wanted) {
    if (leads_alone(plan, status, actor)) return;
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
  entry.exhausted.store(0);  // the process before may have left it set
  entry.acked_epoch.store(0);
  entry.heartbeat_tsc.store(tsc_now());
  entry.state.store(static_cast<std::uint32_t>(ActorState::kStarting), std::memory_order_release);
  await(plan, status, actor, ActorState::kAlive, limit_ns, give_up);
  if (leads_alone(plan, status, actor)) {
    entry.state.store(static_cast<std::uint32_t>(ActorState::kAlive), std::memory_order_release);
  }
  return {static_cast<std::uint16_t>(actor), static_cast<std::uint16_t>(incarnation)};
}

void note_end(const ActorContext& context) noexcept {
  context.my_entry().ended.store(context.me.incarnation, std::memory_order_relaxed);
}

Owner enrol_hub(const Plan& plan, const StatusView& status, std::uint64_t limit_ns,
                const std::function<bool()>& give_up) {
  constexpr std::uint16_t kHub = 0;
  ActorEntry& entry = status.actor(kHub);
  const std::uint64_t start = monotonic_ns();
  while (lives(entry)) {
    if (give_up() || monotonic_ns() - start > limit_ns) {
      throw Error("actor hub awaits the end of process " + std::to_string(entry.pid.load()) +
                  ", which plays it");
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  for (std::uint32_t other = 0; other < plan.actors.size(); ++other) {
    if (plan.actors[other].kind == ActorKind::kStandby && lives(status.actor(other)) &&
        entry.incarnation != 0) {
      throw Error("actor hub cannot take its place: the standby leads");
    }
  }
  const std::int32_t pid = getpid();
  entry.pid.store(pid);
  entry.start_time.store(process_start_time(pid));
  const std::uint32_t incarnation = entry.incarnation.load() % 0xffff + 1;
  entry.incarnation.store(incarnation);
  entry.heartbeat_tsc.store(tsc_now());
  entry.state.store(static_cast<std::uint32_t>(ActorState::kAlive), std::memory_order_release);
  return {kHub, static_cast<std::uint16_t>(incarnation)};
}

}  // namespace millrace
