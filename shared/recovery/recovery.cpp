// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/recovery/recovery.hpp"

#include <utility>

#include "shared/actor/wake.hpp"
#include "shared/recovery/laws.hpp"
#include "shared/recovery/loops.hpp"

namespace millrace {

Recovery::Recovery(const ActorContext& context, ProcessControl& processes, RecoveryLimits limits,
                   TellRecovery tell, DriverQueues* drivers)
    : context_(context),
      processes_(processes),
      limits_(limits),
      tell_(std::move(tell)),
      outbox_(context),
      returns_(context, context.plan->actors[context.me.actor].kind == ActorKind::kHub
                            ? Returner::kHub
                            : Returner::kStandby),
      rescue_(context_, outbox_, returns_),
      stand_ins_(context_, outbox_, tell_),
      held_(context_, drivers, returns_, tell_),
      watch_(context.plan->actors.size()),
      lane_moves_(context, {.bump_epoch = [this] { bump_epoch(); },
                            .drain = [this](std::uint32_t worker) { let_drain(worker); }}),
      ends_(context.plan->actors.size(), End::kCrashed) {
  const ActorKind kind = context.plan->actors[context.me.actor].kind;
  MILLRACE_CHECK(kind == ActorKind::kHub || kind == ActorKind::kStandby);
  outbox_.read_roster();
}

void Recovery::take_the_lead() {
  rescue_.rescue_slots_of(context_.me.actor, died_by_itself(context_.me.actor));
  for (std::uint32_t group = 0; group < context_.plan->groups.size(); ++group) {
    if (context_.plan->groups[group].kind == GroupKind::kClassifier) assign_lanes(group);
  }
  bump_epoch();
}

bool Recovery::is_worker(std::uint32_t actor) const {
  return context_.plan->actors[actor].kind == ActorKind::kClassifier;
}

int Recovery::tick() {
  const std::uint64_t now = processes_.now_ns();
  // This process did not run itself: the silence of others means nothing yet.
  if (now - last_tick_ns_ > limits_.heartbeat_limit_ns / 2) {
    for (Watch& watch : watch_) {
      watch.silence.begin(now);
      watch.published_at_ns = now;
      if (watch.killed_at_ns != 0) watch.killed_at_ns = now;
    }
  }
  last_tick_ns_ = now;
  bool moved = false;
  bool soon = false;
  bool gpu = false;
  for (std::uint32_t actor = 0; actor < watch_.size(); ++actor) {
    if (actor == context_.me.actor) continue;
    moved |= watch(actor);
    soon |= in_transition(actor);
    gpu |= context_.plan->actors[actor].kind == ActorKind::kGpu;
  }
  moved |= lane_moves_.tend(now);
  soon |= lane_moves_.under_way();
  const std::uint64_t epoch = context_.status.header().epoch.load(std::memory_order_acquire);
  if (epoch != seen_epoch_) {
    seen_epoch_ = epoch;
    outbox_.read_roster();
  }
  moved |= outbox_.flush() != 0;
  outbox_.wake_consumers();
  returns_.wake_consumers();
  constexpr int kSoonMs = 1;
  constexpr int kGpuMs = 4;  // nothing wakes us when one begins to end: ProcessControl::ending()
  constexpr int kQuietMs = 10;
  return moved ? 0 : soon ? kSoonMs : gpu ? kGpuMs : kQuietMs;
}

bool Recovery::in_transition(std::uint32_t actor) const {
  const ActorState state = checked_state(context_, actor);
  return state == ActorState::kStarting || state == ActorState::kFenced ||
         state == ActorState::kReclaiming || watch_[actor].killed_at_ns != 0;
}

void Recovery::publish(std::uint32_t actor, ActorState state) {
  MILLRACE_CHECK(may_become(checked_state(context_, actor), state));
  ActorEntry& entry = context_.entry(actor);
  StatusHeader& header = context_.status.header();
  const std::uint64_t epoch = header.epoch.load(std::memory_order_relaxed) + 1;
  entry.fence_epoch.store(epoch, std::memory_order_relaxed);
  entry.state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
  header.epoch.store(epoch, std::memory_order_release);
  watch_[actor] = {.published_at_ns = last_tick_ns_};
  watch_[actor].silence.begin(entry.heartbeat_tsc.load(std::memory_order_relaxed), last_tick_ns_);
  for (std::uint32_t other = 0; other < watch_.size(); ++other) wake(context_.entry(other));
}

bool Recovery::all_acknowledged(std::uint32_t actor) {
  const std::uint64_t wanted = context_.entry(actor).fence_epoch.load(std::memory_order_relaxed);
  const bool late = last_tick_ns_ - watch_[actor].published_at_ns > limits_.ack_limit_ns;
  bool all = true;
  for (std::uint32_t other = 0; other < watch_.size(); ++other) {
    const ActorKind kind = context_.plan->actors[other].kind;
    if (other == actor || kind == ActorKind::kHub || kind == ActorKind::kStandby) continue;
    const ActorState state = context_.state_of(other);
    if (state != ActorState::kAlive && state != ActorState::kDraining) continue;
    ActorEntry& entry = context_.entry(other);
    const std::uint64_t acked = entry.acked_epoch.load(std::memory_order_acquire);
    MILLRACE_CHECK(acked <= context_.status.header().epoch.load(std::memory_order_acquire));
    if (acked >= wanted) continue;
    all = false;
    if (late && watch_[other].killed_at_ns == 0 && !is_starved(other)) {
      tell_({other, "does not acknowledge a fence: killed", wanted});
      kill(other);
    }
  }
  return all;
}

bool Recovery::hung(std::uint32_t actor) {
  const ActorEntry& entry = context_.entry(actor);
  Silence& silence = watch_[actor].silence;
  silence.look(entry.heartbeat_tsc.load(std::memory_order_relaxed), last_tick_ns_);
  const auto times = [&] { return processes_.times(entry.pid); };
  return silence.counted_ns(last_tick_ns_, limits_.heartbeat_limit_ns, times) >
         limits_.heartbeat_limit_ns;
}

void Recovery::kill(std::uint32_t actor) {
  const ActorEntry& entry = context_.entry(actor);
  ends_[actor] = processes_.stopped(entry.pid, entry.start_time) ? End::kStopped : End::kHung;
  processes_.kill(entry.pid, entry.start_time);
  watch_[actor].killed_at_ns = last_tick_ns_;
}

/// True when the process ended by a fault of its own. A kill from outside says nothing about the
/// function that it ran.
bool Recovery::died_by_itself(std::uint32_t actor) const {
  const ActorEntry& entry = context_.entry(actor);
  return ends_[actor] == End::kHung || entry.fault.load(std::memory_order_relaxed) ==
                                           entry.incarnation.load(std::memory_order_relaxed);
}

/// True when the actor is silent for long enough to be hung, but only because no processor ran it.
bool Recovery::is_starved(std::uint32_t actor) {
  return !hung(actor) &&
         watch_[actor].silence.since(last_tick_ns_) > limits_.heartbeat_limit_ns / 2;
}

bool Recovery::watch_running(std::uint32_t actor) {
  ActorEntry& entry = context_.entry(actor);
  Watch& watch = watch_[actor];
  const bool draining = context_.state_of(actor) == ActorState::kDraining;
  if (watch.killed_at_ns == 0) ends_[actor] = draining ? End::kAsked : End::kCrashed;
  const bool gpu = context_.plan->actors[actor].kind == ActorKind::kGpu;
  if (processes_.exited(entry.pid, entry.start_time)) {
    tell_({actor, "exited", 0});
    publish(actor, ActorState::kFenced);
    return true;
  }
  // Its exit takes long, but it writes no slot: packets need not wait for the exit.
  if (gpu && processes_.ending(entry.pid, entry.start_time)) {
    tell_({actor, "ends", 0});
    publish(actor, ActorState::kFenced);
    return true;
  }
  if (watch.killed_at_ns == 0 && hung(actor)) {
    tell_({actor, "hung: killed", 0});
    kill(actor);
    if (gpu) publish(actor, ActorState::kFenced);  // as above
    return true;
  }
  if (watch.killed_at_ns != 0 && last_tick_ns_ - watch.killed_at_ns > limits_.kill_limit_ns) {
    publish(actor, ActorState::kQuarantined);
    return true;
  }
  return false;
}

bool Recovery::finish_fence(std::uint32_t actor) {
  if (!all_acknowledged(actor)) return false;
  const PlanActor& plan = context_.plan->actors[actor];
  ActorEntry& entry = context_.entry(actor);
  const bool gpu = plan.kind == ActorKind::kGpu;
  if (gpu && !watch_[actor].redone) {
    const std::uint32_t redone = rescue_.redo_gpu_slots(actor);
    watch_[actor].redone = true;
    tell_({actor, "batches redone by the stand-in", redone});
  }
  if (!processes_.exited(entry.pid, entry.start_time)) return false;
  std::uint32_t rescued = 0;
  if (gpu) {
    rescue_.reset_links(actor);
  } else {
    if (plan.kind == ActorKind::kEgress) settle_loops(context_, actor);
    rescued = rescue_.rescue_slots_of(actor, died_by_itself(actor));
    if (plan.kind == ActorKind::kIngress) rescue_.tell_sealed(actor);
    held_.stop(actor);
  }
  publish(actor, ActorState::kReclaiming);
  if (is_worker(actor)) assign_lanes(plan.group);
  tell_({actor, "recovered", rescued});
  context_.status.header().recoveries.fetch_add(1, std::memory_order_relaxed);
  return true;
}

/// The actor whose process the new one follows. The two incarnations of a GPU worker take turns, so
/// it is often the twin: of the two, the one with the newer state ended later.
std::optional<std::uint32_t> Recovery::predecessor(std::uint32_t actor) const {
  const auto lives = [&](std::uint32_t who) {
    return context_.entry(who).incarnation.load(std::memory_order_relaxed);
  };
  const auto epoch = [&](std::uint32_t who) {
    return context_.entry(who).fence_epoch.load(std::memory_order_relaxed);
  };
  const bool again = lives(actor) > 1;
  const PlanActor& plan = context_.plan->actors[actor];
  MILLRACE_CHECK(plan.kind != ActorKind::kGpu || plan.twin < context_.plan->actors.size());
  if (plan.kind == ActorKind::kGpu && lives(plan.twin) > 0 &&
      (!again || epoch(plan.twin) > epoch(actor)))
    return plan.twin;
  return again ? std::optional(actor) : std::nullopt;
}

/// Counts the restart by how the process before ended. What that process wrote of its end outlives
/// the leader that saw it.
void Recovery::count_restart(std::uint32_t actor) {
  const std::optional<std::uint32_t> before = predecessor(actor);
  if (!before) return;
  const ActorEntry& last = context_.entry(*before);
  MILLRACE_CHECK(last.incarnation.load(std::memory_order_relaxed) != 0);
  const std::uint32_t life =
      last.incarnation.load(std::memory_order_relaxed) - (*before == actor ? 1 : 0);
  const bool told = last.ended.load(std::memory_order_relaxed) == life;
  const End end = told ? End::kAsked : ends_[*before];
  ActorEntry& entry = context_.entry(actor);
  std::atomic<std::uint32_t>& count = end == End::kAsked     ? entry.was_asked
                                      : end == End::kCrashed ? entry.crashes
                                                             : entry.hangs;
  count.fetch_add(1, std::memory_order_relaxed);
}

bool Recovery::watch(std::uint32_t actor) {
  ActorEntry& entry = context_.entry(actor);
  const PlanActor& plan = context_.plan->actors[actor];
  switch (checked_state(context_, actor)) {
    case ActorState::kVacant:
      return false;
    case ActorState::kStarting:
      if (processes_.exited(entry.pid, entry.start_time)) {
        publish(actor, ActorState::kVacant);
        return true;
      }
      count_restart(actor);
      publish(actor, ActorState::kAlive);
      if (is_worker(actor)) assign_lanes(plan.group);
      return true;
    case ActorState::kAlive:
    case ActorState::kDraining:
      return watch_running(actor);
    case ActorState::kFenced:
      return finish_fence(actor);
    case ActorState::kReclaiming:
      if (!all_acknowledged(actor)) return false;
      rescue_.take_back_for_the_dead(actor);
      if (!held_.restore(actor)) return false;
      publish(actor, ActorState::kVacant);
      return true;
    case ActorState::kQuarantined:
      if (watch_[actor].redone || !all_acknowledged(actor)) return false;
      watch_[actor].redone = true;
      if (is_worker(actor)) assign_lanes(plan.group);
      tell_({actor, "cannot be killed: quarantined; stand-ins", stand_ins_.fill_holes_of(actor)});
      return true;
  }
  return false;
}

void Recovery::drain(std::uint32_t actor) {
  if (context_.state_of(actor) != ActorState::kAlive) return;
  if (is_worker(actor) && has_state(*context_.plan, context_.plan->actors[actor].group)) {
    lane_moves_.leave(actor);  // its lanes go first, one by one
    return;
  }
  let_drain(actor);
}

void Recovery::let_drain(std::uint32_t actor) {
  publish(actor, ActorState::kDraining);
  if (is_worker(actor)) assign_lanes(context_.plan->actors[actor].group);
}

void Recovery::assign_lanes(std::uint32_t group) {
  const Plan& plan = *context_.plan;
  const bool stateful = has_state(*context_.plan, group);
  std::vector<std::uint16_t> alive;
  std::vector<bool> open(plan.groups[group].max, false);
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
    const PlanActor& worker = plan.actors[actor];
    if (worker.group != group || !is_worker(actor)) continue;
    if (!rule_of(context_.state_of(actor)).may_be_chosen) continue;
    MILLRACE_CHECK(worker.index < open.size());
    alive.push_back(static_cast<std::uint16_t>(worker.index));
    open[worker.index] = true;
  }
  LaneMap& map = context_.status.lane_map(group);
  std::uint32_t next = 0;
  for (std::uint32_t lane = 0; lane < context_.segment.layout().lane_count; ++lane) {
    const std::uint16_t now = map.worker[lane].load(std::memory_order_relaxed);
    const bool served = now != kNoWorker && now < open.size() && open[now];
    // State has one writer: a lane stays with a living worker until it can be moved in peace.
    if (stateful && served) continue;
    map.worker[lane].store(alive.empty() ? kNoWorker : alive[next++ % alive.size()],
                           std::memory_order_relaxed);
  }
  bump_epoch();
}

void Recovery::bump_epoch() {
  context_.status.header().epoch.fetch_add(1, std::memory_order_release);
  for (std::uint32_t other = 0; other < watch_.size(); ++other) wake(context_.entry(other));
}

}  // namespace millrace
