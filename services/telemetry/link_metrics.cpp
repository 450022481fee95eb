// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "services/telemetry/status_metrics.hpp"

namespace millrace {
namespace {

/// Batches that can be in the link: its ring has room for more, but not more slots get there.
std::uint32_t capacity_of(const Plan& plan, const PlanLink& link) {
  const PlanActor& producer = plan.actors[link.producer];
  if (producer.kind == ActorKind::kIngress) return plan.streams[producer.index].slot_count;
  return plan.slot_count;
}

void add_link(const StatusSource& source, std::uint32_t number, Families& families) {
  const Plan& plan = source.plan;
  const PlanLink& link = plan.links[number];
  const LinkTally& tally = source.status.link(number);
  const std::vector<std::string> labels = {plan.actors[link.producer].name,
                                           plan.actors[link.consumer].name};
  families.add(Metric::kLinkCapacity, labels, capacity_of(plan, link));
  if (lives(source, link.consumer)) {  // nobody else looks how much is in it
    families.add(Metric::kLinkDepth, labels,
                 static_cast<double>(tally.depth.load(std::memory_order_relaxed)));
  }
  families.add(Metric::kLinkHighWater, labels, static_cast<double>(peak_now(source, tally.high)));
}

}  // namespace

void add_links(const StatusSource& source, Families& families) {
  const Plan& plan = source.plan;
  for (std::uint32_t number = 0; number < plan.links.size(); ++number) {
    const PlanLink& link = plan.links[number];
    // Spares that never ran; and what recovery hands on.
    if (!ever_ran(source, link.consumer) || !ever_ran(source, link.producer)) continue;
    if (moves_packets(plan.actors[link.producer])) add_link(source, number, families);
  }
}

}  // namespace millrace
