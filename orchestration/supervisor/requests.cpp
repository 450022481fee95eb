// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orchestration/supervisor/leader_client.hpp"
#include "orchestration/supervisor/supervisor.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/nearest.hpp"
#include "shared/layout/actor_states.hpp"

// What the CLI and the actors say to the supervisor.

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kScaleLimit{20'000};
constexpr std::chrono::milliseconds kDrainGrace{8'000};
constexpr std::size_t kEventsShown = 20;

bool is_worker_of(const Post& post, std::uint32_t group) {
  const bool worker = post.kind == ActorKind::kClassifier || post.kind == ActorKind::kGpu;
  return worker && post.group == group;
}

std::string unknown_group(const Plan& plan, const std::string& name) {
  std::vector<std::string_view> names;
  for (const PlanGroup& group : plan.groups) names.push_back(group.name);
  const std::string text = "no group '" + name + "'; there are: " + comma_list(names);
  const std::string nearest = nearest_of(name, names);
  return nearest.empty() ? text : text + "; did you mean '" + nearest + "'?";
}

std::string state_text(const Post& post, const Seat& seat, ActorState state) {
  if (!seat.child && post.policy.given_up() && post.wish == Wish::kUp) return "given up";
  if (!post.kind) return seat.child ? "alive" : "vacant";
  return std::string(rule_of(state).name);
}

std::vector<NamedCount> skipped_packets(const Plan& plan, const StatusSource& source) {
  std::vector<NamedCount> counts;
  for (std::uint32_t i = 0; i < plan.functions.size(); ++i) {
    const PlanFunction& function = plan.functions[i];
    if (function.unavailable != Fallback::kWait) {
      counts.push_back(
          {function.name + " unavailable", source.skipped(i, SkipReason::kUnavailable)});
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
  } else if (const auto* scale = std::get_if<ScaleRequest>(&body)) {
    begin_scale(received, *scale);
  } else if (const auto* event = std::get_if<Event>(&body)) {
    note(*event);
  } else if (const auto* ready = std::get_if<Ready>(&body)) {
    ready_.insert(ready->actor);
  } else if (received.message.id != 0) {
    server_->reply(received, ErrorReply{std::string("`") + message_name(body) +
                                        "` is not for the supervisor"});
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
    status.heartbeat_age_ms = facts.heartbeat_age_ms;
  }
  return status;
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
  }
  const std::size_t shown = std::min(events_.size(), kEventsShown);
  reply.events.assign(events_.end() - static_cast<std::ptrdiff_t>(shown), events_.end());
  return reply;
}

std::uint32_t Supervisor::wanted_count(std::uint32_t group) const {
  return static_cast<std::uint32_t>(std::count_if(
      fleet_.posts().begin(), fleet_.posts().end(),
      [&](const Post& post) { return is_worker_of(post, group) && post.wish == Wish::kUp; }));
}

void Supervisor::begin_scale(const Received& received, const ScaleRequest& request) {
  const auto refuse = [&](const std::string& why) { server_->reply(received, ErrorReply{why}); };
  const auto at = std::find_if(plan_.groups.begin(), plan_.groups.end(),
                               [&](const PlanGroup& group) { return group.name == request.group; });
  if (at == plan_.groups.end()) {
    return refuse(unknown_group(plan_, request.group));
  }
  if (plan_.fused) {
    return refuse(
        "a topology with `placement: fused` does not scale: its workers share one thread");
  }
  if (at->dispatch == Dispatch::kFlow) {
    return refuse(
        "group '" + at->name +
        "' has dispatch: flow, whose lanes cannot move yet; only groups with dispatch: any scale");
  }
  if (request.count < 1 || request.count > at->max) {
    return refuse("group '" + at->name + "' can have 1 to " + std::to_string(at->max) +
                  " workers, not " + std::to_string(request.count));
  }
  if (scale_) return refuse("another scale is under way");
  if (phase_ == "starting" || phase_ == "stopping") return refuse("the topology is " + phase_);
  const auto group = static_cast<std::uint32_t>(at - plan_.groups.begin());
  const std::uint32_t before = wanted_count(group);
  try {
    scale_up(group, request.count);
    scale_down(group, request.count);
  } catch (const Error& error) {
    return refuse(error.what());
  }
  scale_ = {.request = received,
            .reply = {before, request.count},
            .group = group,
            .until = Clock::now() + kScaleLimit};
}

void Supervisor::scale_up(std::uint32_t group, std::uint32_t count) {
  for (Post& post : fleet_.posts()) {
    if (wanted_count(group) >= count) return;
    if (!is_worker_of(post, group) || post.wish != Wish::kDown) continue;
    // Started by tend() as soon as its entry is vacant.
    post.policy.allow();
    post.wish = Wish::kUp;
  }
}

void Supervisor::scale_down(std::uint32_t group, std::uint32_t count) {
  for (auto post = fleet_.posts().rbegin(); post != fleet_.posts().rend(); ++post) {
    if (wanted_count(group) <= count) return;
    if (!is_worker_of(*post, group) || post->wish != Wish::kUp) continue;
    if (!post->seat().child) {
      post->wish = Wish::kDown;
      continue;
    }
    ask_leader<OkReply>(options_.run_dir, Drain{post->seat().actor, true});
    fleet_.let_drain(*post, kDrainGrace);
  }
}

bool Supervisor::scale_settled(const PendingScale& scale) const {
  return std::all_of(fleet_.posts().begin(), fleet_.posts().end(), [&](const Post& post) {
    if (!is_worker_of(post, scale.group)) return true;
    if (post.wish == Wish::kUp) return fleet_.state(post.seat().actor) == ActorState::kAlive;
    return std::none_of(post.seats.begin(), post.seats.end(),
                        [](const Seat& seat) { return seat.child.has_value(); });
  });
}

void Supervisor::finish_scale() {
  if (!scale_) return;
  if (scale_settled(*scale_)) {
    server_->reply(scale_->request, scale_->reply);
    const std::string& name = plan_.groups[scale_->group].name;
    note({.kind = "scaled",
          .text = name + " from " + std::to_string(scale_->reply.before) + " to " +
                  std::to_string(scale_->reply.after) + " workers",
          .number = scale_->reply.after,
          .time_ns = system_clock_ns()});
    scale_.reset();
  } else if (Clock::now() > scale_->until) {
    server_->reply(scale_->request, ErrorReply{"not all workers are where they should be within " +
                                               std::to_string(kScaleLimit.count() / 1000) +
                                               " s; see millrace status"});
    scale_.reset();
  }
}

}  // namespace millrace
