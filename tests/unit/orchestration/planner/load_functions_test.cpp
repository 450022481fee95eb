// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/sections.hpp"

#include <gtest/gtest.h>

#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

std::string function(const std::string& body) {
  return with_ports("paths: {p: {from: a}}\nfunctions:\n  f: {" + body + "}\n");
}

TEST(LoadFunctions, ReadsEveryKey) {
  const Topology topology = parse(
      function("type: match, rules: [x, y], limit: 3, strict: true, ratio: 0.5, classes: [hot, "
               "cold], unavailable: pass, overload: drop") +
      "  g: {type: plain, when: [class hot, class cold], overload: pass}\n");
  const TopologyFunction& f = topology.functions[0];
  EXPECT_EQ(f.type.value, "match");
  std::string settings;
  for (const TopologySetting& s : f.settings) settings += s.key + "=" + s.value.value + " ";
  EXPECT_EQ(settings, "rules=/etc/millrace/x rules=/etc/millrace/y limit=3 strict=true ratio=0.5 ");
  EXPECT_EQ(f.unavailable, Fallback::kPass);
  EXPECT_EQ(f.overload, Fallback::kDrop);
  const TopologyFunction& g = topology.functions[1];
  ASSERT_EQ(g.when.size(), 2u);
  EXPECT_EQ(g.when[1].value, "cold");
  EXPECT_EQ(g.unavailable, Fallback::kWait);
  EXPECT_EQ(g.overload, Fallback::kPass);
}

TEST(LoadFunctions, RefusesWrongOnes) {
  EXPECT_EQ(wrong(function("rules: x")),
            "5:6: found no 'type' in 'f'; allowed: match, plain, record, route");
  EXPECT_EQ(wrong(function("type: roote")),
            "5:13: found 'roote' as 'type'; allowed: match, plain, record, route; did you mean "
            "'route'?");
  EXPECT_EQ(wrong(function("type: route")), "5:6: found no 'table' in 'f'; allowed: a file name");
  EXPECT_EQ(wrong(function("type: route, tabel: x, table: y")),
            "5:20: found 'tabel' in 'f'; allowed: classes, on, overload, share, table, type, "
            "unavailable, when; did you mean 'table'?");
  EXPECT_EQ(wrong(function("type: route, table: {a: b}")),
            "5:27: found a map as 'table'; allowed: a file name");
  EXPECT_EQ(wrong(function("type: route, table:")),
            "5:20: found nothing as 'table'; allowed: a file name");
  EXPECT_EQ(wrong(function("type: match, rules: x, limit: 11")),
            "5:37: found '11' as 'limit'; allowed: a whole number from 1 to 10");
  EXPECT_EQ(wrong(function("type: match, rules: x, ratio: 1.5")),
            "5:37: found '1.5' as 'ratio'; allowed: a number from 0 to 1");
  EXPECT_EQ(wrong(function("type: match, rules: x, strict: 1")),
            "5:38: found '1' as 'strict'; allowed: true, false");
  EXPECT_EQ(wrong(function("type: plain, overload: pas")),
            "5:30: found 'pas' as 'overload'; allowed: drop, pass, wait; did you mean 'pass'?");
  EXPECT_EQ(wrong(function("type: plain, on: [a, a, b]")),
            "5:25: found 'a' as group; allowed: classifier\n"
            "5:31: found 3 groups; allowed: a group, [GPU GROUP, CLASSIFIER GROUP], or auto");
  EXPECT_EQ(wrong(function("type: plain, when: suspicious")),
            "5:26: found 'suspicious' as 'when'; allowed: 'class NAME' or a list of such");
  EXPECT_EQ(wrong(function("type: plain, when: class a b")),
            "5:26: found 'class a b' as 'when'; allowed: 'class NAME' or a list of such");
  EXPECT_EQ(wrong(function("type: plain, classes: [a b]")),
            "5:30: found 'a b' as 'classes'; allowed: a letter, then letters, digits, '-' and "
            "'_', at most 24 in all");
}

}  // namespace
}  // namespace millrace
