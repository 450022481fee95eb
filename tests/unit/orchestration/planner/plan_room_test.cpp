// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "orchestration/planner/planning.hpp"
#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

/// Functions that move the ends of packets, beside those of the fixture.
std::vector<KnownFunction> functions() {
  std::vector<KnownFunction> functions = test_functions();
  functions.push_back({.type = "tunnel",
                       .rewrites = Rewrites::kHeaders,
                       .headroom = 50,
                       .growth = 50,
                       .settings = {}});
  functions.push_back({.type = "cipher",
                       .rewrites = Rewrites::kAll,
                       .headroom = 24,
                       .tailroom = 32,
                       .growth = 56,
                       .settings = {}});
  functions.push_back({.type = "answer", .headroom = 60, .tailroom = 100, .settings = {}});
  return functions;
}

constexpr const char* kFunctions =
    "functions:\n  t: {type: tunnel}\n  u: {type: tunnel}\n  c: {type: cipher}\n"
    "  n: {type: answer}\n  p: {type: plain}\n";

Plan plan_with(const std::string& ports, const std::string& paths) {
  const std::string text = "millrace: 1\nports: " + ports + "\n" + kFunctions + "paths: " + paths;
  return make_plan(parse_topology(text, "t.yaml", functions()), functions(), Host{});
}

std::string wrong_with(const std::string& ports, const std::string& paths) {
  try {
    plan_with(ports, paths);
    return "";
  } catch (const TopologyError& error) {
    return error.what();
  }
}

TEST(PlanRoom, IsBehindTheLongestPacketWhatOnePathAddsAtMost) {
  const auto stride = [](const std::string& run) {
    return plan_with("{a: {device: null, mtu: 2022}, b: {device: null, mtu: 9000}}",
                     "{x: {from: a, to: b, run: " + run + "}, y: {from: b, to: b, run: p}}")
        .buffer_stride;
  };
  EXPECT_EQ(stride("[p]"), 9216u);        // 128 + 9000 + 26, in lines
  EXPECT_EQ(stride("[c]"), 9216u);        // and 32 in the same line
  EXPECT_EQ(stride("[n]"), 9280u);        // and 100
  EXPECT_EQ(stride("[p, n, c]"), 9344u);  // and 132
}

TEST(PlanRoom, InFrontOfAPacketIsTheHeadroomOfABuffer) {
  const std::string ports = "{a: {device: null}, b: {device: null, mtu: 9000}}";
  EXPECT_EQ(wrong_with(ports, "{x: {from: a, to: b, run: [t, u, c]}}"), "") << "124 bytes";
  EXPECT_EQ(wrong_with(ports, "{x: {from: a, to: b, run: [t, p, n, c]}}"),
            "t.yaml:9:44: found path 'x' with 134 bytes of its functions (t 50, n 60, c 24) in "
            "front of a packet; allowed: at most 128, the headroom of a buffer");
}

TEST(PlanRoom, PacketsThatFunctionsMakeLongerFitTheOutput) {
  EXPECT_EQ(wrong_with("{a: {device: null, mtu: 1450}, b: {device: null}}",
                       "{x: {from: a, to: b, run: [t]}, y: {from: b, to: a, run: [p]}}"),
            "")
      << "1450 and 50 are 1500";
  EXPECT_EQ(wrong_with("{a: {device: null, mtu: 1500}, b: {device: null, mtu: 1600}}",
                       "{x: {from: a, to: b, run: [t, p, c]}}"),
            "t.yaml:9:41: found path 'x': mtu 1500 of port 'a' and 106 bytes of its functions "
            "(t 50, c 56) are 1606, more than mtu 1600 of port 'b'; allowed: mtu 1606 or more at "
            "port 'b', or mtu 1494 or less at port 'a'");
  EXPECT_EQ(wrong_with("{a: {device: null, mtu: 9000}, b: {device: null}}",
                       "{x: {from: a, to: b, run: [n, p]}}"),
            "")
      << "what does not fit already without a function that grows packets is no error";
}

TEST(PlanRoom, EachPortOfAPathIsCheckedOnce) {
  EXPECT_EQ(wrong_with("{a: {device: generate, queues: 2}, b: {device: null}}",
                       "{x: {from: [a, b], to: b, run: [t]}}"),
            "t.yaml:9:40: found path 'x': mtu 1500 of port 'a' and 50 bytes of its functions (t "
            "50) are 1550, more than mtu 1500 of port 'b'; allowed: mtu 1550 or more at port "
            "'b', or mtu 1450 or less at port 'a'\n"
            "t.yaml:9:40: found path 'x': mtu 1500 of port 'b' and 50 bytes of its functions (t "
            "50) are 1550, more than mtu 1500 of port 'b'; allowed: mtu 1550 or more at port 'b'");
}

TEST(PlanRoom, ReplayNeedsACopyWhereAFunctionChangesWholePackets) {
  const auto wrong_at = [](const std::string& copy, const std::string& run) {
    return wrong_with(
        "{a: {device: replay, file: /dev/null" + copy + "}, b: {device: null, mtu: 9000}}",
        "{x: {from: a, to: b, run: " + run + "}}");
  };
  EXPECT_EQ(wrong_at("", "[p, t]"), "");
  EXPECT_EQ(wrong_at(", copy: true", "[c]"), "");
  const std::string refused =
      "found function 'c' of path 'x' changes whole packets, and port 'a' hands out the same ones "
      "again; allowed: `copy: true` at port 'a'";
  EXPECT_EQ(wrong_at("", "[p, c]"), "t.yaml:9:38: " + refused);
  EXPECT_EQ(wrong_at(", copy: false", "[c]"), "t.yaml:9:35: " + refused);
}

}  // namespace
}  // namespace millrace
