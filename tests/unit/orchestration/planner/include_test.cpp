// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/include.hpp"

#include <gtest/gtest.h>

#include "tests/unit/orchestration/planner/config_files.hpp"

namespace millrace {
namespace {

const std::string kPorts = "ports:\n  a: {device: null}\n  b: {device: null}\n";
const std::string kPath = "paths: {p: {from: a}}\n";

std::string main_with(const std::string& include) {
  return "millrace: 1\ninclude: " + include + "\n" + kPath;
}

TEST(Include, ReadsSectionsFromOtherFiles) {
  const Topology topology =
      parse_files({{"t.yaml", main_with("ports.yaml")}, {"ports.yaml", kPorts}});
  EXPECT_EQ(topology.ports.size(), 2u);
  EXPECT_EQ(topology.name, "t");
  EXPECT_EQ(topology.ports[1].name.mark.file, "/etc/millrace/ports.yaml");
  EXPECT_EQ(topology.ports[1].name.mark.line, 3);
}

TEST(Include, PutsWhatIsIncludedInFrontInTheOrderOfTheList) {
  const Topology topology =
      parse_files({{"t.yaml",
                    "millrace: 1\ninclude: [one.yaml, two.yaml]\npaths: {p: {from: a, to: z}}\n"
                    "ports: {z: {device: null}}\n"},
                   {"one.yaml", "include: three.yaml\nports: {b: {device: null}}\n"},
                   {"two.yaml", "millrace: 1\nports: {a: {device: null}}\nbatch: {capacity: 8}\n"},
                   {"three.yaml", "ports: {c: {device: null}}\n"}});
  std::string names;
  for (const auto name : names_of(topology.ports)) names += std::string(name) + " ";
  EXPECT_EQ(names, "c b a z ");
  EXPECT_EQ(topology.batch_capacity, 8u);
}

TEST(Include, IsRelativeToTheFileThatIncludesAndSoAreItsFiles) {
  const Topology topology = parse_files(
      {{"t.yaml", main_with("lib/all.yaml")},
       {"lib/all.yaml", "include: more/ports.yaml\nfunctions: {r: {type: route, table: r.txt}}\n"},
       {"lib/more/ports.yaml", "ports: {a: {device: pcap, in: ../a.pcap, out: b.pcap}}\n"}});
  EXPECT_EQ(topology.functions[0].settings[0].value.value, "/etc/millrace/lib/r.txt");
  EXPECT_EQ(topology.ports[0].settings[0].value.value, "/etc/millrace/lib/a.pcap");
  EXPECT_EQ(topology.ports[0].settings[1].value.value, "/etc/millrace/lib/more/b.pcap");
}

TEST(Include, RefusesANameTwiceAndSaysBothPlaces) {
  EXPECT_EQ(wrong_files({{"t.yaml", main_with("x.yaml") + "ports: {a: {device: null}}\n"},
                         {"x.yaml", kPorts}}),
            "t.yaml:4:9: found 'a' a second time; allowed: once; the first is in x.yaml:2:3");
  EXPECT_EQ(wrong_files({{"t.yaml", main_with("[x.yaml, y.yaml]")},
                         {"x.yaml", kPorts + "egress: {count: 1}\n"},
                         {"y.yaml", "egress: {count: 1}\n"}}),
            "y.yaml:1:1: found 'egress' a second time; allowed: once; the first is in x.yaml:4:1");
}

TEST(Include, NamesPlacesInTheIncludedFile) {
  EXPECT_EQ(
      wrong_files(
          {{"t.yaml", main_with("x.yaml")},
           {"x.yaml", "ports:\n  a: {device: null}\n  b: {device: null, mtu: 1}\nname: other\n"}}),
      "x.yaml:3:26: found '1' as 'mtu'; allowed: a whole number from 68 to 9000\nx.yaml:4:1: found "
      "'name' in 'x.yaml'; allowed: batch, bypass, control, crash_limit, egress, events, "
      "functions, heartbeat_limit, include, millrace, neighbour_limit, paths, placement, ports, "
      "telemetry, vars, workers");
  EXPECT_EQ(wrong_files({{"t.yaml", main_with("x.yaml")}, {"x.yaml", "millrace: 2\n" + kPorts}}),
            "x.yaml:1:11: found '2' as 'millrace'; allowed: a whole number from 1 to 1");
  EXPECT_EQ(wrong_files({{"t.yaml", main_with("x.yaml") + kPorts}, {"x.yaml", "[1]\n"}}),
            "x.yaml:1:1: found a list as 'x.yaml'; allowed: a map of sections like 'ports' and "
            "'paths'");
}

TEST(Include, RefusesWhatCannotBeRead) {
  EXPECT_EQ(wrong_files({{"t.yaml", main_with("x.yaml") + kPorts}}),
            "t.yaml:2:10: found file 'x.yaml' (it is not there); allowed: a topology file that "
            "can be read");
  EXPECT_EQ(wrong_files({{"t.yaml", main_with("") + kPorts}}),
            "t.yaml:2:1: found nothing as 'include'; allowed: a file name or a list of them");
  EXPECT_EQ(wrong_files({{"t.yaml", main_with("[{}]") + kPorts}}),
            "t.yaml:2:11: found a map as 'include'; allowed: a file name without variables");
  EXPECT_EQ(wrong_files({{"t.yaml", main_with("'${x:-a}'") + kPorts}}),
            "t.yaml:2:10: found 'a' by '${x:-a}' as 'include'; allowed: a file name without "
            "variables");
}

TEST(Include, RefusesCircles) {
  const std::string end =
      "which includes this file or is it; allowed: files that do not include each other in a "
      "circle";
  EXPECT_EQ(wrong_files({{"t.yaml", main_with("t.yaml") + kPorts}}),
            "t.yaml:2:10: found 't.yaml', " + end);
  EXPECT_EQ(wrong_files({{"t.yaml", main_with("x.yaml") + kPorts},
                         {"x.yaml", "include: [./y.yaml]\n"},
                         {"y.yaml", "include: ../millrace/x.yaml\n"}}),
            "y.yaml:1:10: found '../millrace/x.yaml', " + end);
}

TEST(Include, RefusesAFileTwice) {
  EXPECT_EQ(wrong_files({{"t.yaml", main_with("[x.yaml, y.yaml]")},
                         {"x.yaml", kPorts},
                         {"y.yaml", "include: x.yaml\n"}}),
            "y.yaml:1:10: found file 'x.yaml' a second time; allowed: once; the first is in "
            "t.yaml:2:11");
}

TEST(Include, IsLimited) {
  Texts deep = {{"t.yaml", main_with("1.yaml") + kPorts}};
  Texts wide = {{"t.yaml", main_with("[") + kPorts}};
  std::string list;
  for (int i = 1; i < 70; ++i) {
    deep[std::to_string(i) + ".yaml"] = "include: " + std::to_string(i + 1) + ".yaml\n";
    wide[std::to_string(i) + ".yaml"] = "vars: {v" + std::to_string(i) + ": 1}\n";
    list += (i == 1 ? "[" : ", ") + std::to_string(i) + ".yaml";
  }
  wide["t.yaml"] = main_with(list + "]") + kPorts;
  EXPECT_EQ(wrong_files(deep),
            "7.yaml:1:10: found file '8.yaml' inside of 8 others; allowed: at most 8 files inside "
            "each other");
  EXPECT_NE(wrong_files(wide).find("found more than 64 files in all; allowed: at most 64"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace
