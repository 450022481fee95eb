// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/planner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"
#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

TEST(Planner, CopiesTheGlobals) {
  const Plan plan =
      plan_of(with_ports("name: x\nbatch: {capacity: 32}\nheartbeat_limit: 250ms\ncrash_limit: "
                         "7\nneighbour_limit: 5000\ntelemetry: {listen: '0.0.0.0:1'}\n"
                         "paths: {p: {from: a}}\n"));
  EXPECT_EQ(plan.name, "x");
  EXPECT_EQ(plan.batch_capacity, 32u);
  EXPECT_EQ(plan.heartbeat_limit_ms, 250u);
  EXPECT_EQ(plan.crash_limit, 7u);
  EXPECT_EQ(plan.neighbour_count, 8192u);  // the next power of two
  EXPECT_EQ(plan.telemetry_listen, "0.0.0.0:1");
}

TEST(Planner, DerivesMacsFromPortNumbers) {
  const Plan plan = plan_of(
      "millrace: 1\nports: {a: {device: null, mac: '02:11:22:33:44:55'}, b: {device: null}}\n"
      "paths: {}\n");
  EXPECT_EQ(plan.ports[0].mac, "02:11:22:33:44:55");
  EXPECT_EQ(plan.ports[1].mac, "02:00:00:00:00:02");
}

TEST(Planner, SizesBuffersByTheLargestMtuAndNeverByAPowerOfTwo) {
  const auto stride = [](int mtu) {
    return plan_of("millrace: 1\nports: {a: {device: null}, b: {device: null, mtu: " +
                   std::to_string(mtu) + "}}\npaths: {}\n")
        .buffer_stride;
  };
  EXPECT_EQ(stride(68), 2176u);
  EXPECT_EQ(stride(2022), 2176u);  // 128 + 2022 + 26
  EXPECT_EQ(stride(2023), 2240u);
  EXPECT_EQ(stride(3942), 4160u);  // 4096 would share cache sets
  EXPECT_EQ(stride(9000), 9216u);  // 9154, in lines
}

TEST(Planner, RefusesDpdkPortsInOneProcessWithTheRest) {
  try {
    plan_of(
        "millrace: 1\nplacement: fused\nports: {a: {device: dpdk, devargs: net_null0}}\n"
        "paths: {p: {from: a}}\n");
    FAIL() << "planned";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("found dpdk port 'a' with `placement: fused`; "
                        "allowed: `placement: processes`"),
              std::string::npos)
        << error.what();
  }
}

TEST(Planner, KeepsSettingsInOrder) {
  const Plan plan = plan_of(
      "millrace: 1\nports: {a: {device: generate, size: [60, 61], seed: 3}, b: {device: null}}\n"
      "paths: {p: {from: a}}\n");
  EXPECT_EQ(plan.ports[0].settings, (Settings{{"size", "60"}, {"size", "61"}, {"seed", "3"}}));
}

/// A random topology that the loader takes.
std::string random_topology(std::mt19937_64& random) {
  const auto pick = [&](std::uint64_t most) { return random() % (most + 1); };
  std::string text = "millrace: 1\nports:\n";
  const std::uint64_t ports = 1 + pick(3);
  for (std::uint64_t i = 0; i < ports; ++i) {
    text += "  p" + std::to_string(i) +
            (i == 0 ? ": {device: null}\n"
                    : ": {device: generate, queues: " + std::to_string(1 + pick(2)) + "}\n");
  }
  text +=
      "workers:\n  c: {kind: classifier, count: 2, max: 3}\n  f: {kind: classifier, dispatch: "
      "flow, max: 2}\n  g: {kind: gpu, count: " +
      std::to_string(1 + pick(1)) + "}\nfunctions:\n";
  const std::uint64_t functions = 1 + pick(5);
  std::string run;
  for (std::uint64_t i = 0; i < functions; ++i) {
    const std::string name = "f" + std::to_string(i);
    constexpr const char* kPlaces[] = {"c", "f", "g"};
    text += "  " + name + ": {type: match, rules: x, on: " + kPlaces[pick(2)] + "}\n";
    if (pick(2) != 0) run += (run.empty() ? "" : ", ") + name;
  }
  text += "paths:\n";
  for (std::uint64_t i = 0; i < ports; ++i) {
    text += "  w" + std::to_string(i) + ": {from: p" + std::to_string(i) + ", to: p0" +
            (i == 0 ? ", run: [" + run + "]" : "") +
            (pick(1) == 0 ? ", lanes: " + std::to_string(1 + pick(9)) : "") + "}\n";
  }
  return text;
}

TEST(Planner, MakesPlansThatEveryProcessWouldAccept) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i) {
    const std::string text = random_topology(random);
    const Plan plan = plan_of(text);
    EXPECT_NO_THROW(check_plan(plan)) << text;
    EXPECT_FALSE(plan.streams.empty()) << text;
  }
}

}  // namespace
}  // namespace millrace
