// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/recovery/driver_queues.hpp"
#include "shared/recovery/recovery.hpp"

/// Buffers that lie in the queues of a dead ingress or egress, where no slot and no link shows
/// them: they are free once no device touches them any more.

namespace millrace {

bool Recovery::stop_queues(std::uint32_t actor) {
  const ActorKind kind = context_.plan->actors[actor].kind;
  return (kind != ActorKind::kIngress && kind != ActorKind::kEgress) || drivers_.stop(actor);
}

bool Recovery::restore_queues(std::uint32_t actor) {
  const ActorKind kind = context_.plan->actors[actor].kind;
  if (kind != ActorKind::kIngress && kind != ActorKind::kEgress) return true;
  if (!stop_queues(actor)) return false;
  const std::uint32_t freed = free_held(actor);
  if (freed != 0) tell_({actor, "buffers taken back from its queues", freed});
  std::vector<std::uint32_t> rest;
  const bool started = drivers_.start(actor, rest);
  returns_.give_back_buffers(rest);
  return started;
}

std::uint32_t Recovery::free_held(std::uint32_t actor) {
  const PlanActor& dead = context_.plan->actors[actor];
  const bool ingress = dead.kind == ActorKind::kIngress;
  const std::uint32_t held = Mark{ingress ? MarkKind::kRx : MarkKind::kTx, dead.index}.word();
  // Rings first: what leaves one meanwhile has the mark of its ingress already.
  const Flags returned_buffers = buffers_in_rings();
  std::vector<std::uint32_t> sent;
  std::uint32_t freed = 0;
  for (std::uint32_t buffer = 0; buffer < returned_buffers.size(); ++buffer) {
    std::uint32_t& mark = context_.segment.mark(buffer);
    if (mark != held || returned_buffers[buffer]) continue;
    ++freed;
    if (ingress) {
      mark = Mark{MarkKind::kHand, actor}.word();  // of the dead: nobody else looks
    } else {
      sent.push_back(buffer);
    }
  }
  returns_.give_back_buffers(sent);
  return freed;
}

}  // namespace millrace
