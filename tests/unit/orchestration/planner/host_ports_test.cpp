// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "orchestration/planner/sections.hpp"
#include "shared/base/limits.hpp"
#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

constexpr const char* kTwoPorts =
    "millrace: 1\n"
    "ports:\n"
    "  lan: {device: null, addresses: [10.1.0.1/24, '2001:db8::1/64'], host_interface: mr-lan}\n"
    "  wan: {device: null, mac: '02:00:00:00:00:bb', mtu: 1300, host_interface: mr-wan}\n"
    "paths: {p: {from: [lan, wan]}}\n";

std::string values_of(const PlanPort& port, std::string_view key) {
  std::string text;
  for (const auto& [name, value] : port.settings) {
    if (name == key) text += (text.empty() ? "" : " ") + value;
  }
  return text;
}

TEST(HostPorts, ComeBehindThoseOfTheFileAndAreThePortsToTheKernel) {
  const Plan plan = plan_of(kTwoPorts);
  ASSERT_EQ(plan.ports.size(), 4u);
  EXPECT_EQ(plan.ports[0].host, 2);
  EXPECT_EQ(plan.ports[1].host, 3);
  EXPECT_EQ(plan.ports[2].host, -1);
  const PlanPort& lan = plan.ports[2];
  EXPECT_EQ(lan.name, "lan.host");
  EXPECT_EQ(lan.device, "tap");
  EXPECT_EQ(values_of(lan, "interface"), "mr-lan");
  EXPECT_EQ(values_of(lan, "host_addresses"), "10.1.0.1/24 2001:db8::1/64");
  EXPECT_EQ(values_of(lan, "host_mac"), "02:00:00:00:00:01");
  EXPECT_TRUE(lan.addresses.empty()) << "the router has them at lan";
  EXPECT_EQ(plan.ports[3].mtu, 1300u);
  EXPECT_EQ(values_of(plan.ports[3], "host_mac"), "02:00:00:00:00:bb");
}

TEST(HostPorts, ShareAPathThatLeadsEachToItsPort) {
  const Plan plan = plan_of(kTwoPorts);
  ASSERT_EQ(plan.paths.size(), 2u);
  EXPECT_EQ(plan.paths[1].name, "from.hosts");
  EXPECT_EQ(plan.paths[1].first_stage, kEgressStage);
  const auto output_of = [&](std::uint32_t port) {
    const auto stream = std::ranges::find(plan.streams, port, &PlanStream::port);
    return stream->paths.at(0).output;
  };
  EXPECT_EQ(output_of(2), 0u);
  EXPECT_EQ(output_of(3), 1u);
  EXPECT_EQ(output_of(0), 1u) << "of two ports of the file each is the other's default";
  EXPECT_EQ(output_of(1), 0u);
}

TEST(HostPorts, AreNotThereWithoutTheKey) {
  const Plan plan = plan_of(with_ports("paths: {p: {from: a}}\n"));
  EXPECT_EQ(plan.ports.size(), 2u);
  EXPECT_EQ(plan.paths.size(), 1u);
  EXPECT_EQ(plan.ports[0].host, -1);
}

TEST(HostPorts, CannotBeNamedByAFile) {
  std::string text = kTwoPorts;
  text.replace(text.find("[lan, wan]"), 10, "lan.host");
  EXPECT_NE(wrong(text), "");
}

TEST(HostPorts, RefuseNamesThatNoInterfaceCanHave) {
  for (const std::string name : {"sixteen-bytes-xx", "''", "a/b", "a:b", "'a b'", "'%d'", ".."}) {
    EXPECT_NE(
        wrong("millrace: 1\nports: {a: {device: null, host_interface: " + name + "}}\npaths: {}\n")
            .find("a name for the interface to make, of at most 15 bytes"),
        std::string::npos)
        << name;
  }
}

TEST(HostPorts, RefuseInterfacesOfOtherPortsAndPortsThatAreJoinedToNothing) {
  EXPECT_EQ(wrong("millrace: 1\nports:\n  a: {device: afpacket, interface: eth0, host_interface: "
                  "eth0}\npaths: {}\n"),
            "3:58: found 'eth0' as 'interface' of port 'a.host', which is another port of this "
            "topology already: 'a'; allowed: one of its own");
  EXPECT_EQ(
      wrong("millrace: 1\nports:\n  a: {device: generate, host_interface: eth0}\npaths: {}\n"),
      "3:41: found 'host_interface' of port 'a', a generate; allowed: a port that is joined to a "
      "network");
}

TEST(HostPorts, CountAmongThePortsAndPathsThatATopologyCanHave) {
  std::string text = "millrace: 1\nports:\n";
  for (std::uint32_t i = 0; i < kPortCountMax; ++i) {
    const std::string name = "p" + std::to_string(i);
    text += "  " + name + ": {device: null" + (i == 0 ? ", host_interface: mr0}\n" : "}\n");
  }
  EXPECT_NE(wrong(text + "paths: {}\n").find("17 ports with those of the hosts behind ports"),
            std::string::npos);
  text = "millrace: 1\nports: {a: {device: null, host_interface: mr0}}\npaths:\n";
  for (std::uint32_t i = 0; i < kPathCountMax; ++i) {
    text +=
        "  p" + std::to_string(i) + ": {from: a, match: udp port " + std::to_string(i + 1) + "}\n";
  }
  EXPECT_NE(wrong(text).find("9 paths with those of the hosts behind ports"), std::string::npos);
}

}  // namespace
}  // namespace millrace
