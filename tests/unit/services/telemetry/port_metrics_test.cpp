// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "io-worker/ports/port.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"
#include "tests/unit/services/telemetry/watched_topology.hpp"

namespace millrace {
namespace {

using test::samples;
using test::WatchedTopology;

TEST(PortMetrics, LeaveOutWhatNobodyKnows) {
  Plan plan = test::small_plan();
  plan.ports.push_back({.name = "nic", .device = "dpdk", .mtu = 9000});
  plan.ports.push_back({.name = "lo", .device = "afpacket", .settings = {{"interface", "lo"}}});
  const WatchedTopology watched(plan);
  watched.status.port(2).up = 1;
  watched.status.port(2).bytes_per_second = 1'250'000'000;
  const auto look = [&] {
    Families families;
    add_ports(watched.source(), "/nowhere", families);
    return samples(families.take());
  };
  auto found = look();
  EXPECT_EQ(found.at("millrace_port_info{port=lan,device=null,interface=}"), 1);
  EXPECT_EQ(found.at("millrace_port_mtu_bytes{port=nic}"), 9000);
  EXPECT_EQ(found.count("millrace_port_up{port=lan}"), 0u);
  EXPECT_EQ(found.count("millrace_port_up{port=nic}"), 0u);  // its hub has not looked yet
  EXPECT_EQ(found.at("millrace_port_info{port=lo,device=afpacket,interface=lo}"), 1);
  EXPECT_EQ(found.at("millrace_port_up{port=lo}"), 1);
  EXPECT_EQ(found.count("millrace_port_speed_bytes_per_second{port=lo}"), 0u);
  watched.status.port(2).known = 1;
  found = look();
  EXPECT_EQ(found.at("millrace_port_up{port=nic}"), 1);
  EXPECT_EQ(found.at("millrace_port_speed_bytes_per_second{port=nic}"), 1'250'000'000);
  watched.status.port(2).up = 0;
  EXPECT_EQ(look().count("millrace_port_speed_bytes_per_second{port=nic}"), 0u);
}

class RenamedPortMetrics : public test::VethTest {};

TEST_F(RenamedPortMetrics, FollowAnInterfaceThatWasTakenUnderAnotherName) {
  const test::TestFolder folder;
  Plan plan = test::small_plan();
  plan.ports.push_back(
      {.name = "uplink", .device = "afpacket", .settings = {{"interface", "here"}}});
  take_port(plan.ports.back(), folder.path(""), [](const std::string&) { return false; });
  shell("ip link set here name other");
  const WatchedTopology watched(plan);
  Families families;
  add_ports(watched.source(), folder.path(""), families);
  EXPECT_EQ(samples(families.take()).at("millrace_port_up{port=uplink}"), 1);
}

}  // namespace
}  // namespace millrace
