// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/post.hpp"

#include <algorithm>

#include "shared/base/check.hpp"

namespace millrace {
namespace {

bool is_second_incarnation(const Plan& plan, std::uint32_t actor) {
  const PlanActor& me = plan.actors[actor];
  return me.kind == ActorKind::kGpu && me.twin < actor;
}

/// Published by the leader before the exit of a GPU process is certain.
bool is_shut_out(ActorState state) {
  return state == ActorState::kFenced || state == ActorState::kReclaiming ||
         state == ActorState::kQuarantined;
}

}  // namespace

std::vector<Post> make_posts(const Plan& plan, RestartLimits limits) {
  std::vector<Post> posts;
  for (std::uint32_t i = 0; i < plan.actors.size(); ++i) {
    if (is_second_incarnation(plan, i) || process_of(plan, i) != i) continue;
    const PlanActor& actor = plan.actors[i];
    Post post{.name = actor.name, .kind = actor.kind, .group = actor.group, .index = actor.index};
    post.policy = RestartPolicy(limits);
    post.seats.push_back({.actor = i});
    for (std::uint32_t other = i + 1; other < plan.actors.size(); ++other) {
      if (process_of(plan, other) == i) post.seats[0].others.push_back(other);
    }
    MILLRACE_CHECK(actor.kind != ActorKind::kGpu || actor.twin < plan.actors.size());
    if (actor.kind == ActorKind::kGpu && actor.twin != i) {
      post.seats.push_back({.actor = actor.twin});
    }
    posts.push_back(std::move(post));
  }
  for (const ObserverKind& observer : kObservers) {
    if (!observer.is_wanted(plan)) continue;
    Post post{.name = observer.name, .observer = &observer};
    post.policy = RestartPolicy(limits);
    post.seats.emplace_back();
    posts.push_back(std::move(post));
  }
  return posts;
}

bool cannot_move_packets(const std::vector<Post>& posts) {
  return std::ranges::any_of(posts, [](const Post& post) {
    const bool port = post.kind == ActorKind::kIngress || post.kind == ActorKind::kEgress;
    return port && post.wish == Wish::kUp && !post.seat().child && post.policy.given_up();
  });
}

bool is_lost(const Post& post, const StateOf& state) {
  const Seat& seat = post.seat();
  if (!seat.child) return true;
  return post.kind == ActorKind::kGpu && is_shut_out(state(seat));
}

std::optional<std::size_t> seat_to_start(const Post& post, const StateOf& state,
                                         RestartPolicy::Time now, bool hub_gone) {
  MILLRACE_CHECK(post.current < post.seats.size());
  if (post.wish != Wish::kUp || post.kind == ActorKind::kHub) return std::nullopt;
  if (post.policy.given_up() || !is_lost(post, state)) return std::nullopt;
  // A GPU worker's batches wait for its twin: no delay unless lives are short.
  const bool at_once = post.kind == ActorKind::kGpu && post.policy.was_healthy();
  if (!at_once && now < post.policy.ready_at()) return std::nullopt;
  for (std::size_t i = 0; i < post.seats.size(); ++i) {
    const std::size_t at = (post.current + 1 + i) % post.seats.size();
    const Seat& seat = post.seats[at];
    if (seat.child) continue;
    const bool leads = post.kind == ActorKind::kStandby && hub_gone;
    if (!post.kind || leads || state(seat) == ActorState::kVacant) return at;
  }
  return std::nullopt;
}

}  // namespace millrace
