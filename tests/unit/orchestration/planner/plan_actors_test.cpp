// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "orchestration/planner/planning.hpp"
#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

constexpr const char* kTopology =
    "workers: {c: {kind: classifier, count: 2, max: 3}, g: {kind: gpu, max: 2}}\n"
    "functions: {x: {type: plain, on: c}, m: {type: match, rules: x, on: g}}\n"
    "paths: {p: {from: [a, b], run: [x, m]}}\n";

std::string names(const Plan& plan) {
  std::string text;
  for (const PlanActor& actor : plan.actors) text += actor.name + (actor.at_start ? " " : "? ");
  return text;
}

TEST(PlanActors, StandInTheOrderOfThePath) {
  const Plan plan = plan_of(with_ports(kTopology));
  EXPECT_EQ(
      names(plan),
      "hub standby ingress.a.0 ingress.b.0 c.0 c.1 c.2? g.0.a g.0.b? g.1.a? g.1.b? egress.0 ");
  EXPECT_EQ(plan.actors[2].kind, ActorKind::kIngress);
  EXPECT_EQ(plan.actors[3].index, 1u);
  EXPECT_EQ(plan.actors[5].kind, ActorKind::kClassifier);
  EXPECT_EQ(plan.actors[5].index, 1u);
  EXPECT_EQ(plan.actors[7].kind, ActorKind::kGpu);
  EXPECT_EQ(plan.actors[7].group, 1u);
  EXPECT_EQ(plan.actors[7].twin, 8u);
  EXPECT_EQ(plan.actors[8].twin, 7u);
  EXPECT_EQ(plan.actors[10].twin, 9u);
  EXPECT_EQ(plan.actors[10].index, 1u);
  EXPECT_EQ(plan.actors[11].kind, ActorKind::kEgress);
  EXPECT_EQ(plan.streams[1].ingress, 3u);
  EXPECT_EQ(plan.streams[1].egress, 11u);
}

TEST(PlanActors, SpreadStreamsOverEgressActors) {
  const Plan plan = plan_of(
      "millrace: 1\negress: {count: 2}\nports: {a: {device: generate, queues: 3}, b: {device: "
      "null}}\npaths: {p: {from: a}}\n");
  EXPECT_EQ(names(plan), "hub standby ingress.a.0 ingress.a.1 ingress.a.2 egress.0 egress.1 ");
  EXPECT_EQ(plan.streams[0].egress, 5u);
  EXPECT_EQ(plan.streams[1].egress, 6u);
  EXPECT_EQ(plan.streams[2].egress, 5u);
}

TEST(PlanActors, KeepAPlaceForQueuesThatMayComeLater) {
  const Plan plan = plan_of(
      "millrace: 1\nports: {a: {device: afpacket, interface: x, queues_max: 3}, b: {device: "
      "null}}\npaths: {p: {from: a}}\n");
  EXPECT_EQ(names(plan), "hub standby ingress.a.0 ingress.a.1? ingress.a.2? egress.0 ");
  EXPECT_EQ(plan.slot_count, 3 * plan.streams[0].slot_count);
  EXPECT_TRUE(std::ranges::any_of(plan.links, [](const PlanLink& one) {
    return one.producer == 4 && one.consumer == 5;
  })) << "from the third ingress to the egress";
}

TEST(PlanActors, RefuseMoreEgressActorsThanTransmitQueues) {
  EXPECT_EQ(wrong("millrace: 1\negress: {count: 2}\nports: {a: {device: pcap, in: x, out: "
                  "y}}\npaths: {p: {from: a}}\n"),
            "2:17: found 2 egress actors with port 'a'; allowed: at most 1, its transmit queues");
}

TEST(PlanActors, RefuseMoreThanATopologyHas) {
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a}}\nworkers:\n  c: {kind: classifier, max: 124}\n"
                             "  d: {kind: classifier, max: 1}\n")),
            "6:30: found 129 actors; allowed: at most 128 in a topology");
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a}}\nworkers:\n  c: {kind: classifier, max: "
                             "124}\n")),
            "");
}

}  // namespace
}  // namespace millrace
