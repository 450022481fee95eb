// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "orchestration/planner/plan_printer.hpp"
#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Three cores a node; "eth1" lies on node 1, "eth2" on node 0.
Plan planned(const std::string& rest) {
  const Host host{
      {0, 1, 2, 3, 4, 5}, {{0, {0, 1, 2}}, {1, {3, 4, 5}}}, {{"eth1", 1}, {"eth2", 0}}, {}};
  return plan_of(
      "millrace: 1\nports: {a: {device: afpacket, interface: eth1}, b: {device: afpacket, "
      "interface: eth2}}\nfunctions: {x: {type: plain}}\n" +
          rest,
      host);
}

std::vector<std::string> lines(const Plan& plan) {
  std::vector<std::string> list;
  for (const NodeCrossing& c : node_crossings(plan)) {
    list.push_back(c.from + " " + std::to_string(c.from_node) + " " + c.to + " " +
                   std::to_string(c.to_node));
  }
  return list;
}

TEST(NodeCrossings, AreOfLinksAndPorts) {
  const Plan plan = planned(
      "workers: {c: {kind: classifier, count: 1, max: 2, cores: 1}}\n"
      "paths: {p: {from: a, to: b, run: x}}\n");
  EXPECT_THAT(lines(plan),
              ElementsAre("ingress.a.0 1 c.0 0", "c.0 0 egress.0 1", "egress.0 1 port b 0"));
}

TEST(NodeCrossings, AreOfActorsFarFromTheirPorts) {
  const Plan near = planned("paths: {p: {from: a, to: b}}\negress: {cores: 4}\n");
  EXPECT_THAT(lines(near), ElementsAre("egress.0 1 port b 0"));
  const Plan far = plan_of(
      "millrace: 1\nports: {a: {device: dpdk, devargs: '0000:3b:00.0', cores: 1}}\n"
      "paths: {p: {from: a, to: a}}\negress: {cores: 2}\n",
      {{0, 1, 2, 3}, {{0, {0, 1, 2}}, {1, {3}}}, {{"0000:3b:00.0", 1}}, {}});
  EXPECT_THAT(lines(far), ElementsAre("port a 1 ingress.a.0 0", "egress.0 0 port a 1"));
}

TEST(NodeCrossings, StandInThePlan) {
  const Plan plan = planned(
      "workers: {c: {kind: classifier, count: 1, max: 2, cores: 1}}\n"
      "paths: {p: {from: a, to: b, run: x}}\n");
  const std::string text = plan_text(plan);
  EXPECT_THAT(text, HasSubstr("NUMA nodes: 2, memory on node 1\n"
                              "  node 0: 3 cores, from 0 to 2, port b\n"
                              "  node 1: 3 cores, from 3 to 5, port a\n"));
  EXPECT_THAT(text, HasSubstr("  ingress.a.0 (node 1) -> c.0 (node 0)\n"));
  const auto json = nlohmann::json::parse(plan_json(plan));
  EXPECT_EQ(json["node_crossings"].size(), node_crossings(plan).size());
  EXPECT_EQ(json["node_crossings"][0]["to"], "c.0");
  EXPECT_EQ(json["nodes"][1]["cores"], (nlohmann::json{3, 4, 5}));
  EXPECT_EQ(json["ports"][0]["node"], 1);
  EXPECT_EQ(json["memory_node"], 1);
}

TEST(NodeCrossings, AreNoneOnOneNode) {
  const Plan plan = plan_of(with_ports("paths: {p: {from: a}}\n"), {{0, 1, 2, 3}});
  EXPECT_TRUE(node_crossings(plan).empty());
  EXPECT_THAT(plan_text(plan), Not(HasSubstr("NUMA")));
  EXPECT_EQ(nlohmann::json::parse(plan_json(plan))["nodes"].size(), 1u);
}

TEST(SharedCores, AreSaidWithWhatWouldBeEnough) {
  const Plan few = plan_of(with_ports("paths: {p: {from: [a, b]}}\n"), {{0, 1}});
  EXPECT_THAT(plan_text(few), HasSubstr("cores: shared, actors sleep when idle; of 2 that may be "
                                        "used one an actor and one for the rest would take 4\n"));
  const Plan named =
      plan_of(with_ports("workers: {c: {kind: classifier, count: 2, max: 2, cores: 2}}\n"
                         "functions: {x: {type: plain}}\npaths: {p: {from: a, run: x}}\n"),
              {{0, 1, 2, 3, 4}});
  EXPECT_THAT(plan_text(named), HasSubstr("  core 2 is shared by c.0 c.1\n"));
  EXPECT_THAT(shared_cores_of(named).at(2), ElementsAre("c.0", "c.1"));
}

}  // namespace
}  // namespace millrace
