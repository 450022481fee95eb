// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "orchestration/planner/plan_printer.hpp"
#include "orchestration/planner/planning.hpp"
#include "shared/base/limits.hpp"
#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

std::set<std::string> links(const std::string& text) {
  const Plan plan = plan_of(with_ports(text));
  std::set<std::string> names;
  for (const PlanLink& link : plan.links) {
    EXPECT_TRUE(names.insert(link_name(plan, link)).second) << "twice: " << link_name(plan, link);
  }
  return names;
}

using Names = std::set<std::string>;

TEST(PlanLinks, OfAPathWithoutFunctionsGoStraightToTheEgress) {
  EXPECT_EQ(
      links("paths: {p: {from: [a, b]}}\n"),
      (Names{"ingress.a.0_egress.0", "ingress.b.0_egress.0", "hub_egress.0", "standby_egress.0"}));
}

TEST(PlanLinks, ReachEveryWorkerThatScalingCanReach) {
  EXPECT_EQ(links("workers: {c: {kind: classifier, max: 2}, d: {kind: classifier, max: 1}}\n"
                  "functions: {x: {type: plain, on: c}, y: {type: plain, on: d}}\n"
                  "paths: {p: {from: a, run: [x, y]}}\n"),
            (Names{"ingress.a.0_c.0", "ingress.a.0_c.1", "c.0_d.0", "c.1_d.0", "d.0_egress.0",
                   "hub_c.0", "hub_c.1", "hub_d.0", "hub_egress.0", "standby_c.0", "standby_c.1",
                   "standby_d.0", "standby_egress.0"}));
}

TEST(PlanLinks, LetTheStandInTakeOverFromBothIncarnations) {
  EXPECT_EQ(links("workers: {c: {kind: classifier, max: 1}, d: {kind: classifier, max: 1}, g: "
                  "{kind: gpu}}\nfunctions: {x: {type: plain, on: c}, m: {type: match, rules: x, "
                  "on: g}, n: {type: match, rules: x, on: d}}\n"
                  "paths: {p: {from: a, run: [x, m]}}\n"),
            (Names{"ingress.a.0_c.0", "c.0_g.0.a", "c.0_g.0.b", "c.0_d.0", "g.0.a_egress.0",
                   "g.0.b_egress.0", "d.0_egress.0", "hub_c.0", "hub_d.0", "hub_egress.0",
                   "standby_c.0", "standby_d.0", "standby_egress.0"}));
}

TEST(PlanLinks, LetAProducerStandInForTheGpuItFeeds) {
  EXPECT_EQ(links("workers: {c: {kind: classifier, max: 2}, g: {kind: gpu}}\n"
                  "functions: {x: {type: plain, on: c}, m: {type: match, rules: x, on: g}}\n"
                  "paths: {p: {from: a, run: [x, m]}}\n"),
            (Names{"ingress.a.0_c.0", "ingress.a.0_c.1", "c.0_g.0.a",      "c.0_g.0.b",
                   "c.1_g.0.a",       "c.1_g.0.b",       "c.0_c.0",        "c.0_c.1",
                   "c.1_c.0",         "c.1_c.1",         "g.0.a_egress.0", "g.0.b_egress.0",
                   "c.0_egress.0",    "c.1_egress.0",    "hub_c.0",        "hub_c.1",
                   "hub_egress.0",    "standby_c.0",     "standby_c.1",    "standby_egress.0"}));
}

TEST(PlanLinks, ReachOnlyTheEgressOfTheirStreams) {
  const Plan plan = plan_of(
      "millrace: 1\negress: {count: 2}\nports: {a: {device: null}, b: {device: null}}\n"
      "paths: {p: {from: a}, q: {from: b}}\n");
  std::set<std::string> names;
  for (const PlanLink& link : plan.links) names.insert(link_name(plan, link));
  EXPECT_EQ(names, (Names{"ingress.a.0_egress.0", "ingress.b.0_egress.1", "hub_egress.0",
                          "hub_egress.1", "standby_egress.0", "standby_egress.1"}));
}

TEST(PlanLinks, AreDeeperThanTheSlotsThatCanBeInThem) {
  const auto depth = [](int slots) {
    return plan_of(with_ports("paths: {p: {from: a, slots: " + std::to_string(slots) + "}}\n"))
        .links.front()
        .depth;
  };
  // A ring of n takes n - 1.
  EXPECT_EQ(depth(31), 32u);
  EXPECT_EQ(depth(32), 64u);
}

TEST(PlanLinks, HaveTheSlotsOfTheProducersOrTheConsumersStreams) {
  const Plan plan = plan_of(
      "millrace: 1\negress: {count: 2}\nports: {a: {device: null}, b: {device: null}}\n"
      "workers: {w: {kind: classifier, max: 1}}\nfunctions: {f: {type: plain}}\n"
      "paths: {p: {from: a, run: f, slots: 40}, q: {from: b, run: f, slots: 300}}\n");
  std::map<std::string, std::uint32_t> depths;
  for (const PlanLink& link : plan.links) depths[link_name(plan, link)] = link.depth;
  EXPECT_EQ(depths["ingress.a.0_w.0"], 64u);
  EXPECT_EQ(depths["ingress.b.0_w.0"], 512u);
  // 64 stand-in slots may come from recovery.
  EXPECT_EQ(depths["w.0_egress.0"], 128u) << "of 40 and 64";
  EXPECT_EQ(depths["w.0_egress.1"], 512u) << "of 300 and 64";
  EXPECT_EQ(depths["hub_egress.0"], 512u) << "of all, 404";
  EXPECT_EQ(depths["hub_w.0"], 512u);
}

TEST(TakersOf, AGpuGroupAreBothIncarnationsAndTheStandIn) {
  const Plan plan = plan_of(with_ports(
      "workers: {c: {kind: classifier, max: 2}, g: {kind: gpu}}\nfunctions: {m: {type: match, "
      "rules: x, on: g}}\npaths: {p: {from: a, run: m}}\n"));
  EXPECT_EQ(takers_of(plan, 0), (std::vector<std::uint32_t>{3, 4}));
  EXPECT_EQ(takers_of(plan, 1), (std::vector<std::uint32_t>{3, 4, 5, 6}));
}

}  // namespace
}  // namespace millrace
