// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/topology_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "orchestration/planner/keys.hpp"
#include "orchestration/supervisor/bypass.hpp"
#include "orchestration/supervisor/key_files.hpp"
#include "orchestration/supervisor/remote_control.hpp"
#include "services/functions/table.hpp"
#include "tests/places.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string message_of(const std::string& text) {
  const std::string path = testing::TempDir() + "/millrace-topology-file-test.yaml";
  std::ofstream(path) << text;
  try {
    read_topology_file(path, {});
    return "";
  } catch (const TopologyError& error) {
    return error.what();
  }
}

TEST(KnownFunctions, AreTheRowsOfTheTable) {
  const std::vector<KnownFunction> known = known_functions();
  ASSERT_EQ(known.size(), function_types().size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    const FunctionTraits& traits = function_types()[i].traits;
    EXPECT_EQ(known[i].type, traits.type);
    EXPECT_EQ(known[i].stateful, traits.stateful);
    EXPECT_EQ(known[i].lane_needs, traits.lane_needs);
    EXPECT_EQ(known[i].flows, traits.flows);
    EXPECT_EQ(known[i].runs_on_gpu, traits.runs_on_gpu);
    EXPECT_EQ(known[i].has_image, traits.has_image);
    EXPECT_EQ(known[i].rewrites, traits.rewrites);
    EXPECT_EQ(known[i].headroom, traits.headroom);
    EXPECT_EQ(known[i].tailroom, traits.tailroom);
    EXPECT_EQ(known[i].growth, traits.growth);
  }
}

class InterfacesHere : public test::VethTest {};

TEST_F(InterfacesHere, AreLookedAtAndAWarningHasThePortsPlace) {
  shell("ip link set here mtu 9000");
  const std::string path = testing::TempDir() + "/millrace-interfaces-here.yaml";
  for (const std::string device : {"afpacket", "afxdp"}) {
    std::ofstream(path) << "millrace: 1\nname: big\nports:\n  lan: { device: " << device
                        << ", interface: here }\n  wan: { device: " << device
                        << ", interface: there }\n  far: { device: " << device
                        << ", interface: nobody }\npaths:\n  all: { from: lan, to: wan }\n"
                           "  one: { from: far, to: lan }\n";
    const Topology topology = read_topology_file(path, {}).topology;
    ASSERT_EQ(topology.warnings.size(), 1u);
    EXPECT_EQ(to_text(topology.warnings[0]),
              path +
                  ":4:3: warning: interface 'here' has MTU 9000, the mtu of port 'lan' is 1500: "
                  "longer packets that arrive there are lost; mtu: 9000 at port 'lan', or ip "
                  "link set here mtu 1500");
  }
}

const std::filesystem::path kAsks =
    (std::filesystem::path(testing::TempDir()) / "millrace-asks").lexically_normal();

/// Warnings of a topology with an acl and a match, without the topology's path.
std::vector<std::string> warnings_of(const std::string& events, const std::string& match,
                                     const std::string& rules) {
  const std::string path = kAsks.string() + ".yaml";
  std::ofstream(kAsks.string() + ".rules") << rules;
  std::ofstream(kAsks.string() + ".scan") << "alert \"log\"\n";
  std::ofstream(path) << "millrace: 1\nname: asks\n"
                      << events
                      << "ports: { a: { device: \"null\" } }\nfunctions:\n"
                         "  wall: { type: acl, rules: millrace-asks.rules }\n"
                         "  scan: { type: match, rules: millrace-asks.scan"
                      << match << " }\npaths:\n  all: { from: a, to: a, run: [wall, scan] }\n";
  std::vector<std::string> texts;
  for (const TopologyWarning& warning : read_topology_file(path, {}).topology.warnings) {
    texts.push_back(to_text(warning).substr(path.size()));
  }
  return texts;
}

TEST(EventsThatNobodyHears, AreWarnedOf) {
  const std::string logs = "pass tcp any -> any\ndrop udp any -> any log\n";
  const std::string silent = "pass tcp any -> any name login  # log\n";
  const std::string unheard = "), but nothing hears it without a section 'events: {}'";
  EXPECT_THAT(warnings_of("", "", silent), IsEmpty());
  EXPECT_THAT(warnings_of("", ", events: false", silent), IsEmpty());
  EXPECT_THAT(warnings_of("events: {}\n", ", events: true", logs), IsEmpty());
  EXPECT_THAT(
      warnings_of("", ", events: true", logs),
      ElementsAre(":5:3: warning: function 'wall' is to tell of packets (log in " + kAsks.string() +
                      ".rules" + unheard,
                  ":6:59: warning: function 'scan' is to tell of packets (events: true" + unheard));
}

/// Warnings of a topology whose path `all` runs `run`, without the topology's path.
std::vector<std::string> warnings_of_run(const std::string& run, const std::string& rules) {
  const std::string path = kAsks.string() + "-reject.yaml";
  std::ofstream(kAsks.string() + "-reject.rules") << rules;
  std::ofstream(kAsks.string() + "-reject.routes") << "10.0.0.0/8 a 02:00:00:00:00:02\n";
  std::ofstream(path) << "millrace: 1\nname: rejects\nports: { a: { device: \"null\" } }\n"
                         "functions:\n"
                         "  wall: { type: acl, rules: millrace-asks-reject.rules }\n"
                         "  hops: { type: route, table: millrace-asks-reject.routes }\n"
                         "paths:\n  all: { from: a, to: a, run: ["
                      << run << "] }\n";
  std::vector<std::string> texts;
  for (const TopologyWarning& warning : read_topology_file(path, {}).topology.warnings) {
    texts.push_back(to_text(warning).substr(path.size()));
  }
  return texts;
}

TEST(RejectsBehindARouter, AreWarnedOf) {
  const std::string rejects = "pass tcp any -> any\nreject udp any -> any\n";
  EXPECT_THAT(
      warnings_of_run("hops, wall", rejects),
      ElementsAre(":8:38: warning: path 'all' runs 'wall' behind 'hops': what it rejects (" +
                  kAsks.string() +
                  "-reject.rules) is dropped in silence there; it tells senders in front "
                  "of 'hops'"));
  EXPECT_THAT(warnings_of_run("wall, hops", rejects), IsEmpty());
  EXPECT_THAT(warnings_of_run("hops, wall", "drop udp any -> any name reject\n"), IsEmpty());
}

/// Warnings of a topology whose path `all` runs `run`, with `rules` of a firewall and `more`
/// settings of `flow`, without the topology's path.
std::vector<std::string> warnings_of_wall(const std::string& run, const std::string& rules,
                                          const std::string& more = "") {
  const std::string path = kAsks.string() + "-proxy.yaml";
  std::ofstream(kAsks.string() + "-proxy.rules") << rules;
  std::ofstream(kAsks.string() + "-proxy.routes") << "10.0.0.0/8 a 02:00:00:00:00:02\n";
  std::ofstream(path) << "millrace: 1\nname: proxies\n"
                         "ports: { a: { device: \"null\" }, b: { device: \"null\" } }\n"
                         "functions:\n  flow: { type: flow, max: 100"
                      << more
                      << " }\n"
                         "  wall: { type: firewall, rules: millrace-asks-proxy.rules }\n"
                         "  nat: { type: nat, inside: a, pool: 203.0.113.1, max: 100 }\n"
                         "  hops: { type: route, table: millrace-asks-proxy.routes }\n"
                         "paths:\n  all: { from: [a, b], to: a, run: ["
                      << run << "] }\n";
  std::vector<std::string> texts;
  for (const TopologyWarning& warning : read_topology_file(path, {}).topology.warnings) {
    texts.push_back(to_text(warning).substr(path.size()));
  }
  return texts;
}

TEST(SynproxyWhereItCannotWork, IsWarnedOf) {
  const std::string proxies = "pass ip any -> any state established\nsynproxy tcp any -> any\n";
  const std::string strict = ", pickup: false, invalid: drop";
  const std::string says =
      "'wall', which has synproxy (" + kAsks.string() + "-proxy.rules), behind ";
  EXPECT_THAT(warnings_of_wall("flow, wall, nat, hops", proxies), IsEmpty());
  EXPECT_THAT(
      warnings_of_wall("flow, hops, wall", proxies),
      ElementsAre(":10:49: warning: path 'all' runs " + says +
                  "'hops': the output of a SYN has been chosen there, so none is answered, and no "
                  "connection opens; it belongs in front of 'hops'"));
  EXPECT_THAT(warnings_of_wall("flow, nat, wall, hops", proxies),
              ElementsAre(HasSubstr(":10:48: warning: path 'all' runs " + says +
                                    "'nat': it answers a SYN with the addresses that it sees")));
  EXPECT_THAT(warnings_of_wall("flow, wall, hops", proxies, strict),
              ElementsAre(HasSubstr(says + "'flow' with pickup: false and invalid: drop")));
  EXPECT_THAT(warnings_of_wall("flow, wall, hops", proxies, ", pickup: false"), IsEmpty());
  EXPECT_THAT(warnings_of_wall("flow, hops, wall", "drop tcp any -> any\n", strict), IsEmpty());
}

TEST(KnownFunctions, HaveTheSettingsOfTheSchema) {
  std::ifstream in(test::source_folder() / "orchestration/schema/topology.schema.json");
  const auto schema = nlohmann::json::parse(in);
  int compared = 0;
  for (const auto& item : schema["$defs"]["function"]["oneOf"]) {
    const std::string type = item["properties"]["type"].value("const", "");
    for (const KnownFunction& function : known_functions()) {
      if (function.type != type) continue;
      std::set<std::string> expected(std::begin(kFunctionKeys), std::end(kFunctionKeys));
      for (const KnownSetting& setting : function.settings) expected.emplace(setting.name);
      std::set<std::string> found;
      for (const auto& [key, value] : item["properties"].items()) found.insert(key);
      EXPECT_EQ(found, expected) << type;
      for (const KnownSetting& setting : function.settings) {
        if (setting.kind != SettingKind::kInteger) continue;
        const auto& rule = item["properties"][std::string(setting.name)];
        EXPECT_EQ(rule.value("minimum", -1.0), setting.low) << type << ' ' << setting.name;
        EXPECT_EQ(rule.value("maximum", -1.0), setting.high) << type << ' ' << setting.name;
      }
      ++compared;
    }
  }
  EXPECT_GE(compared, 3);
}

TEST(TopologyFile, TakesWhatIsRight) {
  EXPECT_EQ(message_of("millrace: 1\nports: {a: {device: null}}\npaths: {p: {from: a}}\n"), "");
}

TEST(TopologyFile, LooksForFiles) {
  EXPECT_THAT(message_of("millrace: 1\nports: {a: {device: pcap, in: /nowhere}}\npaths: {p: {from: "
                         "a, to: a}}\n"),
              HasSubstr(":3:26: found port 'a', which cannot send"));
  EXPECT_THAT(
      message_of("millrace: 1\nports: {a: {device: replay, file: /nowhere}, b: {device: null}}\n"
                 "paths: {p: {from: a}}\n"),
      HasSubstr(":2:35: found no file '/nowhere' for 'file'"));
}

TEST(TopologyFile, LetsPortsCheckTheirSettings) {
  EXPECT_THAT(message_of("millrace: 1\nports:\n  a: {device: generate, destinations: nonsense}\n  "
                         "b: {device: null}\npaths: {p: {from: a}}\n"),
              HasSubstr(":3:39: found port 'a' that cannot be used (port 'a' (generate): "
                        "destinations is 'nonsense'"));
}

TEST(TopologyFile, LetsFunctionsCheckTheirSettings) {
  EXPECT_THAT(message_of("millrace: 1\nports: {a: {device: null}}\npaths: {p: {from: a}}\n"
                         "functions:\n  r: {type: route, table: /dev/null, classes: x}\n"),
              HasSubstr(":5:3: found function 'r' that cannot be used ("));
}

TEST(TopologyFile, KnowsWhatRunsByItsPlan) {
  const std::string path = testing::TempDir() + "/millrace-same-plan-test.yaml";
  const auto read = [&](const std::string& capacity) {
    std::ofstream(path) << "millrace: 1\nname: same\nbatch: {capacity: " + capacity +
                               "}\nports: {a: {device: generate}, b: {device: 'null'}}\n"
                               "paths: {p: {from: a, run: [r]}}\n"
                               "functions:\n  r: {type: record}\n";
    return read_topology_file(path, {});
  };
  const TopologyFile file = read("32");
  Plan running = file.plan;
  running.functions[0].counter_count = 77;  // the builder's word
  const std::string run_dir = testing::TempDir() + "/millrace-same-plan-test";
  std::filesystem::create_directories(run_dir);
  EXPECT_TRUE(plans_the_same(file, running, run_dir));
  EXPECT_FALSE(plans_the_same(read("33"), running, run_dir));
  save_run_state(run_dir, {.control = RemoteControl{.address = "tcp://127.0.0.1:7070"}});
  EXPECT_FALSE(plans_the_same(file, running, run_dir));
  save_bypass(run_dir, {.topology = "same", .command = {"/bin/true"}, .on = true});
  EXPECT_THAT(diff_to_running(file, running, run_dir).restart,
              testing::ElementsAre("control", "bypass"));
  std::filesystem::remove(bypass_path(run_dir));
  std::filesystem::remove_all(run_dir);
}

TEST(TopologyFile, LooksIntoTheFilesOfControl) {
  const std::string folder = testing::TempDir() + "/millrace-control-test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  write_key_files(folder + "/host", "");
  const std::string text =
      "millrace: 1\nports: {a: {device: null}}\npaths: {p: {from: a}}\n"
      "control: {listen: 'tcp://127.0.0.1:0', key: " +
      folder;
  EXPECT_EQ(message_of(text + "/host, clients: " + folder + "/host.pub}\n"), "");
  EXPECT_THAT(message_of(text + "/host, clients: [/nowhere.pub]}\n"),
              HasSubstr("found a file of keys that cannot be used (key file /nowhere.pub: read it: "
                        "No such file"));
  EXPECT_THAT(message_of(text + "/host.pub, clients: " + folder + "/host.pub}\n"),
              HasSubstr(":4:45: found a file of keys that cannot be used ("));
  std::filesystem::permissions(folder + "/host", std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  EXPECT_THAT(message_of(text + "/host, clients: " + folder + "/host.pub}\n"),
              HasSubstr("/millrace-control-test/host: others can read it: chmod o= "));
  std::filesystem::remove_all(folder);
}

TEST(TopologyFile, NamesAllFilesThatItWasMadeFrom) {
  const std::string folder = testing::TempDir() + "/millrace-sources";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/scan.rules") << "alert \"x\"\n";
  std::ofstream(folder + "/ports.yaml") << "ports: { a: { device: 'null' } }\n";
  std::ofstream(folder + "/t.yaml") << "millrace: 1\nname: t\ninclude: ports.yaml\n"
                                       "functions: { scan: { type: match, rules: scan.rules } }\n"
                                       "paths: { p: { from: a, to: a, run: [scan] } }\n";
  const std::vector<std::string> sources = read_topology_file(folder + "/t.yaml", {}).plan.sources;
  std::vector<std::string> paths;
  for (const std::string& source : sources) paths.push_back(source.substr(source.find(' ') + 1));
  EXPECT_THAT(paths, testing::ElementsAre(HasSubstr("t.yaml"), HasSubstr("ports.yaml"),
                                          HasSubstr("scan.rules")));
  EXPECT_THAT(sources, testing::Each(testing::Not(HasSubstr("----"))));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace millrace
