// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

/// Ports a, b and the loop `again` with this body; the paths of `paths`.
std::string loop(const std::string& body, const std::string& paths) {
  return "millrace: 1\nports:\n  a: {device: null}\n  b: {device: null}\n  again: {device: loop" +
         body + "}\npaths: {" + paths + "}\n";
}

constexpr const char* kPaths = "p: {from: a, to: again}, q: {from: again, to: b}";

TEST(LoopPorts, HaveAStreamForEachQueueAndLeadWhereTheirPathSays) {
  const Plan plan = plan_of(loop(", depth: 100, queues: 2", kPaths));
  ASSERT_EQ(plan.streams.size(), 3u);
  EXPECT_EQ(plan.streams[0].paths[0].output, 2u);
  for (const std::uint32_t stream : {1u, 2u}) {
    EXPECT_EQ(plan.streams[stream].port, 2u);
    EXPECT_EQ(plan.streams[stream].paths[0].output, 1u);
  }
  EXPECT_EQ(plan.actors[plan.streams[2].ingress].name, "ingress.again.1");
}

TEST(LoopPorts, MayLeadBackToThemselvesByAFunction) {
  EXPECT_EQ(wrong("functions: {f: {type: plain}}\n" +
                  loop("", "p: {from: a, to: again}, q: {from: again, run: f, to: again}")),
            "");
  EXPECT_EQ(wrong(loop("", "p: {from: a, to: again}, q: {from: again, to: again}")),
            "6:55: found path 'q' from loop 'again' to itself without a function; allowed: another "
            "port, or a function that sends packets elsewhere: they would go round for ever");
}

TEST(LoopPorts, AreNoNetworks) {
  EXPECT_EQ(wrong(loop(", addresses: [10.1.0.1/24]", kPaths)),
            "5:3: found addresses of loop 'again'; allowed: none: no network is joined to a loop; "
            "addresses belong to the other ports");
  EXPECT_EQ(wrong(loop(", host_interface: mr", kPaths)),
            "5:41: found 'host_interface' of port 'again', a loop; allowed: a port that is joined "
            "to a network");
  EXPECT_EQ(wrong("millrace: 1\nports: {again: {device: loop}, v: {device: vlan, link: again, id: "
                  "3}}\npaths: {p: {from: again, to: again}}\n")
                .substr(0, 101),
            "2:56: found 'again' as 'link' of 'v'; allowed: a port that receives and sends, and is "
            "no VLAN itself:");
}

TEST(LoopPorts, NeedAPath) {
  EXPECT_EQ(wrong(loop("", "p: {from: a, to: b}")),
            "5:3: found loop 'again', from which no path receives; allowed: a path with 'from: "
            "again', or no such port");
}

TEST(LoopPorts, OneOfThemMayHaveTicks) {
  EXPECT_EQ(wrong(loop(", tick: 1s", kPaths)), "");
  EXPECT_EQ(wrong(loop(", tick: 99ms", kPaths)),
            "5:31: found '99ms' as 'tick'; allowed: a time from 100ms to 3600s, like 500ms or 1s");
  EXPECT_EQ(wrong(loop("}\n  more: {device: loop, tick: 1s}\n  last: {device: loop, tick: 1s",
                       "p: {from: a, to: again}, q: {from: [again, more, last], to: b}")),
            "7:30: found 'tick' of loop 'last'; allowed: one loop with ticks, which is 'more'");
}

TEST(LoopPorts, TicksNeedAPathThatTakesThem) {
  EXPECT_EQ(
      wrong(loop(", tick: 1s", "p: {from: a, to: again}, q: {from: again, to: b, match: ip}")),
      "5:31: found 'tick' of loop 'again', all paths of which have a 'match'; allowed: a path "
      "without 'match' behind them, which takes the ticks");
  EXPECT_EQ(wrong(loop(", tick: 1s",
                       "p: {from: a, to: again}, q: {from: again, to: b, match: ip}, r: {from: "
                       "again, to: a}")),
            "");
}

TEST(LoopPorts, HaveADepthWithinItsRange) {
  EXPECT_EQ(wrong(loop(", depth: 63", kPaths)),
            "5:32: found '63' as 'depth'; allowed: a whole number from 64 to 65536");
}

}  // namespace
}  // namespace millrace
