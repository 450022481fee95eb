// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/kernel_routes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "io-worker/ports/rtnetlink.hpp"
#include "shared/base/error.hpp"
#include "shared/base/tap_interface.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// Ports `lan` and `wan` with the kernel's interfaces `here` and `there` behind them.
std::vector<PlanPort> ports() {
  return {{.name = "lan", .host = 2},
          {.name = "wan", .host = 3},
          {.name = "lan.host", .settings = {{"interface", "here"}}},
          {.name = "wan.host", .settings = {{"interface", "there"}}}};
}

/// As a line of a table.
std::string text_of(const RouteLine& line) {
  const std::string prefix = prefix_text(line);
  if (line.refusal == RouteRefusal::kUnreachable) return prefix + " unreachable";
  if (line.refusal == RouteRefusal::kProhibited) return prefix + " prohibited";
  if (line.hops.empty()) return prefix + " drop";
  std::string text = prefix;
  for (const RouteLineHop& hop : line.hops) {
    text += std::string(&hop == &line.hops.front() ? " " : ", ") + std::string(hop.port);
    if (hop.kind == RouteHopKind::kGateway4) {
      std::uint32_t address = 0;
      for (std::size_t i = 0; i < 4; ++i) address = address << 8 | hop.gateway[i];
      text += " via " + ipv4_text(address);
    } else if (hop.kind == RouteHopKind::kGateway6) {
      Ipv6Address address;
      for (std::size_t i = 0; i < 8; ++i) {
        address.high = address.high << 8 | hop.gateway[i];
        address.low = address.low << 8 | hop.gateway[i + 8];
      }
      text += " via " + ipv6_text(address);
    }
    if (hop.weight != 1) text += " weight " + std::to_string(hop.weight);
  }
  if (line.mtu != 0) text += " mtu " + std::to_string(line.mtu);
  return text;
}

class KernelRoutesTest : public test::VethTest {
 protected:
  void SetUp() override {
    VethTest::SetUp();
    if (IsSkipped()) return;
    shell("ip link add other type veth peer name another && ip link set other up");
    shell("ip address add 10.1.0.1/24 dev here && ip address add 192.0.2.2/30 dev there");
    shell("ip address add 172.31.0.1/16 dev other");
    shell("ip -6 address add 2001:db8:2::2/64 dev there nodad");
  }
  KernelRoutes read() const { return read_kernel_routes(host_interfaces(ports_, "/run/test")); }
  std::vector<std::string> lines() const {
    std::vector<std::string> texts;
    for (const RouteLine& line : read().lines) texts.push_back(text_of(line));
    return texts;
  }

  const std::vector<PlanPort> ports_ = ports();
};

TEST_F(KernelRoutesTest, AnInterfaceOfTheTopologyIsFoundByAnyName) {
  shell("ip link set there alias '" + tap_alias("there", "/run/test") + "'");
  shell("ip link set there name renamed");
  EXPECT_THAT(lines(), testing::Contains("192.0.2.0/30 wan"));
  shell("ip link set other name there");  // the name is another's by now
  EXPECT_THAT(lines(), testing::Not(testing::Contains("172.31.0.0/16 wan")));
  EXPECT_THAT(lines(), testing::Contains("192.0.2.0/30 wan"));
  const auto of_others = host_interfaces(ports_, "/run/another");
  EXPECT_EQ(of_others.count(static_cast<int>(find_link("renamed")->index)), 0u);
}

TEST_F(KernelRoutesTest, NetworksOfTheInterfacesAreOnTheirLinks) {
  EXPECT_THAT(lines(),
              UnorderedElementsAre("10.1.0.0/24 lan", "192.0.2.0/30 wan", "2001:db8:2::/64 wan"));
  EXPECT_EQ(read().elsewhere, 1u) << "172.31.0.0/16";
  EXPECT_THAT(read().refusals, IsEmpty());
}

TEST_F(KernelRoutesTest, TheMtuOfARouteIsTakenWithAndWithoutLock) {
  shell("ip route flush dev here && ip route flush dev there && ip -6 route flush dev there");
  shell("ip route add 192.0.2.0/30 dev there");
  shell("ip route add 10.7.0.0/16 via 192.0.2.1 mtu 1400");
  shell("ip route add 10.8.0.0/16 via 192.0.2.1 mtu lock 1300 advmss 1000");
  shell("ip -6 route add 2001:db8:7::/48 via fe80::1 dev there mtu 1400");
  EXPECT_THAT(lines(),
              UnorderedElementsAre("192.0.2.0/30 wan", "10.7.0.0/16 wan via 192.0.2.1 mtu 1400",
                                   "10.8.0.0/16 wan via 192.0.2.1 mtu 1300",
                                   "2001:db8:7::/48 wan via fe80::1 mtu 1400"));
}

TEST_F(KernelRoutesTest, EachKindOfRoute) {
  shell("ip route flush dev here && ip route flush dev there && ip -6 route flush dev there");
  shell("ip route add 192.0.2.0/30 dev there");
  shell("ip route add default via 192.0.2.1");
  shell("ip route add 10.7.0.0/16 via 192.0.2.1 metric 7");
  shell("ip route add 10.7.0.0/16 dev here metric 3");
  shell("ip route add blackhole 10.8.0.0/16");
  shell("ip route add unreachable 10.9.0.0/16");
  shell("ip route add prohibit 10.10.0.0/16");
  shell("ip route add throw 10.11.0.0/16");
  shell("ip route add 10.12.0.0/16 nexthop via 192.0.2.1 weight 2 nexthop dev here");
  shell("ip route add 10.13.0.0/16 via 172.31.0.9");
  shell("ip route add 10.14.0.0/16 dev here table 77");
  shell("ip route add 10.15.0.0/16 dev here tos 0x10");
  shell("ip -6 route add 2001:db8:7::/48 via fe80::1 dev there");
  shell("ip route add 10.16.0.0/16 via inet6 fe80::2 dev there");
  shell("ip -6 route add blackhole 2001:db8:8::/48");
  EXPECT_THAT(lines(),
              UnorderedElementsAre(
                  "0.0.0.0/0 wan via 192.0.2.1", "10.7.0.0/16 lan", "10.7.0.0/16 wan via 192.0.2.1",
                  "10.8.0.0/16 drop", "10.9.0.0/16 unreachable", "10.10.0.0/16 prohibited",
                  "10.12.0.0/16 wan via 192.0.2.1 weight 2, lan", "10.16.0.0/16 wan via fe80::2",
                  "192.0.2.0/30 wan", "2001:db8:7::/48 wan via fe80::1", "2001:db8:8::/48 drop"));
  const auto texts = lines();
  EXPECT_LT(std::ranges::find(texts, "10.7.0.0/16 lan"),
            std::ranges::find(texts, "10.7.0.0/16 wan via 192.0.2.1"))
      << "the lower metric comes first";
  EXPECT_EQ(read().elsewhere, 2u);
}

TEST_F(KernelRoutesTest, OfSeveralNextHopsThoseAreTakenThatAreAliveAndOfPorts) {
  shell("ip route add 10.12.0.0/16 nexthop via 172.31.0.9 nexthop via 192.0.2.1 weight 256");
  shell(
      "ip -6 route add 2001:db8:9::/48 nexthop via fe80::1 dev there weight 3 "
      "nexthop via fe80::2 dev there");
  std::string many = "ip route add 10.14.0.0/16";
  for (int i = 2; i < 20; ++i) many += " nexthop via 10.1.0." + std::to_string(i);
  shell(many);
  const auto texts = lines();
  EXPECT_THAT(texts, testing::Contains("10.12.0.0/16 wan via 192.0.2.1 weight 256"));
  EXPECT_THAT(texts,
              testing::Contains("2001:db8:9::/48 wan via fe80::1 weight 3, wan via fe80::2"));
  EXPECT_THAT(texts, testing::Contains(testing::AllOf(testing::StartsWith("10.14.0.0/16 lan"),
                                                      testing::EndsWith("lan via 10.1.0.17"))))
      << "the first sixteen";
}

TEST_F(KernelRoutesTest, MoreThanOneAnswerHolds) {
  shell(
      "for i in $(seq 0 249); do for j in 1 2 3 4 5 6 7 8; do echo route add 100.$((64+j)).$i.0/24 "
      "via 192.0.2.1; done; done >/tmp/millrace-kernel-routes-$$ && ip -batch "
      "/tmp/millrace-kernel-routes-$$ && rm /tmp/millrace-kernel-routes-$$");
  EXPECT_EQ(read().lines.size(), 2003u);
}

TEST(KernelRoutes, WithoutAHostBehindAPortThereAreNone) {
  EXPECT_THROW(check_host_interfaces(std::vector<PlanPort>{{.name = "lan"}}), Error);
  EXPECT_NO_THROW(check_host_interfaces(ports()));
}

/// An RTM_NEWROUTE of 10.2.0.0/16 by interface 5.
std::vector<std::byte> message() {
  struct {
    nlmsghdr header{};
    rtmsg route{};
    rtattr destination{};
    std::uint8_t address[4] = {10, 2, 0, 0};
    rtattr interface {};
    int index = 5;
  } parts;
  parts.header.nlmsg_len = sizeof parts;
  parts.header.nlmsg_type = RTM_NEWROUTE;
  parts.route.rtm_family = AF_INET;
  parts.route.rtm_dst_len = 16;
  parts.route.rtm_table = RT_TABLE_MAIN;
  parts.route.rtm_type = RTN_UNICAST;
  parts.destination = {RTA_LENGTH(4), RTA_DST};
  parts.interface = {RTA_LENGTH(4), RTA_OIF};
  std::vector<std::byte> bytes(sizeof parts);
  std::memcpy(bytes.data(), &parts, sizeof parts);
  return bytes;
}

TEST(KernelRoutes, AMessageThatIsCutOrWrongIsReadAsFarAsItGoes) {
  const HostInterfaces interfaces = {{5, "wan"}};
  KernelRoutes whole;
  add_kernel_route(message(), interfaces, whole);
  ASSERT_EQ(whole.lines.size(), 1u);
  EXPECT_EQ(text_of(whole.lines[0]), "10.2.0.0/16 wan");
  for (std::size_t bytes = 0; bytes < message().size(); ++bytes) {
    std::vector<std::byte> cut = message();
    cut.resize(bytes);
    cut.shrink_to_fit();
    KernelRoutes routes;
    add_kernel_route(cut, interfaces, routes);
    EXPECT_THAT(routes.lines, IsEmpty()) << bytes;
  }
  std::mt19937 random(5);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> wrong = message();
    for (int j = 0; j < 3; ++j) wrong[random() % wrong.size()] = std::byte(random());
    KernelRoutes routes;
    add_kernel_route(wrong, interfaces, routes);
    for (const RouteLine& line : routes.lines) EXPECT_LE(line.length, 128);
  }
}

}  // namespace
}  // namespace millrace
