// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/post_state.hpp"

#include <algorithm>

namespace millrace {

std::vector<PostState> states_of(const std::vector<Post>& posts) {
  std::vector<PostState> states;
  states.reserve(posts.size());
  for (const Post& post : posts) {
    const bool wanted = post.wish == Wish::kUp && !post.helper;
    states.push_back({post.name, wanted, post.policy.restarts(), post.seat().note});
  }
  return states;
}

void restore_posts(const std::vector<PostState>& states, std::vector<Post>& posts) {
  for (Post& post : posts) {
    const auto at = std::ranges::find(states, post.name, &PostState::name);
    if (at == states.end()) continue;
    post.wish = at->wanted ? Wish::kUp : Wish::kDown;
    post.policy.resume(at->restarts);
    post.seat().note = at->end;
  }
}

std::vector<WantedWorkers> wanted_workers(const Plan& plan, const std::vector<Post>& posts) {
  std::vector<WantedWorkers> wanted;
  for (const PlanGroup& group : plan.groups) wanted.push_back({.group = group.name});
  wanted.push_back({.group = "ingress"});
  wanted.push_back({.group = "egress"});
  const auto count = [&](std::uint32_t number) {
    const PlanActor& actor = plan.actors[number];
    if (is_of_group(actor.kind)) ++wanted[actor.group].count;
    if (actor.kind == ActorKind::kIngress) ++wanted[plan.groups.size()].count;
    if (actor.kind == ActorKind::kEgress) ++wanted[plan.groups.size() + 1].count;
  };
  for (const Post& post : posts) {
    if (post.wish != Wish::kUp || !post.kind) continue;
    const Seat& seat = post.seats[0];  // a GPU worker's second one is its twin's
    count(seat.actor);
    for (const std::uint32_t other : seat.others) {
      if (plan.actors[other].at_start) count(other);
    }
  }
  return wanted;
}

}  // namespace millrace
