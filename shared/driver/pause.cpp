// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/driver/pause.hpp"

namespace millrace {

std::vector<std::uint32_t> users_of(const Plan& plan, std::uint32_t port) {
  std::vector<std::uint32_t> users;
  for (std::uint32_t i = 0; i < plan.actors.size(); ++i) {
    const PlanActor& actor = plan.actors[i];
    const bool receives =
        actor.kind == ActorKind::kIngress && plan.streams[actor.index].port == port;
    if (receives || actor.kind == ActorKind::kEgress) users.push_back(i);
  }
  return users;
}

bool PortPause::look() const noexcept {
  if (context_.state_of(0) != ActorState::kAlive) return false;
  for (const std::uint32_t user : users_) {
    const ActorState state = context_.state_of(user);
    if (state == ActorState::kFenced || state == ActorState::kReclaiming) return true;
  }
  return false;
}

}  // namespace millrace
