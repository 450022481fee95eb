// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/tell_observers.hpp"

namespace millrace {

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

void WantedTeller::tend(const std::string& run_dir, const Plan& plan,
                        const std::vector<Post>& posts) {
  told_.keep(wanted_workers(plan, posts),
             [&](const std::vector<WantedWorkers>& wanted) { note_wanted(run_dir, wanted); });
}

void ConfigTeller::tend(const std::string& run_dir, const ConfigFacts& facts) {
  told_.keep(facts, [&](const ConfigFacts& now) { note_config(run_dir, now); });
}

}  // namespace millrace
