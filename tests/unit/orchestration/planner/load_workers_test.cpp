// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/sections.hpp"

#include <gtest/gtest.h>

#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

std::string group(const std::string& body) {
  return with_ports("paths: {p: {from: a}}\nworkers:\n  g: {" + body + "}\n");
}

TopologyGroup read_group(const std::string& body) { return parse(group(body)).groups.at(0); }

TEST(LoadWorkers, FillsInCounts) {
  EXPECT_EQ(read_group("kind: classifier").count, 1u);
  EXPECT_EQ(read_group("kind: classifier").max.value, 4u);
  EXPECT_EQ(read_group("kind: classifier, count: 6").max.value, 6u);
  EXPECT_EQ(read_group("kind: classifier, max: 2").max.value, 2u);
  EXPECT_EQ(read_group("kind: gpu").max.value, 1u);
  EXPECT_EQ(read_group("kind: gpu, devices: [0, 1, 2]").count, 3u);
  EXPECT_EQ(read_group("kind: gpu, devices: [0, 1, 2]").max.value, 3u);
  EXPECT_EQ(read_group("kind: gpu, count: 2, max: 3").max.value, 3u);
}

TEST(LoadWorkers, RefusesAGpuTwice) {
  EXPECT_EQ(wrong(group("kind: gpu, devices: [0, 1, 0]")),
            "5:34: found '0' as 'devices'; allowed: numbers of GPUs, each once");
  EXPECT_EQ(wrong(group("kind: gpu, device: software, devices: [2, 02]")),
            "5:49: found '02' as 'devices'; allowed: numbers of GPUs, each once");
}

TEST(LoadWorkers, WarnsOfAGpuThatTwoGroupsHave) {
  const auto warnings = [](const std::string& other) {
    std::string text;
    for (const TopologyWarning& warning :
         parse(group("kind: gpu, devices: [0, 1]") + "  h: {" + other + "}\n").warnings) {
      text += to_text(warning).substr(sizeof "/etc/millrace/t.yaml:" - 1) + "\n";
    }
    return text;
  };
  EXPECT_EQ(warnings("kind: gpu, devices: [2, 1]"),
            "6:31: warning: group 'h' shares GPU 1 with group 'g': they have it in turns\n");
  EXPECT_EQ(warnings("kind: gpu"),
            "6:3: warning: group 'h' shares GPU 0 with group 'g': they have it in turns\n");
  EXPECT_EQ(warnings("kind: gpu, devices: [2, 3]"), "");
  EXPECT_EQ(warnings("kind: gpu, device: software, devices: [0, 1]"), "");
  EXPECT_EQ(warnings("kind: classifier"), "");
}

TEST(LoadWorkers, ReadsLimitsOfAutoscale) {
  const auto limits = [](const std::string& text) {
    const PlanAutoscale one = read_group("kind: classifier, count: 2, max: 6" + text).autoscale;
    return std::vector<std::uint32_t>{one.min, one.max, one.up, one.down};
  };
  EXPECT_EQ(limits("")[0], 0u) << "off";
  EXPECT_EQ(limits(", autoscale: {}"), (std::vector<std::uint32_t>{1, 6, 80, 30}));
  EXPECT_EQ(limits(", autoscale: { min: 2, max: 4, up: 20 }"),
            (std::vector<std::uint32_t>{2, 4, 20, 19}));
  const auto refused = [](const std::string& text) {
    return wrong(group("kind: classifier, count: 2, max: 6, autoscale: " + text));
  };
  EXPECT_NE(refused("{ max: 7 }"), "");
  EXPECT_NE(refused("{ min: 3, max: 2 }"), "");
  EXPECT_NE(refused("{ up: 50, down: 50 }"), "");
  EXPECT_NE(refused("{ most: 3 }"), "");
}

TEST(LoadWorkers, ReadsCoresInEveryForm) {
  const auto cores = [](const std::string& text) {
    return read_group("kind: classifier, cores: " + text).cores.value;
  };
  EXPECT_EQ(cores("3"), (std::vector<int>{3}));
  EXPECT_EQ(cores("8-11"), (std::vector<int>{8, 9, 10, 11}));
  EXPECT_EQ(cores("'1,4-5,9'"), (std::vector<int>{1, 4, 5, 9}));
  EXPECT_EQ(cores("[1, 4-5]"), (std::vector<int>{1, 4, 5}));
}

TEST(LoadWorkers, RefusesCoresThatAreNone) {
  for (const char* text : {"x", "5-3", "'1,'", "-1", "1024", "'1,1'", "1-", "''", "'1,,2'"}) {
    const std::string body = "kind: classifier, cores: " + std::string(text);
    const std::string found =
        std::string(text).front() == '\'' ? std::string(text) : "'" + std::string(text) + "'";
    EXPECT_EQ(wrong(group(body)), "5:32: found " + found +
                                      " as 'cores'; allowed: core numbers like 3, '8-15' or [1, "
                                      "4-7], each once");
  }
}

TEST(LoadWorkers, ReadsTheSoftwareDevice) {
  const TopologyGroup gpu =
      read_group("kind: gpu, device: software, seed: 7, delay_us: 20, reorder: true, late: 5");
  ASSERT_EQ(gpu.settings.size(), 5u);
  EXPECT_EQ(gpu.settings[0].key + "=" + gpu.settings[0].value.value, "device=software");
  EXPECT_EQ(gpu.settings[3].key + "=" + gpu.settings[3].value.value, "reorder=true");
  EXPECT_EQ(read_group("kind: gpu").settings.at(0).value.value, "auto");
}

TEST(LoadWorkers, RefusesWrongGroups) {
  EXPECT_EQ(wrong(group("count: 1")), "5:6: found no 'kind' in 'g'; allowed: classifier, gpu");
  EXPECT_EQ(wrong(group("kind: clasifier")),
            "5:13: found 'clasifier' as 'kind'; allowed: classifier, gpu; did you mean "
            "'classifier'?");
  EXPECT_EQ(wrong(group("kind: classifier, count: 0")),
            "5:32: found '0' as 'count'; allowed: a whole number from 1 to 128");
  EXPECT_EQ(wrong(group("kind: classifier, count: 3, max: 2")),
            "5:40: found '2' as 'max'; allowed: a whole number from 3 to 128");
  EXPECT_EQ(wrong(group("kind: classifier, dispatch: flows")),
            "5:35: found 'flows' as 'dispatch'; allowed: any, flow; did you mean 'flow'?");
  EXPECT_EQ(wrong(group("kind: classifier, seed: 1")),
            "5:25: found 'seed' in 'g'; allowed: autoscale, cores, count, dispatch, kind, max");
  EXPECT_EQ(wrong(group("kind: gpu, late: 1001")),
            "5:24: found '1001' as 'late'; allowed: a whole number from 0 to 1000");
  EXPECT_EQ(wrong(group("kind: gpu, device: cudda")),
            "5:26: found 'cudda' as 'device'; allowed: auto, cuda, software; did you mean "
            "'cuda'?");
  EXPECT_EQ(
      wrong(group("kind: gpu, dealy_us: 1")),
      "5:18: found 'dealy_us' in 'g'; allowed: autoscale, cores, count, delay_us, device, devices, "
      "dispatch, kind, late, max, offload, reorder, seed, spill; did you mean 'delay_us'?");
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a}}\nworkers: {egress: {kind: classifier}}\n")),
            "4:11: found 'egress' as group; allowed: a name that no process has of its own");
  EXPECT_EQ(wrong(with_ports("paths: {p: {from: a}}\nworkers: {routes: {kind: classifier}}\n")),
            "4:11: found 'routes' as group; allowed: a name that no process has of its own");
}

TEST(DefaultGroups, AreThoseThatTheFunctionsNeed) {
  const auto groups = [](const std::string& functions) {
    std::string names;
    for (const TopologyGroup& g : parse(with_ports("paths: {p: {from: a}}\n" + functions)).groups) {
      names += g.name.value + " " + std::to_string(g.count) + "/" + std::to_string(g.max.value) +
               (g.dispatch == Dispatch::kFlow ? " flow;" : " any;");
    }
    return names;
  };
  EXPECT_EQ(groups(""), "");
  EXPECT_EQ(groups("functions: {r: {type: route, table: x}}\n"), "classifier 1/4 any;");
  EXPECT_EQ(groups("functions: {r: {type: record}}\n"), "classifier 1/4 flow;");
  EXPECT_EQ(groups("functions: {r: {type: route, table: x, on: gpu}}\n"),
            "gpu 1/1 any;classifier 1/4 any;");
  EXPECT_EQ(groups("workers: {x: {kind: gpu}}\nfunctions: {r: {type: route, table: x, on: x}}\n"),
            "x 1/1 any;standin 1/1 any;");
  EXPECT_EQ(groups("workers: {standin: {kind: gpu}}\n"
                   "functions: {r: {type: route, table: x, on: standin}}\n"),
            "standin 1/1 any;standin-cpu 1/1 any;");
  EXPECT_EQ(groups("workers: {x: {kind: gpu}}\nfunctions: {r: {type: route, table: x}}\n"),
            "x 1/1 any;classifier 1/4 any;");
  EXPECT_EQ(groups("workers: {x: {kind: classifier, max: 2}}\n"), "x 1/2 any;");
}

TEST(DefaultGroups, FunctionsWithoutAGroupRunOnTheFirstClassifiers) {
  const Topology topology = parse(with_ports(
      "paths: {p: {from: a}}\nworkers: {x: {kind: gpu}, y: {kind: classifier}, z: {kind: "
      "classifier}}\nfunctions: {r: {type: route, table: x}, s: {type: plain, on: z}}\n"));
  EXPECT_EQ(topology.functions[0].on.value, "y");
  EXPECT_EQ(topology.functions[1].on.value, "z");
}

}  // namespace
}  // namespace millrace
