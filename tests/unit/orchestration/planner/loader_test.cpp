// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/loader.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "tests/places.hpp"
#include "tests/unit/orchestration/planner/topology_fixture.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

constexpr const char* kLeast = "millrace: 1\nports: {a: {device: null}}\npaths: {p: {from: a}}\n";

TEST(Loader, FillsInEveryDefault) {
  const Topology topology = parse(kLeast);
  EXPECT_EQ(topology.name, "t");  // like the file
  EXPECT_EQ(topology.batch_capacity, 64u);
  EXPECT_EQ(topology.heartbeat_limit_ms, 1000u);
  EXPECT_EQ(topology.crash_limit, 5u);
  EXPECT_EQ(topology.neighbour_limit, 1024u);
  EXPECT_EQ(topology.telemetry_listen, "127.0.0.1:0");
  EXPECT_EQ(topology.egress_count.value, 1u);
  EXPECT_TRUE(topology.groups.empty());
  EXPECT_EQ(topology.ports[0].mtu, 1500u);
}

TEST(Loader, ReadsEveryGlobalKey) {
  const Topology topology =
      parse(std::string(kLeast) +
            "name: branch\nbatch: {capacity: 32}\nheartbeat_limit: 2s\ncrash_limit: 0\n"
            "neighbour_limit: 5000\n"
            "telemetry: {listen: '[::1]:9090'}\negress: {count: 2}\n");
  EXPECT_EQ(topology.name, "branch");
  EXPECT_EQ(topology.batch_capacity, 32u);
  EXPECT_EQ(topology.heartbeat_limit_ms, 2000u);
  EXPECT_EQ(topology.crash_limit, 0u);
  EXPECT_EQ(topology.neighbour_limit, 5000u);
  EXPECT_EQ(topology.telemetry_listen, "[::1]:9090");
  EXPECT_EQ(topology.egress_count.value, 2u);
}

TEST(Loader, TakesRelativeFilesFromTheFolderOfTheTopology) {
  const Topology topology = parse(
      "millrace: 1\nports: {a: {device: pcap, in: in.pcap, out: /tmp/out.pcap}}\n"
      "functions: {r: {type: route, table: [../a.txt, b/./c.txt]}}\npaths: {p: {from: a}}\n");
  EXPECT_EQ(topology.ports[0].settings[0].value.value, "/etc/millrace/in.pcap");
  EXPECT_EQ(topology.ports[0].settings[1].value.value, "/tmp/out.pcap");
  EXPECT_EQ(topology.functions[0].settings[0].value.value, "/etc/a.txt");
  EXPECT_EQ(topology.functions[0].settings[1].value.value, "/etc/millrace/b/c.txt");
}

TEST(Loader, RefusesWrongGlobals) {
  expect_refused({
      {"[]\n",
       "1:1: found a list as '/etc/millrace/t.yaml'; allowed: a map with 'millrace', 'ports' and "
       "'paths'"},
      {"name: x\n",
       "1:1: found no 'millrace' in '/etc/millrace/t.yaml'; allowed: 'millrace: 1', the version of "
       "the format\n1:1: found no 'ports' in '/etc/millrace/t.yaml'; allowed: a map of 'port: "
       "{...}'\n1:1: found no 'paths' in '/etc/millrace/t.yaml'; allowed: a map of 'path: {...}'"},
      {"millrace: 2\nports: {a: {device: null}}\npaths: {p: {from: a}}\n",
       "1:11: found '2' as 'millrace'; allowed: a whole number from 1 to 1"},
      {"millrace: 1\nport: {}\nports: {a: {device: null}}\npaths: {p: {from: a}}\n",
       "2:1: found 'port' in '/etc/millrace/t.yaml'; allowed: batch, bypass, control, crash_limit, "
       "egress, events, functions, heartbeat_limit, include, millrace, name, neighbour_limit, "
       "paths, "
       "placement, ports, telemetry, vars, workers; did you mean 'ports'?"},
      {"millrace: 1\nname: a.b\nports: {a: {device: null}}\npaths: {p: {from: a}}\n",
       "2:7: found 'a.b' as 'name'; allowed: a letter, then letters, digits, '-' and '_', at most "
       "24 in all"},
      {"millrace: 1\nbatch: {capacity: 257}\nports: {a: {device: null}}\npaths: {p: {from: a}}\n",
       "2:19: found '257' as 'capacity'; allowed: a whole number from 1 to 256"},
      {"millrace: 1\nbatch: {size: 1}\nports: {a: {device: null}}\npaths: {p: {from: a}}\n",
       "2:9: found 'size' in 'batch'; allowed: capacity"},
      {"millrace: 1\nbatch: 64\nports: {a: {device: null}}\npaths: {p: {from: a}}\n",
       "2:8: found '64' as 'batch'; allowed: a map of 'key: value'"},
      {"millrace: 1\ncrash_limit: 1001\nports: {a: {device: null}}\npaths: {p: {from: a}}\n",
       "2:14: found '1001' as 'crash_limit'; allowed: a whole number from 0 to 1000"},
      {"millrace: 1\nneighbour_limit: 63\nports: {a: {device: null}}\npaths: {p: {from: a}}\n",
       "2:18: found '63' as 'neighbour_limit'; allowed: a whole number from 64 to 65536"},
      {"millrace: 1\nheartbeat_limit: 1\nports: {a: {device: null}}\npaths: {p: {from: a}}\n",
       "2:18: found '1' as 'heartbeat_limit'; allowed: a time from 100ms to 60s, like 500ms or "
       "2s"},
      {"millrace: 1\nheartbeat_limit: 61s\nports: {a: {device: null}}\npaths: {p: {from: a}}\n",
       "2:18: found '61s' as 'heartbeat_limit'; allowed: a time from 100ms to 60s, like 500ms or "
       "2s"},
      {"millrace: 1\nheartbeat_limit: 99ms\nports: {a: {device: null}}\npaths: {p: {from: a}}\n",
       "2:18: found '99ms' as 'heartbeat_limit'; allowed: a time from 100ms to 60s, like 500ms or "
       "2s"},
      {"millrace: 1\ntelemetry: {listen: 9090}\nports: {a: {device: null}}\npaths: {p: {from: "
       "a}}\n",
       "2:21: found '9090' as 'listen'; allowed: ADDRESS:PORT like '127.0.0.1:9090' or "
       "'[::1]:9090', no name (0.0.0.0 and [::] are all addresses of the host), port 0 to 65535"},
      {"millrace: 1\ntelemetry: {listen: 'x:70000'}\nports: {a: {device: null}}\npaths: {p: {from: "
       "a}}\n",
       "2:21: found 'x:70000' as 'listen'; allowed: ADDRESS:PORT like '127.0.0.1:9090' or "
       "'[::1]:9090', no name (0.0.0.0 and [::] are all addresses of the host), port 0 to 65535"},
      {"millrace: 1\negress: {count: 0}\nports: {a: {device: null}}\npaths: {p: {from: a}}\n",
       "2:17: found '0' as 'count'; allowed: a whole number from 1 to 16"},
  });
}

TEST(Loader, TellsEverythingThatIsWrongInOneRun) {
  EXPECT_EQ(wrong("millrace: 1\nname: 1x\nports: {a: {device: nul}}\npaths: {p: {from: c}}\n"),
            "2:7: found '1x' as 'name'; allowed: a letter, then letters, digits, '-' and '_', at "
            "most 24 in all\n"
            "3:21: found 'nul' as 'device'; allowed: afpacket, afxdp, dpdk, generate, loop, null, "
            "pcap, replay, tap, vlan; did "
            "you mean "
            "'null'?\n"
            "4:19: found 'c' as port; allowed: a");
}

TEST(Loader, SaysWhyAFileCannotBeRead) {
  Problems problems;
  for (const auto& [path, why] : {std::pair{"/nowhere/t.yaml", "No such file or directory"},
                                  {"/tmp", "it is a folder; a regular file is needed"},
                                  {"/dev/zero", "it is a device; a regular file is needed"}}) {
    EXPECT_EQ(test::error_of([&] { load_topology(path, test_functions(), problems); }),
              "read " + std::string(path) + ": " + why);
  }
}

std::string missing_files(const Topology& topology) {
  Problems problems;
  check_files(topology, problems);
  return test::error_of([&] { problems.throw_if_any(); });
}

TEST(CheckFiles, NamesMissingInputsAndFolders) {
  Topology topology = parse(
      "millrace: 1\nports:\n  a: {device: pcap, in: /nowhere/in, out: /nowhere/out}\n"
      "paths: {p: {from: a}}\nfunctions: {r: {type: route, table: /dev/null}}\n");
  EXPECT_EQ(missing_files(topology),
            "/etc/millrace/t.yaml:3:25: found no file '/nowhere/in' for 'in'; allowed: a file that "
            "can be read\n/etc/millrace/t.yaml:3:43: found no folder '/nowhere' for 'out'; "
            "allowed: a file in a folder that is there");
  topology.ports[0].settings[0].value.value = "/dev/null";
  topology.ports[0].settings[1].value.value = "/tmp/not-there-yet";
  EXPECT_EQ(missing_files(topology), "no error");
}

TEST(CheckFiles, DoesNotWaitForAPipe) {
  const std::string pipe = testing::TempDir() + "pipe-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Topology topology = parse(
      "millrace: 1\nports: {a: {device: null}}\n"
      "paths: {p: {from: a}}\nfunctions: {r: {type: route, table: " +
      pipe + "}}\n");
  EXPECT_EQ(missing_files(topology), "/etc/millrace/t.yaml:4:37: found no regular file '" + pipe +
                                         "' for 'table'; allowed: a file that can be read");
  std::filesystem::remove(pipe);
}

TEST(CheckFiles, RefusesADeviceWithoutAnEnd) {
  const Topology topology = parse(
      "millrace: 1\nports: {a: {device: null}}\n"
      "paths: {p: {from: a}}\nfunctions: {r: {type: route, table: /dev/zero}}\n");
  EXPECT_EQ(missing_files(topology),
            "/etc/millrace/t.yaml:4:37: found no regular file '/dev/zero' for 'table'; allowed: a "
            "file that can be read");
}

TEST(Loader, TheExampleTopologiesAreRight) {
  constexpr KnownSetting kAclKeys[] = {
      {.name = "rules", .kind = SettingKind::kInputFile, .list = true, .required = true},
      {.name = "default"},
      {.name = "non_ip"},
      {.name = "method"}};
  constexpr KnownSetting kRouteKeysOfNow[] = {
      {.name = "table", .kind = SettingKind::kInputFile, .list = true}, {.name = "routes"}};
  constexpr KnownSetting kFlowKeys[] = {{.name = "max"}, {.name = "udp"}};
  constexpr KnownSetting kNatKeys[] = {{.name = "inside"},
                                       {.name = "pool", .list = true},
                                       {.name = "max"},
                                       {.name = "publish", .list = true},
                                       {.name = "static", .list = true}};
  constexpr KnownSetting kNat64Keys[] = {
      {.name = "inside"}, {.name = "pool", .list = true}, {.name = "prefix"}, {.name = "max"}};
  constexpr KnownSetting kInspectKeys[] = {
      {.name = "rules", .kind = SettingKind::kInputFile, .list = true}, {.name = "events"}};
  constexpr KnownSetting kIdsKeys[] = {
      {.name = "rules", .kind = SettingKind::kInputFile, .list = true},
      {.name = "variables", .list = true},
      {.name = "events"}};
  constexpr KnownSetting kFirewallKeys[] = {
      {.name = "rules", .kind = SettingKind::kInputFile, .list = true}, {.name = "non_ip"}};
  constexpr KnownSetting kPrefilterKeys[] = {
      {.name = "rules", .kind = SettingKind::kInputFile, .list = true},
      {.name = "variables", .list = true}};
  std::vector<KnownFunction> functions = test_functions();
  functions[0].settings = kRouteKeysOfNow;
  functions.push_back({.type = "acl", .settings = kAclKeys});
  functions.push_back({.type = "flow", .settings = kFlowKeys});
  functions.push_back({.type = "firewall", .settings = kFirewallKeys});
  functions.push_back({.type = "nat", .settings = kNatKeys});
  functions.push_back({.type = "nat64", .settings = kNat64Keys});
  functions.push_back({.type = "inspect", .settings = kInspectKeys});
  functions.push_back({.type = "ids", .settings = kIdsKeys});
  functions.push_back({.type = "prefilter", .runs_on_gpu = true, .settings = kPrefilterKeys});
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::source_folder() / "orchestration/topologies")) {
    if (entry.path().extension() != ".yaml") continue;
    ++count;
    Problems problems;
    const Topology topology = load_topology(entry.path().string(), functions, problems);
    EXPECT_TRUE(problems.empty()) << entry.path();
    EXPECT_FALSE(make_plan(topology, functions, {}).links.empty()) << entry.path();
  }
  EXPECT_GE(count, 3u);
}

}  // namespace
}  // namespace millrace
