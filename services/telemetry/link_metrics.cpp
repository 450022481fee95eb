// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "services/telemetry/status_metrics.hpp"

namespace millrace {
namespace {

/// A link is not shown when both its actors ran and are gone: workers that were scaled away would
/// leave a series for each pair of them. A live consumer reads what a dead producer left.
bool is_shown(const StatusSource& source, std::uint32_t number) {
  const PlanLink& link = source.plan.links[number];
  if (!ever_ran(source, link.consumer) || !ever_ran(source, link.producer)) return false;
  if (!moves_packets(source.plan.actors[link.producer])) return false;  // recovery's own link
  if (lives(source, link.producer)) return lives(source, link.consumer);
  return source.status.link(number).depth.load(std::memory_order_relaxed) != 0 &&
         lives(source, link.consumer);
}

/// Batches that can be in the link. Its ring has room for more, but no more slots can get there.
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
  families.add(Metric::kLinkDepth, labels,
               static_cast<double>(tally.depth.load(std::memory_order_relaxed)));
  families.add(Metric::kLinkHighWater, labels, static_cast<double>(peak_now(source, tally.high)));
}

}  // namespace

void add_links(const StatusSource& source, Families& families) {
  const Plan& plan = source.plan;
  for (std::uint32_t number = 0; number < plan.links.size(); ++number) {
    if (is_shown(source, number)) add_link(source, number, families);
  }
}

}  // namespace millrace
