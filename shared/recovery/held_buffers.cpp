// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/recovery/held_buffers.hpp"

#include "shared/links/ledger.hpp"
#include "shared/recovery/census.hpp"
#include "shared/recovery/laws.hpp"

namespace millrace {

bool HeldBuffers::stop(std::uint32_t actor) {
  const ActorKind kind = context_.plan->actors[actor].kind;
  return (kind != ActorKind::kIngress && kind != ActorKind::kEgress) || drivers_.stop(actor);
}

bool HeldBuffers::restore(std::uint32_t actor) {
  const ActorKind kind = context_.plan->actors[actor].kind;
  if (kind != ActorKind::kIngress && kind != ActorKind::kEgress) return true;
  if (!stop(actor)) return false;
  if (kind == ActorKind::kEgress) {
    account_waiting(actor);
    free_pool(actor);
  }
  const std::uint32_t freed = free_held(actor);
  if (freed != 0) tell_({actor, "buffers taken back from its queues", freed});
  std::vector<std::uint32_t> rest;
  const bool started = drivers_.start(actor, rest);
  returns_.give_back_buffers(rest);
  return started;
}

/// Counts the packets that waited at a dead egress as lost: consumed, and not yet generated again.
void HeldBuffers::account_waiting(std::uint32_t egress) {
  for (std::uint32_t stream = 0; stream < context_.plan->streams.size(); ++stream) {
    if (context_.plan->streams[stream].egress != egress) continue;
    for (const std::uint32_t lane : lanes_of(*context_.plan, context_.plan->streams[stream])) {
      LaneLedger& ledger = context_.status.ledger(stream, lane);
      const LaneRecord now = read_record(ledger);
      const std::uint64_t held = now.held();
      constexpr auto kHeld = static_cast<std::size_t>(Reason::kHeld);
      MILLRACE_CHECK(held <= now.consumed[kHeld]);  // nothing goes on that has not waited
      if (held == 0) continue;
      LaneRecord& record = begin_amendment(ledger);
      count_end(record, record.generated, Reason::kHeld, held);
      count_end(record, record.dropped, Reason::kEgressLost, held);
      publish(ledger);
    }
  }
}

/// Frees the used buffers of its own pool: the successor finds them marked as in its hand.
void HeldBuffers::free_pool(std::uint32_t egress) {
  const Plan& plan = *context_.plan;
  const std::uint32_t number = plan.actors[egress].index;
  const std::uint32_t first = side_buffers_of(plan, number);
  MILLRACE_CHECK(first + plan.side_count <= context_.segment.buffer_count());
  for (std::uint32_t i = 0; i < plan.side_count; ++i) {
    std::uint32_t& mark = context_.segment.mark(first + i);
    if (mark == Mark{MarkKind::kSide, number}.word()) mark = Mark{MarkKind::kHand, egress}.word();
  }
}

std::uint32_t HeldBuffers::free_held(std::uint32_t actor) {
  const PlanActor& dead = context_.plan->actors[actor];
  const bool ingress = dead.kind == ActorKind::kIngress;
  const std::uint32_t held = Mark{ingress ? MarkKind::kRx : MarkKind::kTx, dead.index}.word();
  // Rings first: a buffer that leaves one meanwhile has the mark of its ingress already.
  const Flags returned_buffers = buffers_in_rings(context_);
  std::vector<std::uint32_t> sent;
  std::uint32_t freed = 0;
  for (std::uint32_t buffer = 0; buffer < returned_buffers.size(); ++buffer) {
    std::uint32_t& mark = context_.segment.mark(buffer);
    if (mark != held || returned_buffers[buffer]) continue;
    ++freed;
    if (ingress || is_side_buffer(*context_.plan, buffer)) {
      mark = Mark{MarkKind::kHand, actor}.word();  // of the dead: nothing else looks
    } else {
      sent.push_back(buffer);
    }
  }
  returns_.give_back_buffers(sent);
  return freed;
}

}  // namespace millrace
