// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/plan_printer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "shared/layout/slot.hpp"
#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

using testing::HasSubstr;

Plan sample() {
  return plan_of(
      "millrace: 1\nname: demo\nports: {lan: {device: pcap, in: x, out: y}, wan: {device: null}}\n"
      "workers: {front: {kind: classifier, count: 2, max: 3}, gpu: {kind: gpu, seed: 4}}\n"
      "functions: {r: {type: route, table: [t, u], on: front, classes: hot}, m: {type: match, "
      "rules: x, on: gpu, when: class hot}}\npaths: {main: {from: lan, run: [r, m]}}\n",
      {{0, 1, 2, 3, 4, 5, 6, 7}});
}

TEST(PlanText, NamesEveryPart) {
  const std::string text = plan_text(sample());
  for (const char* line :
       {"topology demo: batches of at most 64 packets",
        "  lan: pcap in=/etc/millrace/x out=/etc/millrace/y, mtu 1500, mac 02:00:00:00:00:01\n",
        "  front: classifier, 2 of at most 3, dispatch any\n",
        "  gpu: gpu, 1 of at most 1, dispatch any, stand-in front, device=auto seed=4\n",
        "image /dev/shm/millrace-demo.r.1.image", "only class hot",
        "  main: ingress -> front[r] -> gpu[m] -> egress, 1 lane (0 to 0)\n",
        "  ingress.lan.0 -> egress.0: path main, to wan, 32 slots, 2560 buffers\n",
        "at most 2048 packets in flight: they wait at most 2048 us at 1 Mpps, 205 us at 10 Mpps",
        "processes: 7 at start, 2 spare; telemetry\n", "front.2              classifier spare",
        "cores: one an actor", "ingress.lan.0_front.0", "(2176 bytes each)"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(PlanText, KeepsLinesOfLinksShort) {
  std::istringstream lines(plan_text(sample()));
  std::string line;
  bool in_links = false;
  int count = 0;
  while (std::getline(lines, line)) {
    in_links = line.starts_with("links:") || (in_links && line.starts_with("  "));
    if (!in_links) continue;
    ++count;
    EXPECT_LE(line.size(), 100u) << line;
  }
  EXPECT_GT(count, 2);
}

TEST(PlanJson, HasEveryNumberOfThePlan) {
  const Plan plan = sample();
  const auto json = nlohmann::json::parse(plan_json(plan));
  EXPECT_EQ(json["name"], "demo");
  EXPECT_EQ(json["actors"].size(), plan.actors.size());
  EXPECT_EQ(json["links"].size(), plan.links.size());
  EXPECT_EQ(json["links"][0]["depth"], plan.links[0].depth);
  EXPECT_EQ(json["actors"][2]["core"], 1);
  EXPECT_TRUE(json["actors"][0]["core"].is_null());
  EXPECT_EQ(json["groups"][1]["stand_in"], "front");
  EXPECT_EQ(json["functions"][0]["settings"]["table"],
            (nlohmann::json{"/etc/millrace/t", "/etc/millrace/u"}));
  EXPECT_EQ(json["functions"][1]["when"], nlohmann::json::array({"hot"}));
  EXPECT_EQ(json["reasons"][0]["number"], kCoreReasonCount);
  EXPECT_EQ(json["reasons"][0]["name"], "no_way");
  EXPECT_EQ(json["reasons"][0]["cause"], "policy");
  EXPECT_EQ(json["reasons"][0]["summary"], "nowhere to go");
  EXPECT_EQ(json["paths"][0]["stages"][1]["functions"], nlohmann::json::array({"m"}));
  EXPECT_EQ(json["streams"][0]["packets_in_flight_max"], 2048);
  EXPECT_EQ(json["shared_cores"], false);
}

TEST(PlanJson, SurvivesNamesOfFilesThatAreNoUtf8) {
  Plan plan = sample();
  plan.ports[0].settings[0].second = "\xff";
  EXPECT_TRUE(nlohmann::json::accept(plan_json(plan)));
}

TEST(PlanMermaid, DrawsThePathAndTheStandIn) {
  EXPECT_EQ(plan_mermaid(sample()),
            "flowchart LR\n"
            "  port0([\"lan<br/>pcap\"])\n"
            "  port1([\"wan<br/>null\"])\n"
            "  group0[[\"front<br/>2 of 3 classifiers<br/>r\"]]\n"
            "  group1[[\"gpu<br/>1 of 1 GPU workers<br/>m\"]]\n"
            "  actor2[\"ingress.lan.0\"]\n"
            "  actor8[\"egress.0\"]\n"
            "  port0 --> actor2\n"
            "  actor2 --> group0\n"
            "  group0 --> group1\n"
            "  group0 -.-> group0\n"
            "  group1 --> actor8\n"
            "  group0 -.-> actor8\n"
            "  actor8 --> port1\n");
}

TEST(PlanMemory, IsWhatTheSegmentTakes) {
  const Plan plan = sample();
  const PlanMemory memory = plan_memory(plan);
  EXPECT_EQ(memory.buffers, (2560u + kSideBuffersDefault) * 2176);
  EXPECT_EQ(memory.slots, (32u + 64) * column_offsets(64).slot_bytes);
  EXPECT_GE(memory.links, plan.links.size() * 128 * 8);
  EXPECT_GE(memory.total, memory.buffers + memory.slots + memory.links);
  EXPECT_EQ(memory.total % (2u << 20), 0u);
}

TEST(PlanMemory, OfLoopsIsThatOfTheirRings) {
  EXPECT_EQ(plan_memory(sample()).loops, 0u);
  const Plan plan = plan_of(
      "millrace: 1\nports: {a: {device: null}, again: {device: loop, depth: 64}}\n"
      "egress: {count: 2}\npaths: {p: {from: a, to: again}, q: {from: again, to: a}}\n");
  EXPECT_EQ(plan_memory(plan).loops, 2u * (128 + 64 * 2112));
  EXPECT_NE(plan_text(plan).find(", loops 0.3\n"), std::string::npos);
  EXPECT_NE(plan_json(plan, {}).find("\"loop_bytes\": 270592"), std::string::npos);
  EXPECT_EQ(plan_text(sample()).find("loops"), std::string::npos);
}

TEST(StartedCount, LeavesOutSparesAndSecondIncarnations) {
  EXPECT_EQ(started_count(sample()), 7u);  // hub, standby, ingress, 2 classifiers, gpu, egress
}

}  // namespace
}  // namespace millrace
