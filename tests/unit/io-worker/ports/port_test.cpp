// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/port.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <utility>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace {
namespace {

using test::error_of;
using test::frame_of;
using test::make_port;
using test::take_all;
using test::TestFolder;
using test::TestPool;

TEST(Ports, NameTheNearestDeviceForAnUnknownOne) {
  EXPECT_EQ(error_of([] { check_port(make_port("replai", {})); }),
            "port 'lan': unknown device 'replai', did you mean 'replay'? allowed: "
            "afpacket, afxdp, pcap, replay, generate, null, dpdk, tap, vlan, loop");
  EXPECT_EQ(error_of([] { port_queues(make_port("quantum", {})); }),
            "port 'lan': unknown device 'quantum' allowed: afpacket, afxdp, pcap, replay, "
            "generate, null, dpdk, tap, vlan, loop");
}

TEST(Ports, TellHowManyQueuesTheyHave) {
  const auto queues = [](const char* device, Settings settings) {
    const PortQueues found = port_queues(make_port(device, std::move(settings)));
    return std::pair(found.receive, found.send);
  };
  EXPECT_EQ(queues("pcap", {{"in", "a"}, {"out", "b"}}), std::pair(1u, 1u));
  EXPECT_EQ(queues("replay", {{"file", "a"}, {"queues", "3"}}), std::pair(3u, 0u));
  EXPECT_EQ(queues("generate", {}), std::pair(1u, 0u));
  EXPECT_EQ(queues("null", {}), std::pair(1u, kPortQueueCountMax));
}

TEST(Ports, RefuseAQueueThatTheyDoNotHave) {
  const TestPool pool(4);
  EXPECT_EQ(error_of([&] { open_rx_queue(make_port("generate", {}), 1, pool, false); }),
            "port 'lan' (generate), receive queue 1: this port has 1");
  EXPECT_EQ(error_of([&] {
              open_rx_queue(make_port("pcap", {{"out", "a"}}), 0, pool, false);
            }),
            "port 'lan' (pcap), receive queue 0: this port has none");
  EXPECT_EQ(error_of([] { open_tx_queue(make_port("generate", {}), 0, false); }),
            "port 'lan' (generate), transmit queue 0: this port has none");
  EXPECT_EQ(error_of([] {
              open_tx_queue(make_port("pcap", {{"in", "a"}}), 0, false);
            }),
            "port 'lan' (pcap), transmit queue 0: this port has none");
}

/// What is told of a port whose actor is restarted; "thrown" where it cannot be.
template <class Open>
std::string trouble_after_restart(const Open& open) {
  std::string text = "thrown";
  error_of([&] { text = open()->trouble().text(); });
  return text;
}

TEST(Ports, AFileThatIsAwayIsAnErrorAtTheFirstStartAlone) {
  const TestFolder folder;
  const TestPool pool(4);
  const std::string path = folder.path("away/file");
  for (const PlanPort& port :
       {make_port("pcap", {{"in", path}}), make_port("replay", {{"file", path}})}) {
    const std::string error = error_of([&] { open_rx_queue(port, 0, pool, false); });
    EXPECT_NE(error.find("open " + path + ": No such file"), std::string::npos) << error;
    EXPECT_EQ(trouble_after_restart([&] { return open_rx_queue(port, 0, pool, true); }),
              "open " + path +
                  ": No such file or directory; not read until it opens (tried every 30 s; at "
                  "once: kill " +
                  std::to_string(::getpid()) + ")");
  }
  const PlanPort out = make_port("pcap", {{"out", path}});
  const std::string error = error_of([&] { open_tx_queue(out, 0, false); });
  EXPECT_NE(error.find("open " + path + ": No such file"), std::string::npos) << error;
  EXPECT_EQ(trouble_after_restart([&] { return open_tx_queue(out, 0, true); }),
            "open " + path +
                ": No such file or directory; what is sent is dropped as no_output until it opens "
                "(tried every 30 s; at once: kill " +
                std::to_string(::getpid()) + ")");
}

TEST(Ports, AFileThatIsAwayTakesAndGivesNothingAndItsPortGoesOnWhenItIsBack) {
  const TestFolder folder;
  TestPool pool(8);
  const PlanPort out = make_port("pcap", {{"out", folder.path("away/file")}});
  const PlanPort in = make_port("pcap", {{"in", folder.path("away/file")}});
  const std::string frame = frame_of(1, 60);
  const std::array packets{TxPacket{.bytes = std::as_bytes(std::span(frame)), .wire_length = 60}};
  std::filesystem::create_directory(folder.path("away"));
  EXPECT_EQ(open_tx_queue(out, 0, false)->send(packets), 1u);
  std::filesystem::rename(folder.path("away"), folder.path("moved"));
  const auto closed_tx = open_tx_queue(out, 0, true);
  EXPECT_TRUE(closed_tx->failed());
  EXPECT_EQ(closed_tx->send(packets), 0u);
  const auto closed_rx = open_rx_queue(in, 0, pool, true);
  closed_rx->resume(0);
  EXPECT_TRUE(take_all(*closed_rx, pool).empty());
  EXPECT_TRUE(closed_rx->exhausted());
  EXPECT_EQ(closed_rx->errors(), 1u);
  std::filesystem::rename(folder.path("moved"), folder.path("away"));
  const auto again = open_tx_queue(out, 0, true);
  EXPECT_FALSE(again->failed());
  EXPECT_EQ(again->send(packets), 1u);
  EXPECT_EQ(take_all(*open_rx_queue(in, 0, pool, true), pool).size(), 2u);
}

TEST(Ports, OfALongPathItsEndIsToldWithTheReason) {
  const std::string path = "/" + std::string(200, 'a') + "/file";
  const std::string told = trouble_after_restart([&] {
    return open_tx_queue(make_port("pcap", {{"out", path}}), 0, true);
  });
  EXPECT_TRUE(told.starts_with("...aaa")) << told;
  EXPECT_NE(told.find("/file: No such file or directory; what is sent"), std::string::npos) << told;
  EXPECT_LT(told.size(), 180u) << "an event has 199 bytes, and the port's name is one of them";
}

class StackedPortsTest : public test::VethTest {};

TEST_F(StackedPortsTest, AnInterfaceOverAnotherPortsIsSaid) {
  shell("ip link add link here name upper type macvlan && ip link set upper up");
  const auto port = [](const char* name, const char* interface, Settings more = {}) {
    more.emplace_back("interface", interface);
    PlanPort made = make_port("afpacket", std::move(more));
    made.name = name;
    return made;
  };
  const PlanPort lower = port("a", "here"), upper = port("b", "upper"), other = port("c", "there");
  const std::string trouble =
      "interface 'upper' of port 'b' lies over 'here' of port 'a', which leaves nothing for it: "
      "for "
      "a VLAN a port of device vlan over 'a', else host: true at port 'a' if it is an afpacket";
  const auto below = stacked_ports(std::array{other, lower, upper});
  ASSERT_TRUE(below);
  EXPECT_EQ(below->trouble, trouble);
  EXPECT_EQ(below->upper, 2u);
  const auto above = stacked_ports(std::array{upper, lower});
  ASSERT_TRUE(above) << "whatever their order";
  EXPECT_EQ(above->upper, 0u);
  EXPECT_FALSE(stacked_ports(std::array{lower, other}));
  EXPECT_FALSE(stacked_ports(std::array{port("a", "here", {{"host", "true"}}), upper}));
  shell("ip link add bridge type bridge && ip link set there master bridge");
  const auto bridged = stacked_ports(std::array{port("b", "bridge"), other});
  ASSERT_TRUE(bridged);
  EXPECT_EQ(bridged->upper, 0u);
}

}  // namespace
}  // namespace millrace
