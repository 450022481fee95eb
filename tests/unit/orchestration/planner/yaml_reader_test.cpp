// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/yaml_reader.hpp"

#include <gtest/gtest.h>

#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

std::string problems_of(const Problems& problems) {
  try {
    problems.throw_if_any();
    return "";
  } catch (const TopologyError& error) {
    return error.what();
  }
}

YamlValue value_of(const std::string& text, Problems& problems) {
  return *parse_yaml(text, "f", problems);
}

TEST(YamlReader, RefusesWhatIsNoSingleDocument) {
  expect_refused({
      {"", "1:1: found no YAML document; allowed: one"},
      {"millrace: 1\n---\nmillrace: 1\n", "1:1: found more than one YAML document; allowed: one"},
      {"[a], b", "1:1: found more than one YAML document; allowed: one"},
      {"millrace: 1\nports: [a, b\n",
       "3:1: found text that is no YAML (end of sequence flow not "
       "found)"},
      {"a: b: c\n", "1:5: found text that is no YAML (illegal map value)"},
      {"a: *nobody\n", "1:4: found text that is no YAML (the referenced anchor is not defined)"},
  });
}

TEST(YamlReader, RefusesAFileOfMoreThanAMegabyte) {
  EXPECT_EQ(wrong(std::string((1 << 20) + 1, ' ')),
            "1:1: found 1048577 bytes; allowed: at most 1048576 bytes");
}

TEST(YamlReader, RefusesDeepNestingInsteadOfCrashing) {
  EXPECT_NE(wrong(std::string(100'000, '[')).find("nested too deeply"), std::string::npos);
  EXPECT_NE(wrong(std::string(100'000, '{')).find("nested too deeply"), std::string::npos);
}

TEST(YamlReader, LooksAtNoMoreKeysThanATopologyCanHave) {
  std::string text = "millrace: 1\nvars: {";
  for (int i = 0; i < 50'000; ++i) text += "k" + std::to_string(i) + ": 1, ";
  const std::string found = wrong(text + "}\n");
  EXPECT_NE(found.find("found 50000 keys in 'vars'; allowed: at most 1024"), std::string::npos);
}

TEST(YamlReader, SaysThatMapsAreNotMerged) {
  EXPECT_EQ(wrong("millrace: 1\nports: {a: &p {device: null}, b: {<<: *p, device: null}}\n"
                  "paths: {p: {from: a}}\n"),
            "2:35: found '<<' as 'a key'; allowed: the entries themselves: maps are not merged");
}

TEST(YamlReader, NamesTheKeyThatWasProbablyMeantForOneThatIsNeeded) {
  EXPECT_EQ(wrong("millrace: 1\nports: {a: {devise: null}}\npaths: {p: {from: a}}\n"),
            "2:12: found no 'device', but 'devise', in 'a'; allowed: afpacket, afxdp, dpdk, "
            "generate, loop, null, pcap, replay, tap, vlan");
}

TEST(YamlReader, RefusesAKeyGivenTwice) {
  expect_refused({
      {"millrace: 1\nname: a\nports: {a: {device: null}}\npaths: {}\nname: b\n",
       "5:1: found 'name' a second time; allowed: once; the first is in line 2"},
      {"millrace: 1\nports:\n  a: {device: null}\n  a: {device: null}\npaths: {}\n",
       "4:3: found 'a' a second time; allowed: once; the first is in line 3"},
      {"millrace: 1\nports: {a: {device: null, mtu: 100, mtu: 100}}\npaths: {}\n",
       "2:37: found 'mtu' a second time; allowed: once; the first is in line 2"},
  });
}

TEST(YamlReader, RefusesKeysThatAreNoText) {
  expect_refused({
      {"millrace: 1\n[a, b]: c\nports: {}\npaths: {}\n",
       "2:1: found a list as 'a key'; allowed: text as a key"},
      {"millrace: 1\n? {a: b}\n: c\nports: {}\npaths: {}\n",
       "2:3: found a map as 'a key'; allowed: text as a key"},
  });
}

TEST(YamlReader, KnowsTheWordNullFromNothing) {
  Problems problems;
  const YamlMap map(value_of("a: null\nb:\nc: ~\nd: NULL\n", problems));
  EXPECT_EQ(map.find("a")->text(), "null");
  EXPECT_EQ(map.find("d")->text(), "NULL");
  EXPECT_TRUE(map.find("b")->is_empty());
  EXPECT_TRUE(map.find("c")->is_empty());
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(map.find("b")->text(), std::nullopt);
  EXPECT_EQ(problems_of(problems), "f:2:1: found nothing as 'b'; allowed: text");
}

TEST(YamlReader, MarksCountFromOne) {
  Problems problems;
  const YamlMap map(value_of("a: 1\nbb:\n  - x\n  -   y\n", problems));
  EXPECT_EQ(map.entries()[0].key.mark.line, 1);
  EXPECT_EQ(map.entries()[0].key.mark.column, 1);
  EXPECT_EQ(map.find("a")->mark().column, 4);
  const std::vector<YamlValue> elements = map.find("bb")->elements();
  ASSERT_EQ(elements.size(), 2u);
  EXPECT_EQ(elements[1].mark().line, 4);
  EXPECT_EQ(elements[1].mark().column, 7);
}

TEST(YamlReader, ReadsWholeNumbersOnlyInDecimalAndInRange) {
  Problems problems;
  const YamlMap map(
      value_of("a: 12\nb: 0x10\nc: -1\nd: '12'\ne: 1.5\nf: 18446744073709551616\n", problems));
  EXPECT_EQ(map.find("a")->integer(12, 12), 12u);
  EXPECT_TRUE(problems.empty());
  for (const char* key : {"b", "c", "d", "e", "f"}) {
    EXPECT_EQ(map.find(key)->integer(0, UINT64_MAX), std::nullopt) << key;
  }
  EXPECT_EQ(map.find("a")->integer(13, 20), std::nullopt);
  EXPECT_NE(problems_of(problems).find("found quoted text as 'd'"), std::string::npos);
}

TEST(YamlReader, ReadsNumbersThatAreFinite) {
  Problems problems;
  const YamlMap map(value_of("a: 0.25\nb: .inf\nc: nan\nd: 1e400\ne: inf\n", problems));
  EXPECT_EQ(map.find("a")->number(0, 1), 0.25);
  for (const char* key : {"b", "c", "d", "e"}) {
    EXPECT_EQ(map.find(key)->number(-1e308, 1e308), std::nullopt) << key;
  }
  EXPECT_EQ(map.find("a")->number(1, 2), std::nullopt);
}

TEST(YamlReader, FollowsAliasesAndSurvivesCycles) {
  EXPECT_EQ(wrong("millrace: 1\nports: {a: &p {device: null}, b: *p}\npaths: {p: {from: a}}\n"),
            "");
  EXPECT_NE(wrong("millrace: 1\nports: &p {a: *p}\npaths: *p\n"), "");
}

}  // namespace
}  // namespace millrace
