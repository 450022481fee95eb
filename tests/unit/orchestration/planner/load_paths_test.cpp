// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/sections.hpp"

#include <gtest/gtest.h>

#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

std::string path(const std::string& body) {
  return with_ports("functions: {f: {type: plain}, g: {type: plain}}\npaths:\n  p: {" + body +
                    "}\n");
}

TEST(LoadPaths, ReadsEveryKey) {
  const Topology topology =
      parse(path("from: [a, b], run: [g, f], to: a, lanes: 4, slots: 20, buffers: 5000"));
  const TopologyPath& p = topology.paths[0];
  EXPECT_EQ(p.from.at(1).value, "b");
  EXPECT_EQ(p.run.at(0).value, "g");
  EXPECT_EQ(p.to->value, "a");
  EXPECT_EQ(p.lanes->value, 4u);
  EXPECT_EQ(p.slots->value, 20u);
  EXPECT_EQ(p.buffers->value, 5000u);
}

TEST(LoadPaths, OneNameIsAListToo) {
  const TopologyPath p = parse(path("from: a, run: f")).paths[0];
  EXPECT_EQ(p.from.size(), 1u);
  EXPECT_EQ(p.run.size(), 1u);
  EXPECT_FALSE(p.to || p.lanes || p.slots || p.buffers);
}

TEST(LoadPaths, RefusesWrongOnes) {
  EXPECT_EQ(wrong(path("run: f")),
            "5:6: found no 'from' in 'p'; allowed: a port or a list of them");
  EXPECT_EQ(wrong(path("from:")),
            "5:7: found nothing as 'from'; allowed: a port or a list of "
            "them");
  EXPECT_EQ(wrong(path("form: a, from: b")),
            "5:7: found 'form' in 'p'; allowed: buffers, from, lanes, match, order, run, slots, "
            "to; did you "
            "mean 'from'?");
  EXPECT_EQ(wrong(path("from: a, placement: fused")),
            "5:27: found 'placement' of one path, whose ports, groups and egress others share; "
            "allowed: 'placement: fused' of the whole topology; for one path alone, a topology of "
            "its own");
  EXPECT_EQ(wrong(path("from: a, match: udp prot 53")),
            "5:27: found 'prot' in a filter; allowed: words of pcap-filter(7), numbers, addresses; "
            "names of ports behind 'port' only; did you mean 'port'?");
  EXPECT_EQ(wrong(path("from: a, match: \"udp port\"")),
            "5:32: found the end of a filter too early; allowed: pcap filter syntax, see "
            "pcap-filter(7)");
  EXPECT_EQ(wrong(path("from: a, match: [udp]")),
            "5:23: found a list as 'match'; allowed: a pcap filter like 'udp port 53'");
  EXPECT_EQ(wrong(path("from: a, lanes: 129")),
            "5:23: found '129' as 'lanes'; allowed: a whole number from 1 to 128");
  EXPECT_EQ(wrong(path("from: a, lanes: many")),
            "5:23: found 'many' as 'lanes'; allowed: a whole number from 1 to 128");
  EXPECT_EQ(wrong(path("from: a, slots: 2")),
            "5:23: found '2' as 'slots'; allowed: a whole number from 3 to 16384");
  EXPECT_EQ(wrong(path("from: a, to: [b]")), "5:20: found a list as 'to'; allowed: a port");
  EXPECT_EQ(wrong(path("from: a, run: [[f]]")),
            "5:22: found a list as 'run'; allowed: a function or a list of them");
}

TEST(LoadPaths, CompileTheirFiltersAndWarnOfThem) {
  const Topology topology = parse(path("from: a, match: 'udp and less 100 and dst port 53'"));
  EXPECT_EQ(topology.paths[0].match.value, "udp and less 100 and dst port 53");
  EXPECT_FALSE(topology.paths[0].filter.empty());
  ASSERT_EQ(topology.warnings.size(), 2u);
  EXPECT_EQ(to_text(topology.warnings[0]),
            "/etc/millrace/t.yaml:5:32: warning: the filter of path 'p' can split a flow: it looks "
            "at the length of packets");
  EXPECT_EQ(topology.warnings[1].mark.column, 24);
  const Plan plan = make_plan(topology, test_functions(), {});
  EXPECT_EQ(plan.paths[0].match, topology.paths[0].match.value);
  EXPECT_EQ(plan.paths[0].filter, topology.paths[0].filter);
}

TEST(LoadPaths, RefusesMoreThanEight) {
  std::string text = with_ports("paths:\n");
  for (int i = 0; i < 9; ++i) text += "  p" + std::to_string(i) + ": {from: a, match: ip}\n";
  EXPECT_EQ(wrong(text), "12:3: found 9 entries in 'paths'; allowed: at most 8");
}

}  // namespace
}  // namespace millrace
