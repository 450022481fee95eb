// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "orchestration/planner/planning.hpp"
#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

constexpr const char* kCoresTopology =
    "workers: {c: {kind: classifier, count: 2, max: 3}, g: {kind: gpu, max: 2}}\n"
    "functions: {x: {type: plain, on: c}, m: {type: match, rules: x, on: g}}\n"
    "paths: {p: {from: [a, b], run: [x, m]}}\n";

std::vector<int> cores(const std::string& text, const Host& host) {
  std::vector<int> list;
  for (const PlanActor& actor : plan_of(with_ports(text), host).actors) list.push_back(actor.core);
  return list;
}

TEST(PlanCores, AreOneAnActorWhenThereAreEnough) {
  // hub, standby, 2 ingress, 2 + 1 classifiers, 2 gpu workers of two incarnations, egress
  const Host twelve{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
  EXPECT_EQ(cores(kCoresTopology, twelve),
            (std::vector<int>{-1, -1, 1, 2, 3, 4, 7, 5, 5, 8, 8, 6}));
  EXPECT_FALSE(plan_of(with_ports(kCoresTopology), twelve).shared_cores);
}

TEST(PlanCores, SomeAreNobodys) {
  const Host twelve{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
  EXPECT_EQ(cores_of_nobody(plan_of(with_ports(kCoresTopology), twelve)),
            (std::vector<std::uint32_t>{0, 9, 10, 11}));
  EXPECT_TRUE(cores_of_nobody(plan_of(with_ports(kCoresTopology))).empty());
}

TEST(PlanCores, LeaveSpareActorsUnboundWhenTheyRunOut) {
  const Host seven{{2, 4, 6, 8, 10, 12, 14}};
  EXPECT_EQ(cores(kCoresTopology, seven),
            (std::vector<int>{-1, -1, 4, 6, 8, 10, -1, 12, 12, -1, -1, 14}));
  EXPECT_FALSE(plan_of(with_ports(kCoresTopology), seven).shared_cores);
}

TEST(PlanCores, AreSharedWhenThereAreTooFewOrNobodyKnows) {
  const Host six{{0, 1, 2, 3, 4, 5}};
  EXPECT_EQ(cores(kCoresTopology, six), std::vector<int>(12, -1));
  EXPECT_TRUE(plan_of(with_ports(kCoresTopology), six).shared_cores);
  EXPECT_TRUE(plan_of(with_ports(kCoresTopology)).shared_cores);
}

TEST(PlanCores, AreThoseThatTheGroupNames) {
  const std::string text =
      "workers: {c: {kind: classifier, count: 2, max: 3, cores: '5,1'}}\n"
      "functions: {x: {type: plain, on: c}}\npaths: {p: {from: a, run: x}}\n";
  // hub, standby, ingress, 2 + 1 classifiers, egress
  EXPECT_EQ(cores(text, {{0, 1, 2, 3, 4, 5}}), (std::vector<int>{-1, -1, 2, 5, 1, 5, 3}));
  for (const PlanActor& actor : plan_of(with_ports(text), {{0, 1, 2, 3, 4, 5}}).actors) {
    EXPECT_EQ(actor.core_named, actor.kind == ActorKind::kClassifier) << actor.name;
  }
  EXPECT_EQ(cores(text, {}), (std::vector<int>{-1, -1, -1, 5, 1, 5, -1}));
}

TEST(PlanCores, RefuseCoresThatAreNotOurs) {
  const std::string text =
      with_ports("workers:\n  c: {kind: classifier, cores: [1, 7]}\npaths: {p: {from: a}}\n");
  EXPECT_EQ(wrong(text), "");
  try {
    plan_of(text, {{0, 1, 2}});
    FAIL() << "nothing thrown";
  } catch (const TopologyError& error) {
    EXPECT_STREQ(error.what(),
                 "/etc/millrace/t.yaml:4:32: found core 7, which this process may not use; "
                 "allowed: 0, 1, 2");
  }
}

TEST(PlanCores, OfPortsAndEgressAreThoseThatTheFileNames) {
  const std::string text =
      "millrace: 1\nports: {a: {device: generate, queues: 3, cores: [7, 4]}, b: {device: null}}\n"
      "egress: {count: 2, cores: 2-3}\npaths: {p: {from: a}}\n";
  const Plan plan = plan_of(text, {{0, 1, 2, 3, 4, 5, 6, 7}});
  std::vector<int> list;
  for (const PlanActor& actor : plan.actors) list.push_back(actor.core);
  EXPECT_EQ(list, (std::vector<int>{-1, -1, 7, 4, 7, 2, 3}));
  EXPECT_FALSE(plan.shared_cores);
  EXPECT_TRUE(shares_core(plan, 2)) << "with the third queue";
  EXPECT_FALSE(shares_core(plan, 3));
  EXPECT_TRUE(shares_core(plan, 4));
  EXPECT_FALSE(shares_core(plan, 5));
  try {
    plan_of(text, {{0, 1, 2, 4, 7}});
    FAIL() << "nothing thrown";
  } catch (const TopologyError& error) {
    EXPECT_STREQ(error.what(),
                 "/etc/millrace/t.yaml:3:27: found core 3, which this process may not use; "
                 "allowed: 0, 1, 2, 4, 7");
  }
}

TEST(PlanCores, ThatAreNamedLeaveTheOthersToTheRest) {
  const std::string text =
      "workers: {c: {kind: classifier, count: 6, max: 6, cores: 2-3}}\n"
      "functions: {x: {type: plain, on: c}}\npaths: {p: {from: a, run: x}}\n";
  // 8 movers on 5 cores, but 6 of them were told to share two.
  EXPECT_EQ(cores(text, {{0, 1, 2, 3, 4}}), (std::vector<int>{-1, -1, 1, 2, 3, 2, 3, 2, 3, 4}));
}

TEST(PlanCores, OfAFusedTopologyIsOne) {
  const auto fused = [](const std::string& port, const Host& host) {
    return plan_of("millrace: 1\nplacement: fused\nports: {a: {" + port +
                       "}, b: {device: null}}\npaths: {p: {from: [a, b]}}\n",
                   host);
  };
  const Plan one = fused("device: null", {{3, 5, 6}});
  for (std::size_t i = 2; i < one.actors.size(); ++i) EXPECT_EQ(one.actors[i].core, 5);
  EXPECT_FALSE(shares_core(one, 2));
  EXPECT_EQ(fused("device: null, cores: 6", {{3, 5, 6}}).actors.back().core, 6);
  EXPECT_EQ(fused("device: null", {{3}}).actors.back().core, -1);
}

/// Cores 0-3 of node 0, 4-7 of node 1; "a" lies on node 1, "b" on node 0, the GPU on node 1.
Host two_nodes() {
  return {{0, 1, 2, 3, 4, 5, 6, 7},
          {{0, {0, 1, 2, 3}}, {1, {4, 5, 6, 7}}},
          {{"eth1", 1}, {"eth2", 0}, {"0000:3b:00.0", 1}},
          {1}};
}

std::string wires(const std::string& rest) {
  return "millrace: 1\nports: {a: {device: afpacket, interface: eth1}, b: {device: afpacket, "
         "interface: eth2}}\n" +
         rest;
}

TEST(PlanNodes, GiveAnActorACoreWhereItsPortIs) {
  const Plan plan = plan_of(wires("functions: {x: {type: plain}}\nworkers: {c: {kind: classifier, "
                                  "count: 2, max: 2}}\npaths: {p: {from: a, to: b, run: x}}\n"),
                            two_nodes());
  EXPECT_EQ(plan.ports[0].node, 1);
  EXPECT_EQ(plan.ports[1].node, 0);
  // hub, standby, ingress.a.0, c.0, c.1, egress.0: all packets come from node 1
  for (std::size_t i = 2; i < plan.actors.size(); ++i) {
    EXPECT_EQ(plan.actors[i].core, static_cast<int>(i) + 2) << plan.actors[i].name;
    EXPECT_EQ(plan.actors[i].node, 1);
    EXPECT_EQ(plan.actors[i].home, 1);
  }
  EXPECT_EQ(plan.memory_node, 1);
  EXPECT_EQ(plan.nodes[1].cores, (std::vector<std::uint32_t>{4, 5, 6, 7}));
}

TEST(PlanNodes, GoToTheOtherNodeWhenTheirsIsFull) {
  const Plan plan = plan_of(wires("functions: {x: {type: plain}}\nworkers: {c: {kind: classifier, "
                                  "count: 4, max: 4}}\npaths: {p: {from: a, to: b, run: x}}\n"),
                            two_nodes());
  std::vector<int> list;
  for (const PlanActor& actor : plan.actors) list.push_back(actor.node);
  EXPECT_EQ(list, (std::vector<int>{-1, -1, 1, 1, 1, 1, 0, 0}));
}

TEST(PlanNodes, StreamsGoToAnEgressOfTheirNode) {
  const std::string text =
      "millrace: 1\nports: {a: {device: afpacket, interface: eth1, queues: 3}, b: {device: dpdk, "
      "devargs: '0000:af:00.0,x=1', queues: 2}}\negress: {count: 3}\npaths: {p: {from: [a, b]}}\n";
  Host host = two_nodes();
  host.devices["0000:af:00.0"] = 0;
  const Plan plan = plan_of(text, host);
  std::vector<std::string> names;
  for (const PlanStream& s : plan.streams) names.push_back(plan.actors[s.egress].name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"egress.1", "egress.1", "egress.1", "egress.0", "egress.2"}));
  EXPECT_EQ(plan.actors.back().home, 0);
}

TEST(PlanNodes, AGpuWorkerIsWhereItsGpuIs) {
  const std::string text = wires(
      "workers: {g: {kind: gpu, device: software}}\nfunctions: {m: {type: match, rules: x, on: "
      "g}}\npaths: {p: {from: b, to: a, run: m}}\n");
  Topology topology = parse(text);
  const auto gpu_home = [&] {
    for (const PlanActor& actor : make_plan(topology, test_functions(), two_nodes()).actors) {
      if (actor.kind == ActorKind::kGpu) return actor.home;
    }
    return -2;
  };
  EXPECT_EQ(gpu_home(), 0) << "the software device is where its packets are";
  for (const char* device : {"auto", "cuda"}) {
    for (TopologySetting& setting : topology.groups[0].settings) {
      if (setting.key == "device") setting.value.value = device;
    }
    EXPECT_EQ(gpu_home(), 1) << device;
  }
}

TEST(PlanNodes, BindToANodeWhileThereIsACoreEachWhenCoresAreShared) {
  Host host = two_nodes();
  host.cores = {0, 4, 5};
  host.nodes = {{0, {0}}, {1, {4, 5}}};
  const Plan plan = plan_of(wires("functions: {x: {type: plain}}\nworkers: {c: {kind: classifier, "
                                  "count: 2, max: 2}}\npaths: {p: {from: a, to: b, run: x}}\n"),
                            host);
  EXPECT_TRUE(plan.shared_cores);
  std::vector<int> list;
  for (const PlanActor& actor : plan.actors) {
    EXPECT_EQ(actor.core, -1);
    list.push_back(actor.node);
  }
  EXPECT_EQ(list, (std::vector<int>{-1, -1, 1, 1, -1, -1}));
}

TEST(PlanNodes, AreOfNoInterestWhenThereIsOne) {
  const Plan plan = plan_of(wires("paths: {p: {from: [a, b]}}\n"),
                            {{0, 1, 2, 3}, {{0, {0, 1, 2, 3}}}, {{"eth1", 0}}, {}});
  for (const PlanActor& actor : plan.actors) EXPECT_EQ(actor.home, -1);
  EXPECT_EQ(plan.memory_node, -1);
  EXPECT_EQ(plan.nodes.size(), 1u);
}

}  // namespace
}  // namespace millrace
