// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/bypass.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "io-worker/ports/rtnetlink.hpp"
#include "shared/base/error.hpp"
#include "shared/control/discovery_file.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Topology topology_of(std::vector<std::string> bridge, std::vector<std::string> command) {
  Topology topology;
  topology.name = "a-topology-with-a-long-name";
  for (const char* name : {"a", "b"}) {
    TopologyPort port;
    port.name.value = name;
    TopologySetting interface;
    interface.key = "interface";
    interface.value.value = std::string("eth-") + name;
    port.settings.push_back(interface);
    topology.ports.push_back(port);
  }
  for (auto& port : bridge) topology.bypass_bridge.push_back({.value = port});
  for (auto& word : command) topology.bypass_command.push_back({.value = word});
  return topology;
}

TEST(Bypass, ABridgeHasAShortNameOfTheTopologyAndItsPortsInterfaces) {
  const auto bypass = bypass_of(topology_of({"a", "b"}, {}));
  ASSERT_TRUE(bypass);
  EXPECT_LE(bypass->bridge.size(), 15U);
  EXPECT_THAT(bypass->interfaces, ElementsAre("eth-a", "eth-b"));
  EXPECT_EQ(bypass_of(topology_of({"a", "b"}, {}))->bridge, bypass->bridge);
  EXPECT_EQ(bypass->topology, "a-topology-with-a-long-name");
  EXPECT_FALSE(bypass_of(topology_of({}, {})));
}

TEST(Bypass, IsReadAsItWasNoted) {
  const test::TestFolder folder;
  const std::string run_dir = folder.path("run");
  EXPECT_FALSE(load_bypass(run_dir));
  Bypass bypass = *bypass_of(topology_of({}, {"/bin/relay", "two words", "x"}));
  bypass.on = true;
  save_bypass(run_dir, bypass);
  const auto read = load_bypass(run_dir);
  ASSERT_TRUE(read);
  EXPECT_THAT(read->command, ElementsAre("/bin/relay", "two words", "x"));
  EXPECT_TRUE(read->on);
  EXPECT_EQ(read->topology, bypass.topology);
  std::ofstream(bypass_path(run_dir)) << "bridge x\ninterface one\nis on\n";
  EXPECT_FALSE(load_bypass(run_dir)) << "a bridge has two interfaces";
}

TEST(Bypass, ItsBridgeFollowsAnInterfaceThatIsRenamed) {
  const test::TestFolder folder;
  const std::string run_dir = folder.path("run");
  EXPECT_NO_THROW(rename_in_bypass(run_dir, "eth-a", "lan")) << "there is none";
  EXPECT_FALSE(load_bypass(run_dir));
  save_bypass(run_dir, *bypass_of(topology_of({"a", "b"}, {})));
  rename_in_bypass(run_dir, "eth-a", "lan");
  rename_in_bypass(run_dir, "eth-c", "wan");
  EXPECT_THAT(load_bypass(run_dir)->interfaces, ElementsAre("eth-a", "eth-b")) << "as planned";
  EXPECT_THAT(load_bypass(run_dir)->interfaces_now(), ElementsAre("lan", "eth-b"));
  rename_in_bypass(run_dir, "lan", "eth-a");
  EXPECT_THAT(load_bypass(run_dir)->interfaces_now(), ElementsAre("eth-a", "eth-b"));
}

TEST(Bypass, ACommandIsToldAndItsFailureSaysWhatItSaid) {
  const test::TestFolder folder;
  const std::string run_dir = folder.path("run");
  EXPECT_EQ(turn_bypass(run_dir, true), "") << "there is none";
  save_bypass(run_dir,
              {.command = {"/bin/sh", "-c", "echo $1 >> " + folder.path("told"), "relay"}});
  EXPECT_EQ(turn_bypass(run_dir, true), "bypass on: /bin/sh");
  EXPECT_TRUE(load_bypass(run_dir)->on);
  EXPECT_EQ(turn_bypass(run_dir, false), "bypass off: /bin/sh");
  EXPECT_EQ(text_of(folder.path("told")), "on\noff\n");
  save_bypass(run_dir, {.command = {"/bin/sh", "-c", "echo no card >&2; exit 3"}});
  try {
    turn_bypass(run_dir, true);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("exited with 3\nno card"));
  }
  EXPECT_FALSE(load_bypass(run_dir)->on);
}

TEST(Bypass, WhatACommandLeavesInTheBackgroundIsNotWaitedFor) {
  const test::TestFolder folder;
  const std::string run_dir = folder.path("run");
  save_bypass(run_dir, {.command = {"/bin/sh", "-c", "sleep 15 &"}});
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(turn_bypass(run_dir, true), "bypass on: /bin/sh");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

TEST(Bypass, IsOffAndKnownDuringARunAndOnBehindIt) {
  const test::TestFolder folder;
  const std::string run_dir = folder.path("run");
  const std::string append = "echo $1 >> " + folder.path("told");
  const Bypass bypass{.command = {"/bin/sh", "-c", append, "relay"}};
  EXPECT_NE(begin_bypassed_run(run_dir, bypass), "") << "hardware may be on after a boot";
  EXPECT_NE(end_bypassed_run(run_dir), "");
  EXPECT_NE(begin_bypassed_run(run_dir, std::nullopt), "");
  EXPECT_EQ(text_of(folder.path("told")), "off\non\noff\n");
  EXPECT_EQ(end_bypassed_run(run_dir), "") << "the next run has none";
  begin_bypassed_run(run_dir, Bypass{.command = {"/bin/sh", "-c", "test $1 = off", "relay"}});
  EXPECT_THAT(end_bypassed_run(run_dir), HasSubstr("exited with 1"));
}

TEST(Bypass, PrometheusIsToldWhileItIsOn) {
  const test::TestFolder folder;
  const std::string run_dir = folder.path("run");
  const std::string told = discovery_path(run_dir);
  save_bypass(run_dir, {.topology = "edge", .command = {"/bin/true"}});
  turn_bypass(run_dir, true);
  EXPECT_THAT(text_of(told), HasSubstr(R"("topology": "edge", "bypass": "on")"));
  turn_bypass(run_dir, false);
  EXPECT_FALSE(std::filesystem::exists(told));
  std::ofstream(told) << "telemetry's";
  turn_bypass(run_dir, false);
  EXPECT_EQ(text_of(told), "telemetry's") << "off as before: the topology runs";
  std::filesystem::create_directory(told + ".tmp");  // in the way
  EXPECT_THAT(turn_bypass(run_dir, true), HasSubstr("/bin/true; no alert will tell of it: "));
  EXPECT_TRUE(load_bypass(run_dir)->on);
}

class BypassBridge : public test::VethTest {};

TEST_F(BypassBridge, IsMadeAndGoesWithBothInterfaces) {
  shell("ip link add other type veth peer name beyond");
  const test::TestFolder folder;
  const std::string run_dir = folder.path("run");
  save_bypass(run_dir, {.bridge = "mr-by-test", .interfaces = {"here", "other"}});
  EXPECT_EQ(turn_bypass(run_dir, true), "bypass on: bridge mr-by-test of here and other");
  shell("test $(ip -br link show master mr-by-test up | wc -l) = 2");
  EXPECT_NE(turn_bypass(run_dir, true), "") << "once more is no harm";
  turn_bypass(run_dir, false);
  EXPECT_FALSE(find_link("mr-by-test"));
  EXPECT_TRUE(find_link("here"));
  EXPECT_NE(turn_bypass(run_dir, false), "") << "nor is that";
}

TEST_F(BypassBridge, AnInterfaceOfAnotherBridgeIsAnErrorThatNamesIt) {
  shell("ip link add other type veth peer name beyond");
  shell("ip link add br-office type bridge && ip link set other master br-office");
  const test::TestFolder folder;
  const std::string run_dir = folder.path("run");
  save_bypass(run_dir, {.bridge = "mr-by-test", .interfaces = {"here", "other"}});
  try {
    turn_bypass(run_dir, true);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("other is part of br-office already"));
    EXPECT_THAT(error.what(), HasSubstr("ip link set other nomaster"));
  }
  EXPECT_FALSE(load_bypass(run_dir)->on);
  EXPECT_FALSE(find_link("mr-by-test")) << "nothing is half made";
  shell("ip link set other nomaster");
  EXPECT_NE(turn_bypass(run_dir, true), "");
  EXPECT_TRUE(load_bypass(run_dir)->on);
}

TEST_F(BypassBridge, WithoutAnInterfaceIsAnErrorThatNamesIt) {
  const test::TestFolder folder;
  save_bypass(folder.path("run"), {.bridge = "mr-by-test", .interfaces = {"here", "gone"}});
  try {
    turn_bypass(folder.path("run"), true);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("interface gone"));
  }
}

}  // namespace
}  // namespace millrace
