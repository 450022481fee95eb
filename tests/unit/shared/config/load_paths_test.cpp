// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/config/sections.hpp"

#include <gtest/gtest.h>

#include "tests/unit/shared/config/topology_fixture.hpp"

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
            "5:7: found 'form' in 'p'; allowed: buffers, from, lanes, run, slots, to; did you mean "
            "'from'?");
  EXPECT_EQ(wrong(path("from: a, match: udp")),
            "5:16: found 'match', which is not supported yet; allowed: buffers, from, lanes, run, "
            "slots, to");
  EXPECT_EQ(wrong(path("from: a, lanes: 65")),
            "5:23: found '65' as 'lanes'; allowed: a whole number from 1 to 64");
  EXPECT_EQ(wrong(path("from: a, lanes: many")),
            "5:23: found 'many' as 'lanes'; allowed: a whole number from 1 to 64");
  EXPECT_EQ(wrong(path("from: a, slots: 2")),
            "5:23: found '2' as 'slots'; allowed: a whole number from 3 to 16384");
  EXPECT_EQ(wrong(path("from: a, to: [b]")), "5:20: found a list as 'to'; allowed: a port");
  EXPECT_EQ(wrong(path("from: a, run: [[f]]")),
            "5:22: found a list as 'run'; allowed: a function or a list of them");
}

TEST(LoadPaths, RefusesMoreThanEight) {
  std::string text = with_ports("paths:\n");
  for (int i = 0; i < 9; ++i) text += "  p" + std::to_string(i) + ": {from: []}\n";
  EXPECT_EQ(wrong(text), "12:3: found 9 entries in 'paths'; allowed: at most 8");
}

}  // namespace
}  // namespace millrace
