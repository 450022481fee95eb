// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/status_report.hpp"

#include <algorithm>

#include "shared/layout/actor_states.hpp"

namespace millrace {
namespace {

std::string state_text(const Post& post, const Seat& seat, ActorState state) {
  if (!seat.child && post.policy.given_up() && post.wish == Wish::kUp) return "given up";
  if (!post.kind) return seat.child ? "alive" : "vacant";
  return std::string(rule_of(state).name);
}

std::vector<NamedCount> skipped_packets(const Plan& plan, const StatusSource& source) {
  std::vector<NamedCount> counts;
  for (std::uint32_t i = 0; i < plan.functions.size(); ++i) {
    const PlanFunction& function = plan.functions[i];
    if (function.gone) continue;
    const std::uint64_t unavailable = source.skipped(i, SkipReason::kUnavailable);
    if (function.unavailable != Fallback::kWait || unavailable != 0) {
      counts.push_back({function.name + " unavailable", unavailable});
    }
    if (function.overload != Fallback::kWait) {
      counts.push_back({function.name + " overload", source.skipped(i, SkipReason::kOverload)});
    }
  }
  return counts;
}

std::vector<NamedCount> refused_packets(const Plan& plan, const StatusSource& source) {
  std::vector<NamedCount> counts;
  for (std::uint32_t path = 0; path < plan.paths.size(); ++path) {
    const auto refuses = [&](const PlanStream& stream) {
      return std::ranges::any_of(stream.paths, [&](const PlanStreamPath& at) {
        return at.path == path && at.slots_max != 0;
      });
    };
    if (!std::ranges::any_of(plan.streams, refuses)) continue;
    counts.push_back({plan.paths[path].name, source.refused(path)});
  }
  return counts;
}

ActorStatus actor_status(const Plan& plan, const Fleet& fleet, const Post& post, const Seat& seat,
                         std::uint32_t actor) {
  const bool is_actor = actor != kNoActor;
  const ActorState state = is_actor ? fleet.state(actor) : ActorState::kVacant;
  ActorStatus status{.actor = actor,
                     .name = is_actor ? plan.actors[actor].name : post.name,
                     .state = state_text(post, seat, state),
                     .pid = seat.child ? seat.child->pid() : 0,
                     .restarts = &seat == &post.seats[0] ? post.policy.restarts() : 0,
                     .note = seat.note};
  if (is_actor && fleet.status() != nullptr) {
    const StatusSource::Facts facts = fleet.status()->facts(actor);
    status.incarnation = facts.incarnation;
    status.packets = facts.packets;
    status.batches = facts.batches;
  }
  status.heartbeat_age_ms = fleet.heartbeat_age_ms(post, seat, actor).value_or(kNoHeartbeat);
  return status;
}

}  // namespace

std::vector<std::string> out_of_service(const Plan& plan, const Fleet& fleet) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; fleet.status() != nullptr && i < plan.functions.size(); ++i) {
    const PlanFunction& function = plan.functions[i];
    if (!function.gone && fleet.status()->is_out(i)) names.push_back(function.name);
  }
  return names;
}

StatusReply status_report(const Plan& plan, const Fleet& fleet) {
  StatusReply reply;
  reply.topology = plan.name;
  for (const Post& post : fleet.posts()) {
    for (const Seat& seat : post.seats) {
      reply.actors.push_back(actor_status(plan, fleet, post, seat, seat.actor));
      for (const std::uint32_t other : seat.others) {
        reply.actors.push_back(actor_status(plan, fleet, post, seat, other));
      }
    }
  }
  if (fleet.status() != nullptr) {
    reply.skipped = skipped_packets(plan, *fleet.status());
    reply.refused = refused_packets(plan, *fleet.status());
    reply.out = out_of_service(plan, fleet);
    reply.drained = fleet.status()->is_drained();
  }
  reply.generation = plan.generation;
  reply.hash = plan.hash;
  return reply;
}

}  // namespace millrace
