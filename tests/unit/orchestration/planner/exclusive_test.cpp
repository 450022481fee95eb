// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

using testing::HasSubstr;

std::string ports(const std::string& a, const std::string& b, const std::string& rest = "") {
  return "millrace: 1\nports:\n  a: {" + a + "}\n  b: {" + b + "}\npaths: {p: {from: a, to: b}}\n" +
         rest;
}

TEST(Exclusive, AnInterfaceIsOfOnePort) {
  const std::string taken =
      "found 'x' as 'interface' of port 'b', which is another port of this "
      "topology already: 'a'; allowed: one of its own";
  for (const char* a : {"afpacket", "afxdp", "tap"}) {
    for (const char* b : {"afpacket", "afxdp", "tap"}) {
      const auto port = [](const std::string& device, const std::string& interface) {
        return "device: " + device + ", interface: " + interface;
      };
      EXPECT_THAT(wrong(ports(port(a, "x"), port(b, "x"))), HasSubstr(taken));
      EXPECT_EQ(wrong(ports(port(a, "x"), port(b, "y"))), "");
    }
  }
  EXPECT_EQ(wrong(ports("device: null", "device: null")), "") << "these take nothing";
}

TEST(Exclusive, ADeviceOfADriverIsOfOnePortAndACardMayHaveSeveral) {
  const auto said = [](const std::string& a, const std::string& b) {
    return wrong(ports("device: dpdk, devargs: '" + a + "'", "device: dpdk, devargs: '" + b + "'"));
  };
  EXPECT_THAT(said("net_null0", "net_null0,size=64"), HasSubstr("of port 'b', which is another"));
  EXPECT_THAT(said("0000:01:00.0", "0000:01:00.0"), HasSubstr("of port 'b', which is another"));
  EXPECT_EQ(said("net_null0", "net_null1"), "");
  EXPECT_EQ(said("0000:01:00.0,representor=pf0", "0000:01:00.0,representor=vf0"), "");
}

TEST(Exclusive, AnInterfaceThatADriverIsGivenIsOfOnePort) {
  const auto said = [](const std::string& a, const std::string& b) {
    return wrong(ports("device: " + a, "device: " + b));
  };
  const std::string driver = "dpdk, devargs: 'net_af_packet0,iface=eth0,blocksz=4096'";
  EXPECT_THAT(said("afpacket, interface: eth0", driver),
              HasSubstr("of port 'b', which is another"));
  EXPECT_THAT(said(driver, "tap, interface: eth0"), HasSubstr("of port 'b', which is another"));
  EXPECT_THAT(said(driver, "dpdk, devargs: 'net_pcap0,iface=eth0'"),
              HasSubstr("of port 'b', which is another"));
  EXPECT_EQ(said(driver, "afpacket, interface: eth1"), "");
  EXPECT_EQ(said(driver, "dpdk, devargs: 'net_af_packet1,iface=eth00'"), "");
  EXPECT_EQ(said("dpdk, devargs: 'net_null0'", "dpdk, devargs: 'net_null1'"), "");
}

TEST(Exclusive, AnAddressIsOfOneListener) {
  const auto said = [](const std::string& telemetry, const std::string& control) {
    return wrong(ports("device: null", "device: null",
                       "telemetry: {listen: '" + telemetry + "'}\ncontrol: {listen: 'tcp://" +
                           control + "', key: k, clients: c}\n"));
  };
  EXPECT_THAT(said("127.0.0.1:7070", "127.0.0.1:7070"),
              HasSubstr("7:19: found 'tcp://127.0.0.1:7070' as 'listen' of 'control', where "
                        "'telemetry: listen' (127.0.0.1:7070) listens already"));
  EXPECT_NE(said("127.0.0.1:7070", "127.0.0.1:07070"), "");
  EXPECT_NE(said("[::1]:7070", "[0:0::1]:7070"), "");
  EXPECT_NE(said("0.0.0.0:7070", "10.0.0.1:7070"), "");
  EXPECT_NE(said("10.0.0.1:7070", "*:7070"), "");
  EXPECT_NE(said("[::]:7070", "127.0.0.1:7070"), "");
  EXPECT_EQ(said("127.0.0.1:7070", "127.0.0.1:7071"), "");
  EXPECT_EQ(said("127.0.0.1:7070", "10.0.0.1:7070"), "");
  EXPECT_EQ(said("127.0.0.1:0", "127.0.0.1:0"), "") << "each has a free one";
}

}  // namespace
}  // namespace millrace
