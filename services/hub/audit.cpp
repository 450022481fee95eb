// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/hub/audit.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "shared/base/check.hpp"
#include "shared/config/loop.hpp"
#include "shared/config/plan_reasons.hpp"
#include "shared/links/loop_balance.hpp"

namespace millrace {
namespace {

struct Totals {
  using ByReason = std::array<std::uint64_t, kReasonCount>;
  ByReason dropped{}, consumed{}, generated{};
};

std::uint64_t sum_of(std::span<const std::uint64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

void add(Totals::ByReason& to, const std::uint64_t (&counts)[kReasonCount]) {
  for (std::size_t reason = 0; reason < kReasonCount; ++reason) to[reason] += counts[reason];
}

std::vector<NamedCount> named(const Totals::ByReason& counts, std::span<const PlanReason> reasons) {
  std::vector<NamedCount> names;
  for (std::size_t reason = 0; reason < counts.size(); ++reason) {
    if (counts[reason] == 0) continue;
    names.push_back({std::string(reason_text(reasons, reason)), counts[reason]});
  }
  return names;
}

AuditLane audit_lane(const ActorContext& context, std::uint32_t stream, std::uint32_t lane,
                     Totals& totals, AuditReply& reply) {
  const LaneRecord record = read_record(context.status.ledger(stream, lane));
  const IngressLane& ingress = context.status.ingress_lane(stream, lane);
  AuditLane result;
  result.stream = stream;
  result.lane = lane;
  // Read after the record: what was received meanwhile shows as in flight, never as missing.
  const std::uint64_t received = ingress.received.load(std::memory_order_relaxed);
  result.received = std::max(received, record.received);
  result.transmitted = sum_of(record.transmitted);
  result.dropped = sum_of(record.dropped);
  add(totals.dropped, record.dropped);
  add(totals.consumed, record.consumed);
  add(totals.generated, record.generated);
  // What waits has been consumed for a while: it is under way until it is generated again.
  const std::uint64_t held = record.held();
  totals.consumed[static_cast<std::size_t>(Reason::kHeld)] -= held;
  result.in_flight = result.received - record.received + held;
  reply.unaccounted += record.unaccounted;
  const std::uint64_t begun = record.received + sum_of(record.generated);
  const std::uint64_t ended = result.transmitted + result.dropped + sum_of(record.consumed);
  if (begun != ended + record.unaccounted) {
    reply.problems.push_back("stream " + std::to_string(stream) + " lane " + std::to_string(lane) +
                             ": " + std::to_string(begun) + " left the window, " +
                             std::to_string(ended) + " have an end");
  }
  // One word for both sides: never in a batch, and ended as they came.
  const std::uint64_t refused = ingress.refused.complete().packets.load(std::memory_order_relaxed);
  totals.dropped[static_cast<std::size_t>(Reason::kOverload)] += refused;
  result.dropped += refused;
  result.received += refused;
  return result;
}

void audit_census(const Census& census, AuditReply& reply) {
  MILLRACE_CHECK(census.slots_free <= census.slots);
  MILLRACE_CHECK(std::uint64_t{census.buffers_free} + census.buffers_held <= census.buffers);
  const std::uint32_t slots_used = census.slots - census.slots_free;
  const std::uint32_t buffers_used = census.buffers - census.buffers_free - census.buffers_held;
  reply.slots = {{"free", census.slots_free}, {"in_use", slots_used}};
  reply.buffers = {
      {"free", census.buffers_free}, {"in_use", buffers_used}, {"held", census.buffers_held}};
  if (!reply.quiet) return;
  if (slots_used != 0) {
    reply.problems.push_back(std::to_string(slots_used) +
                             " slots are in use with nothing in flight");
  }
  if (buffers_used != 0) {
    reply.problems.push_back(std::to_string(buffers_used) +
                             " buffers are in use with nothing in flight");
  }
}

/// What lies in the rings of loops is in flight, and not transmitted yet.
/// Returns how many more came out of a loop than were sent there.
std::uint64_t audit_loops(const ActorContext& context, AuditReply& reply) {
  std::uint64_t excess = 0;
  const Plan& plan = *context.plan;
  for (std::uint32_t port = 0; port < plan.ports.size(); ++port) {
    if (!is_loop(plan.ports[port])) continue;
    const LoopBalance balance = loop_balance(plan, context.status, port);
    const std::uint64_t under_way = balance.under_way();
    reply.transmitted -= std::min(under_way, reply.transmitted);
    reply.in_flight += under_way;
    if (under_way != 0) reply.loops.push_back({plan.ports[port].name, under_way});
    excess += balance.received > balance.sent ? balance.received - balance.sent : 0;
  }
  return excess;
}

/// With nothing in flight, the rings are empty, and nothing came out that had not been put in.
void audit_rings(const ActorContext& context, std::uint64_t excess, AuditReply& reply) {
  if (!reply.quiet) return;
  std::uint64_t lie_there = 0;
  const std::vector<LoopPlace>& places = context.segment.layout().loops;
  for (std::size_t i = 0; i < places.size(); ++i) {
    // One that is dead has let go of nothing since; its successor does.
    const std::uint32_t ingress = context.plan->streams[places[i].stream].ingress;
    if (context.state_of(ingress) != ActorState::kAlive) continue;
    const LoopRing ring = context.segment.loop(i);
    lie_there += ring.head() - ring.tail();
  }
  if (lie_there != 0) {
    reply.problems.push_back(std::to_string(lie_there) +
                             " packets lie in loops with nothing in flight");
  }
  if (excess != 0) {
    reply.problems.push_back(std::to_string(excess) +
                             " packets were received from loops and not sent there");
  }
}

template <typename Visit>
void each_lane(const Plan& plan, Visit&& visit) {
  for (std::uint32_t stream = 0; stream < plan.streams.size(); ++stream) {
    for (const std::uint32_t lane : lanes_of(plan, plan.streams[stream])) visit(stream, lane);
  }
}

}  // namespace

std::uint64_t received_packets(const ActorContext& context) {
  std::uint64_t received = 0;
  each_lane(*context.plan, [&](std::uint32_t stream, std::uint32_t lane) {
    const IngressLane& ingress = context.status.ingress_lane(stream, lane);
    received += ingress.received.load(std::memory_order_relaxed) +
                ingress.refused.complete().packets.load(std::memory_order_relaxed);
  });
  return received;
}

AuditReply audit(const ActorContext& context, const Census& census, std::uint64_t received_before,
                 std::span<const PlanReason> reasons) {
  AuditReply reply;
  reply.by = context.plan->actors[context.me.actor].name;
  Totals totals;
  each_lane(*context.plan, [&](std::uint32_t stream, std::uint32_t number) {
    const AuditLane lane = audit_lane(context, stream, number, totals, reply);
    reply.received += lane.received;
    reply.transmitted += lane.transmitted;
    reply.in_flight += lane.in_flight;
    reply.lanes.push_back(lane);
  });
  reply.dropped = named(totals.dropped, reasons);
  reply.consumed = named(totals.consumed, reasons);
  reply.generated = named(totals.generated, reasons);
  const std::uint64_t excess = audit_loops(context, reply);
  reply.quiet = reply.in_flight == 0 && received_packets(context) == received_before;
  const std::uint64_t begun = reply.received + sum_of(totals.generated);
  const std::uint64_t ended =
      reply.transmitted + sum_of(totals.dropped) + sum_of(totals.consumed) + reply.unaccounted;
  if (begun != ended + reply.in_flight) {
    reply.problems.push_back("received and generated " + std::to_string(begun) + ", ended " +
                             std::to_string(ended) + ", in flight " +
                             std::to_string(reply.in_flight));
  }
  if (reply.unaccounted != 0) {
    reply.problems.push_back(std::to_string(reply.unaccounted) + " packets are unaccounted for");
  }
  audit_census(census, reply);
  audit_rings(context, excess, reply);
  reply.exact = reply.problems.empty();
  return reply;
}

}  // namespace millrace
