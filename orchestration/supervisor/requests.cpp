// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orchestration/supervisor/leader_client.hpp"
#include "orchestration/supervisor/supervisor.hpp"
#include "shared/base/clock.hpp"
#include "shared/layout/actor_states.hpp"

// What the CLI and the actors say to the supervisor.

namespace millrace {
namespace {

constexpr std::size_t kEventsShown = 20;

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

}  // namespace

void Supervisor::answer(const Received& received) {
  const ControlBody& body = received.message.body;
  if (std::holds_alternative<StatusRequest>(body)) {
    server_->reply(received, status_reply());
  } else if (std::holds_alternative<DownRequest>(body)) {
    ending_ = true;
    server_->reply(received, OkReply{});
  } else if (std::holds_alternative<ConfirmRequest>(body)) {
    changes_->confirm(received);
  } else if (std::holds_alternative<ChangeRequest>(body)) {
    answer_change(received);
  } else if (std::holds_alternative<AuditRequest>(body) && received.remote) {
    answer_audit(received);
  } else if (const auto* event = std::get_if<Event>(&body)) {
    if (event->kind == kPlanRefused && event->actor < plan_.actors.size()) {
      changes_->refused(plan_.actors[event->actor].name, static_cast<std::uint32_t>(event->number),
                        event->text);
    }
    note(*event);
  } else if (const auto* ready = std::get_if<Ready>(&body)) {
    ready_.insert(ready->actor);
  } else if (received.message.id != 0) {
    server_->reply(received, ErrorReply{std::string("`") + message_name(body) +
                                        "` is not for the supervisor"});
  }
}

void Supervisor::answer_change(const Received& received) {
  const auto& wanted = std::get<ChangeRequest>(received.message.body);
  if (received.remote && !(wanted.plan.empty() && wanted.upgrade.empty())) {
    server_->reply(received, ErrorReply{"what reads files of the host (apply, rollback, upgrade) "
                                        "is asked for there; by TCP: scale, reload, confirm"});
  } else if (phase_ == "starting" || phase_ == "stopping") {
    server_->reply(received, ErrorReply{"the topology is " + phase_});
  } else {
    changes_->ask(received);
  }
}

/// Requests by TCP do not reach the leader.
void Supervisor::answer_audit(const Received& received) {
  constexpr LeaderLimits kLimits{.there = std::chrono::milliseconds(1000),
                                 .answer = std::chrono::milliseconds(2000)};
  try {
    server_->reply(received, ask_leader<AuditReply>(options_.run_dir, AuditRequest{}, kLimits));
  } catch (const Error& error) {
    server_->reply(received, ErrorReply{error.what()});
  }
}

ActorStatus Supervisor::actor_status(const Post& post, const Seat& seat,
                                     std::uint32_t actor) const {
  const bool is_actor = actor != kNoActor;
  const ActorState state = is_actor ? fleet_.state(actor) : ActorState::kVacant;
  ActorStatus status{.actor = actor,
                     .name = is_actor ? plan_.actors[actor].name : post.name,
                     .state = state_text(post, seat, state),
                     .pid = seat.child ? seat.child->pid() : 0,
                     .restarts = &seat == &post.seats[0] ? post.policy.restarts() : 0,
                     .note = seat.note};
  if (is_actor && fleet_.status() != nullptr) {
    const StatusSource::Facts facts = fleet_.status()->facts(actor);
    status.incarnation = facts.incarnation;
    status.packets = facts.packets;
    status.batches = facts.batches;
  }
  status.heartbeat_age_ms = fleet_.heartbeat_age_ms(post, seat, actor).value_or(kNoHeartbeat);
  return status;
}

std::vector<std::string> Supervisor::out_of_service() const {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; fleet_.status() != nullptr && i < plan_.functions.size(); ++i) {
    const PlanFunction& function = plan_.functions[i];
    if (!function.gone && fleet_.status()->is_out(i)) names.push_back(function.name);
  }
  return names;
}

StatusReply Supervisor::status_reply() const {
  StatusReply reply{.topology = plan_.name, .phase = phase_, .run_dir = options_.run_dir};
  reply.up_ns = static_cast<std::uint64_t>((Clock::now() - began_) / std::chrono::nanoseconds(1));
  for (const Post& post : fleet_.posts()) {
    for (const Seat& seat : post.seats) {
      reply.actors.push_back(actor_status(post, seat, seat.actor));
      for (const std::uint32_t other : seat.others) {
        reply.actors.push_back(actor_status(post, seat, other));
      }
    }
  }
  if (fleet_.status() != nullptr) {
    reply.skipped = skipped_packets(plan_, *fleet_.status());
    reply.refused = refused_packets(plan_, *fleet_.status());
    reply.out = out_of_service();
    reply.offload = balancing_.shares();
    reply.drained = fleet_.status()->is_drained();
  }
  reply.generation = plan_.generation;
  reply.hash = plan_.hash;
  reply.differs = differs_;
  reply.confirm_seconds = changes_->guard().confirm_seconds();
  reply.taking_back = changes_->guard().way_back_text();
  const std::size_t shown = std::min(events_.size(), kEventsShown);
  reply.events.assign(events_.end() - static_cast<std::ptrdiff_t>(shown), events_.end());
  return reply;
}

/// Once a second at most: a sender of nonsense shall not fill the log.
void Supervisor::note_refused() {
  const std::uint64_t count = refused_before_ + server_->refused_count();
  if (count == refused_ || Clock::now() < refused_next_) return;
  refused_next_ = Clock::now() + std::chrono::seconds(1);
  refused_ = count;
  note({.severity = Severity::kWarning,
        .kind = "control_refused",
        .text = std::to_string(count) + " control messages or connections so far were none of ours",
        .number = count,
        .time_ns = system_clock_ns()});
}

/// What a command has written into the status file. A state that was there before us is not news.
void Supervisor::note_drained() {
  if (fleet_.status() == nullptr) return;
  const bool now = fleet_.status()->is_drained();
  if (drained_ && *drained_ != now) {
    note({.kind = now ? "drained" : "undrained",
          .text = now ? "ingresses read nothing until: millrace undrain " + run_words()
                      : "ingresses read on",
          .time_ns = system_clock_ns()});
  }
  drained_ = now;
}

void Supervisor::tell_observers() {
  note_drained();
  const auto bypass = load_bypass(options_.run_dir);
  ConfigFacts facts{.generation = plan_.generation,
                    .hash = plan_.hash,
                    .differs = differs_,
                    .reloads_done = changes_->counts().done,
                    .reloads_refused = changes_->counts().failed,
                    .control_refused = refused_,
                    .bypass = bypass ? std::optional(bypass->on) : std::nullopt,
                    .changed_ns = observed_.changed_ns,
                    .failed_ns = observed_.failed_ns};
  if (facts.generation != observed_.generation) facts.changed_ns = system_clock_ns();
  if (facts.reloads_refused != observed_.reloads_refused) facts.failed_ns = system_clock_ns();
  config_teller_.tend(options_.run_dir, facts);
  observed_ = std::move(facts);
  wanted_.tend(options_.run_dir, plan_, fleet_.posts());
  noter_.tend(options_.run_dir, fleet_.posts());
  logs_.tend(options_.run_dir, Clock::now());
}

/// Counters go on where the supervisor before this one told observers that they were.
void Supervisor::resume_counts() {
  observed_ = read_config(options_.run_dir);
  changes_->resume_counts({observed_.reloads_done, observed_.reloads_refused});
  refused_ = refused_before_ = observed_.control_refused;
}

}  // namespace millrace
