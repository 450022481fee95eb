// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "orchestration/planner/planning.hpp"
#include "shared/base/limits.hpp"
#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

constexpr const char* kParts =
    "workers: {c: {kind: classifier}, f: {kind: classifier, dispatch: flow}, g: {kind: gpu}}\n"
    "functions:\n  c1: {type: plain, on: c}\n  c2: {type: plain, on: c}\n"
    "  s: {type: record, on: f}\n  f1: {type: plain, on: f}\n  m: {type: match, rules: x, on: g}\n";

Plan plan_with(const std::string& path) {
  return plan_of(with_ports(kParts + ("paths:\n  p: {from: [a, b], " + path + "}\n")));
}

TEST(PlanPaths, PutConsecutiveFunctionsOfOneGroupIntoOneStage) {
  const Plan plan = plan_with("run: [c1, c2, s, f1, m]");
  ASSERT_EQ(plan.stages.size(), 3u);
  EXPECT_EQ(plan.stages[0].functions, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(plan.stages[1].functions, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(plan.stages[2].functions, (std::vector<std::uint32_t>{4}));
  EXPECT_EQ(plan.stages[0].group, 0u);
  EXPECT_EQ(plan.stages[1].group, 1u);
  EXPECT_EQ(plan.stages[2].group, 2u);
  EXPECT_EQ(plan.stages[0].next, 1);
  EXPECT_EQ(plan.stages[1].next, 2);
  EXPECT_EQ(plan.stages[2].next, kEgressStage);
  EXPECT_FALSE(plan.stages[0].stateful);
  EXPECT_TRUE(plan.stages[1].stateful);
  EXPECT_EQ(plan.paths[0].first_stage, 0);
}

TEST(PlanPaths, VisitAGroupTwiceWhenAnotherLiesBetween) {
  const Plan plan = plan_with("run: [c1, m, c2]");
  ASSERT_EQ(plan.stages.size(), 3u);
  EXPECT_EQ(plan.stages[2].group, 0u);
}

TEST(PlanPaths, WithoutFunctionsLeadToTheEgress) {
  const Plan plan = plan_with("run: []");
  EXPECT_TRUE(plan.stages.empty());
  EXPECT_EQ(plan.paths[0].first_stage, kEgressStage);
}

TEST(PlanPaths, HaveOneLaneUnlessAGroupGoesByFlow) {
  EXPECT_EQ(plan_with("run: [c1, m]").paths[0].lane_count, 1u);
  EXPECT_EQ(plan_with("run: [c1, f1]").paths[0].lane_count, 8u);
  EXPECT_EQ(plan_with("run: [c1], lanes: 3").paths[0].lane_count, 3u);
  EXPECT_EQ(plan_with("run: [f1], lanes: 3").paths[0].lane_count, 3u);
}

bool has_keys(const std::string& path) {
  std::vector<KnownFunction> functions = test_functions();
  functions.push_back({.type = "acl", .runs_on_gpu = true, .keys_suffice = true, .settings = {}});
  const std::string acls =
      "  k: {type: acl, on: g}\n  k2: {type: acl, on: g}\n  kc: {type: acl, on: c}\n";
  const std::string text =
      with_ports(kParts + acls + "paths:\n  p: {from: [a, b], " + path + "}\n");
  return make_plan(parse_topology(text, "t.yaml", functions), functions, Host{}).paths[0].has_keys;
}

TEST(PlanPaths, HaveKeysWhereAGpuComesFirstAndNeedsNoMore) {
  EXPECT_TRUE(has_keys("run: [k, f1]"));
  EXPECT_TRUE(has_keys("run: [k, k2], lanes: 2"));
  EXPECT_TRUE(has_keys("run: [k, k2]")) << "one lane";
  EXPECT_FALSE(has_keys("run: [k, m, f1]")) << "match reads payload";
  EXPECT_FALSE(has_keys("run: [c1, k, f1]")) << "c1 may change the packet";
  EXPECT_FALSE(has_keys("run: [kc, f1]")) << "a CPU reads the header";
  EXPECT_FALSE(has_keys("run: [], lanes: 2"));
}

TEST(PlanPaths, HaveAsManyLanesAsTheGroupHasWorkers) {
  const Plan plan = plan_of(with_ports(
      "workers: {f: {kind: classifier, dispatch: flow, max: 12}}\nfunctions: {x: {type: plain}}\n"
      "paths: {p: {from: a, run: x}}\n"));
  EXPECT_EQ(plan.paths[0].lane_count, 12u);
}

TEST(PlanPaths, NumberTheLanesOfTheTopology) {
  const Plan plan =
      plan_of(with_ports("paths: {p: {from: a, lanes: 5}, q: {from: b, lanes: 2}}\n"));
  EXPECT_EQ(plan.paths[0].lane_first, 0u);
  EXPECT_EQ(plan.paths[1].lane_first, 5u);
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a, lanes: 124}, q: {from: b, lanes: 5}}\n")),
            "3:55: found 129 lanes; allowed: at most 128 in a topology");
}

TEST(PlanPaths, WithoutOrderHaveLanesInTurnAndASlotForEach) {
  const Plan plan = plan_with("run: [c1], order: none");
  EXPECT_FALSE(plan.paths[0].ordered);
  EXPECT_EQ(plan.paths[0].lane_count, 16u);
  EXPECT_EQ(plan.streams[0].slot_count, 16u);
  EXPECT_EQ(plan_with("run: [c1], order: none, lanes: 40").streams[0].slot_count, 40u);
  EXPECT_EQ(plan_with("run: [c1], order: none, slots: 3").streams[0].slot_count, 3u);
  EXPECT_TRUE(plan_with("run: [c1], order: kept").paths[0].ordered);
}

TEST(PlanStreams, HaveThreeSlotsALaneAndAtLeastSixteen) {
  EXPECT_EQ(plan_with("run: [c1]").streams[0].slot_count, 16u);
  EXPECT_EQ(plan_with("run: [c1], lanes: 5").streams[0].slot_count, 16u);
  EXPECT_EQ(plan_with("run: [c1], lanes: 6").streams[0].slot_count, 18u);
  EXPECT_EQ(plan_with("run: [f1]").streams[0].slot_count, 24u);
  EXPECT_EQ(plan_with("run: [m]").streams[0].slot_count, 32u);
  EXPECT_EQ(plan_with("run: [f1, m]").streams[0].slot_count, 48u);
  EXPECT_EQ(plan_with("run: [f1, m], slots: 17").streams[0].slot_count, 17u);
}

TEST(PlanStreams, LieOneBehindTheOther) {
  const Plan plan = plan_with("run: [f1]");
  ASSERT_EQ(plan.streams.size(), 2u);
  EXPECT_EQ(plan.streams[0].buffer_count, 24u * 64 + 512);
  EXPECT_EQ(plan.streams[1].slot_first, 24u);
  EXPECT_EQ(plan.streams[1].buffer_first, 2048u);
  EXPECT_EQ(plan.slot_count, 48u);
  EXPECT_EQ(plan.side_first, 4096u);
  EXPECT_EQ(plan.buffer_count, 4096u + kSideBuffersDefault);
}

TEST(PlanStreams, FeedEveryPathOfTheirPortWithTheSlotsOfAllOfThem) {
  const Plan plan = plan_of(
      "millrace: 1\nports: {a: {device: null}, b: {device: null}, c: {device: null}}\n"
      "paths:\n  p: {from: a, to: b, match: udp, slots: 20}\n"
      "  q: {from: [b, a], to: c, lanes: 2, buffers: 9000}\n");
  ASSERT_EQ(plan.streams.size(), 2u);
  const PlanStream& both = plan.streams[0];
  ASSERT_EQ(both.paths.size(), 2u);
  EXPECT_EQ(both.paths[0].path, 0u);
  EXPECT_EQ(both.paths[0].output, 1u);
  EXPECT_EQ(both.paths[1].path, 1u);
  EXPECT_EQ(both.paths[1].output, 2u);
  EXPECT_EQ(both.slot_count, 20u + 16u);
  EXPECT_EQ(both.buffer_count, 9000u);
  EXPECT_EQ(lanes_of(plan, both), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(plan.streams[1].slot_first, 36u);
  EXPECT_EQ(plan.streams[1].buffer_first, 9000u);
}

TEST(PlanStreams, ThereIsOneAQueue) {
  const Plan plan = plan_of(
      "millrace: 1\nports: {a: {device: generate, queues: 3}, b: {device: null}}\npaths: {p: "
      "{from: "
      "[a, b], to: b}}\n");
  ASSERT_EQ(plan.streams.size(), 4u);
  EXPECT_EQ(plan.streams[2].port, 0u);
  EXPECT_EQ(plan.streams[2].queue, 2u);
  EXPECT_EQ(plan.streams[3].port, 1u);
  EXPECT_EQ(plan.streams[3].queue, 0u);
}

TEST(PlanStreams, SendToTheOtherOfTwoPortsUnlessSaid) {
  EXPECT_EQ(plan_with("run: []").streams[0].paths[0].output, 1u);
  EXPECT_EQ(plan_with("run: []").streams[1].paths[0].output, 0u);
  EXPECT_EQ(plan_with("to: b").streams[1].paths[0].output, 1u);
  EXPECT_EQ(plan_of("millrace: 1\nports: {a: {device: null}}\npaths: {p: {from: a}}\n")
                .streams[0]
                .paths[0]
                .output,
            0u);
}

TEST(PlanStreams, RefuseTooFewSlotsAndBuffers) {
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a, lanes: 4, slots: 8}}\n")),
            "3:39: found 8 slots for 4 lanes; allowed: at least 9");
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a, lanes: 4, slots: 9}}\n")), "");
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a, buffers: 1535}}\n")),
            "3:31: found 1535 buffers for 16 slots; allowed: at least 1536");
  EXPECT_EQ(plan_of(with_ports("paths: {p: {from: a, buffers: 9000}}\n")).side_first, 9000u);
  const auto held = [](const std::string& ring) {
    return plan_of("millrace: 1\nports: {a: {device: afxdp, interface: e, queues: 2" + ring +
                   "}, b: {device: 'null'}}\npaths: {p: {from: a}}\n")
        .side_first;
  };
  EXPECT_EQ(held(""), 2 * (1536u + 1024)) << "what the device may fill comes on top";
  EXPECT_EQ(held(", ring: 100"), 2 * (1536u + 100));
}

TEST(PlanStreams, RefuseMoreThanTheLimits) {
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: [a, b], slots: 10000}}\n")),
            "3:9: found 1281024 buffers; allowed: at most 1048576 in a topology\n"
            "3:34: found 20000 slots; allowed: at most 16384 in a topology");
  EXPECT_EQ(wrong("millrace: 1\nports: {a: {device: generate, queues: 16}, b: {device: null}}\n"
                  "paths: {p: {from: [a, b], to: b}}\n"),
            "3:9: found 17 streams; allowed: at most 16 in a topology");
}

TEST(PlanPaths, RefuseMoreStagesThanTheLimit) {
  std::string text = "millrace: 1\nports: {o: {device: null}";
  std::string paths;
  for (int i = 0; i < 7; ++i) {
    const std::string n = std::to_string(i);
    text += ", p" + n + ": {device: null}";
    paths += "  w" + n + ": {from: p" + n + ", to: o, run: [c1, f1, c2, f2, c3]}\n";
  }
  text += "}\nworkers: {c: {kind: classifier}, f: {kind: classifier}}\nfunctions:\n";
  for (const char* f : {"c1", "f1", "c2", "f2", "c3"}) {
    text += std::string("  ") + f + ": {type: plain, on: " + f[0] + "}\n";
  }
  EXPECT_EQ(wrong(text + "paths:\n" + paths),
            "17:3: found 35 stages; allowed: at most 32 in a topology");
}

}  // namespace
}  // namespace millrace
