// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/sections.hpp"

#include <gtest/gtest.h>

#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

/// A file whose port `a` has this body.
std::string port(const std::string& body) {
  return "millrace: 1\nports:\n  a: {" + body + "}\npaths: {}\n";
}

TEST(LoadPorts, ReadsWhatAllPortsHave) {
  const Topology topology =
      parse(port("device: null, mtu: 9000, mac: '02:AB:cd:00:00:01', addresses: [10.1.0.1/24, "
                 "10.2.0.1/32, '2001:db8::1/64']"));
  const TopologyPort& a = topology.ports[0];
  EXPECT_EQ(a.name.value, "a");
  EXPECT_EQ(a.device.value, "null");
  EXPECT_EQ(a.mtu, 9000u);
  EXPECT_EQ(a.mac, "02:ab:cd:00:00:01");
  EXPECT_EQ(a.addresses,
            (std::vector<std::string>{"10.1.0.1/24", "10.2.0.1/32", "2001:db8::1/64"}));
  EXPECT_EQ(a.name.mark.line, 3);
  EXPECT_EQ(a.name.mark.column, 3);
}

TEST(LoadPorts, ReadsTheSettingsOfEachDeviceInTheirOrder) {
  const Topology topology = parse(
      "millrace: 1\nports:\n  g: {device: generate, size: [64, 1500], rate_mpps: 0.5, numbered: "
      "true, queues: 4}\n  r: {device: replay, file: x.pcap, loop: false}\npaths: {}\n");
  const auto& g = topology.ports[0];
  ASSERT_EQ(g.settings.size(), 5u);
  EXPECT_EQ(g.settings[0].key + "=" + g.settings[0].value.value, "size=64");
  EXPECT_EQ(g.settings[1].key + "=" + g.settings[1].value.value, "size=1500");
  EXPECT_EQ(g.settings[2].value.value, "0.5");
  EXPECT_EQ(g.settings[3].value.value, "true");
  EXPECT_EQ(g.queues, 4u);
  EXPECT_EQ(topology.ports[1].queues, 1u);
  EXPECT_EQ(topology.ports[1].settings[1].value.value, "false");
}

TEST(LoadPorts, RefusesUnknownDevices) {
  EXPECT_EQ(wrong(port("device: pcpa")),
            "3:15: found 'pcpa' as 'device'; allowed: afpacket, afxdp, dpdk, generate, loop, null, "
            "pcap, replay, tap, vlan; did "
            "you mean "
            "'pcap'?");
  EXPECT_EQ(wrong(port("mtu: 1500")),
            "3:6: found no 'device' in 'a'; allowed: afpacket, afxdp, dpdk, generate, loop, null, "
            "pcap, replay, tap, vlan");
  EXPECT_EQ(wrong(port("device: [pcap]")),
            "3:15: found a list as 'device'; allowed: afpacket, afxdp, dpdk, generate, loop, null, "
            "pcap, replay, tap, vlan");
}

TEST(LoadPorts, RefusesUnknownKeys) {
  EXPECT_EQ(wrong(port("device: null, fil: x")),
            "3:21: found 'fil' in 'a'; allowed: addresses, cores, device, host_interface, mac, "
            "mtu");
  EXPECT_EQ(wrong(port("device: replay, flie: x, file: y")),
            "3:23: found 'flie' in 'a'; allowed: addresses, copy, cores, count, device, file, "
            "host_interface, loop, mac, mtu, queues, rate_mpps; did you mean 'file'?");
  EXPECT_EQ(wrong(port("device: pcap, in: x, queues: 2")),
            "3:28: found 'queues' in 'a'; allowed: addresses, cores, device, host_interface, in, "
            "mac, mtu, out");
}

TEST(LoadPorts, RefusesValuesOutOfRange) {
  EXPECT_EQ(wrong(port("device: null, mtu: 67")),
            "3:26: found '67' as 'mtu'; allowed: a whole number from 68 to 9000");
  EXPECT_EQ(wrong(port("device: null, mtu: large")),
            "3:26: found 'large' as 'mtu'; allowed: a whole number from 68 to 9000");
  EXPECT_EQ(wrong(port("device: null, mtu: '1500'")),
            "3:26: found quoted text as 'mtu'; allowed: a whole number from 68 to 9000");
  EXPECT_EQ(wrong(port("device: generate, queues: 17")),
            "3:33: found '17' as 'queues'; allowed: a whole number from 1 to 16");
  EXPECT_EQ(wrong(port("device: generate, rate_mpps: -1")),
            "3:36: found '-1' as 'rate_mpps'; allowed: a number from 0 to 1000");
  EXPECT_EQ(wrong(port("device: generate, size: [64, 9001]")),
            "3:36: found '9001' as 'size'; allowed: a whole number from 60 to 9000");
  EXPECT_EQ(wrong(port("device: replay, file: x, loop: yes")),
            "3:38: found 'yes' as 'loop'; allowed: true, false");
}

TEST(LoadPorts, RefusesListsWhereOneValueBelongs) {
  EXPECT_EQ(wrong(port("device: replay, file: [x, y]")),
            "3:29: found a list as 'file'; allowed: a file name");
  EXPECT_EQ(wrong(port("device: replay, file: x, count: [1]")),
            "3:39: found a list as 'count'; allowed: a whole number");
}

TEST(LoadPorts, RefusesPortsWithoutAFile) {
  EXPECT_EQ(wrong(port("device: replay")), "3:6: found no 'file' in 'a'; allowed: a file name");
  EXPECT_EQ(wrong(port("device: pcap")), "3:6: found no 'out' in 'a'; allowed: 'in' or 'out'");
}

TEST(LoadPorts, RefusesAddressesThatAreNone) {
  constexpr const char* kMac = "; allowed: a unicast MAC address like '02:00:00:00:00:01'";
  for (const char* mac :
       {"00:00:00:00:00:00", "02:00:00:00:00", "03:00:00:00:00:01", "02:00:00:00:00:0g",
        "2:0:0:0:0:1", "02:00:00:00:00:011", " 2:00:00:00:00:01", "02:00:00:00:00:-1"}) {
    EXPECT_EQ(wrong(port("device: null, mac: '" + std::string(mac) + "'")),
              "3:26: found '" + std::string(mac) + "' as 'mac'" + kMac);
  }
  constexpr const char* kIp =
      "; allowed: an address with its prefix, like '10.1.0.1/24' or '2001:db8::1/64'";
  for (const char* ip :
       {"10.1.0.1", "10.1.0/24", "10.1.0.1/33", "10.1.0.1/", "10.1.0.1/+1", "x/1",
        "2001:db8::1/129", "2001:db8::1", "10.1.0.1/08", "2001:db8/64", "::/0x1"}) {
    EXPECT_EQ(wrong(port("device: null, addresses: '" + std::string(ip) + "'")),
              "3:32: found '" + std::string(ip) + "' as 'addresses'" + kIp);
  }
}

TEST(LoadPorts, RefusesNamesThatCannotBeParts) {
  EXPECT_EQ(wrong("millrace: 1\nports: {a.b: {device: null}}\npaths: {}\n"),
            "2:9: found 'a.b' as port; allowed: a letter, then letters, digits, '-' and '_', at "
            "most 24 in all");
  EXPECT_EQ(wrong("millrace: 1\nports: {1: {device: null}}\npaths: {}\n"),
            "2:9: found '1' as port; allowed: a letter, then letters, digits, '-' and '_', at most "
            "24 in all");
  EXPECT_EQ(wrong("millrace: 1\nports: [a]\npaths: {}\n"),
            "2:8: found a list as 'ports'; allowed: a map of 'port: {...}'");
  EXPECT_EQ(wrong("millrace: 1\nports: {a: null}\npaths: {}\n"),
            "2:12: found 'null' as 'a'; allowed: a map with 'device'");
}

TEST(LoadPorts, RefusesMoreThanSixteen) {
  std::string text = "millrace: 1\nports:\n";
  for (int i = 0; i < 17; ++i) text += "  p" + std::to_string(i) + ": {device: null}\n";
  EXPECT_EQ(wrong(text + "paths: {}\n"), "19:3: found 17 entries in 'ports'; allowed: at most 16");
}

}  // namespace
}  // namespace millrace
