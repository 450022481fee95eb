// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/proxy_arp.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/route/router_fixture.hpp"

namespace millrace {
namespace {

constexpr std::uint8_t kLan = 0, kWan = 1;

const BuiltRoutes& routes() {
  static const BuiltRoutes kRoutes(
      "10.2.0.0/16 wan via 192.0.2.1\n10.3.0.0/16 lan via 10.1.0.9\n10.4.0.0/16 drop\n"
      "10.5.0.0/16 wan via 192.0.2.1, wan 02:00:00:00:00:09\n"
      "10.6.0.0/16 wan via 192.0.2.1, lan via 10.1.0.9\n",
      two_ports(), "true");
  return kRoutes;
}

TEST(ProxyArp, AnswersForWhatIsBehindOtherPorts) {
  const std::vector<std::string> names = {"lan"};
  const ProxyArp proxy(routes().table(), two_ports(), names);
  EXPECT_TRUE(proxy.answers_for(kLan, 0x0a020007));
  EXPECT_TRUE(proxy.answers_for(kLan, 0xc0000201)) << "of the network of another port";
  EXPECT_TRUE(proxy.answers_for(kLan, kWanIpv4)) << "ours, of another port";
  EXPECT_TRUE(proxy.answers_for(kLan, 0x0a050007)) << "all next hops are there";
  EXPECT_FALSE(proxy.answers_for(kLan, 0x0a010005)) << "of the asker's own network";
  EXPECT_FALSE(proxy.answers_for(kLan, 0x0a030007)) << "by a router on the asker's network";
  EXPECT_FALSE(proxy.answers_for(kLan, 0x0a060007)) << "one of the next hops is there";
  EXPECT_FALSE(proxy.answers_for(kLan, 0x0a040007)) << "dropped";
  EXPECT_FALSE(proxy.answers_for(kLan, 0xc0000203)) << "a broadcast address";
  EXPECT_FALSE(proxy.answers_for(kLan, 0x08080808)) << "no route";
  EXPECT_FALSE(proxy.answers_for(kWan, 0x0a010005)) << "off at that port";
  EXPECT_FALSE(proxy.answers_for(77, 0x0a020007)) << "no port";
  EXPECT_FALSE(ProxyArp().answers_for(kLan, 0x0a020007));
}

TEST(ProxyArp, WithADefaultRouteAnswersForAllButWhatIsNeverRouted) {
  const BuiltRoutes all("0.0.0.0/0 wan via 192.0.2.1\n", two_ports(), "true");
  const std::vector<std::string> names = {"wan", "lan"};
  const ProxyArp proxy(all.table(), two_ports(), names);
  EXPECT_TRUE(proxy.answers_for(kLan, 0x08080808));
  EXPECT_FALSE(proxy.answers_for(kWan, 0x08080808));
  EXPECT_TRUE(proxy.answers_for(kWan, 0x0a010005));
  for (const std::uint32_t never : {0u, 0x7f000001u, 0xe0000001u, 0xffffffffu}) {
    EXPECT_FALSE(proxy.answers_for(kLan, never)) << never;
  }
}

TEST(ProxyArp, PortsAreThoseOfTheTopologyWhateverTheirOrderInTheImage) {
  std::vector<PlanPort> ports = two_ports();
  std::swap(ports[0], ports[1]);
  const std::vector<std::string> names = {"lan"};
  const ProxyArp proxy(routes().table(), ports, names);
  EXPECT_TRUE(proxy.answers_for(1, 0x0a020007));
  EXPECT_FALSE(proxy.answers_for(1, 0x0a030007));
  EXPECT_FALSE(proxy.answers_for(0, 0x0a010005));
}

TEST(ProxyArp, ANameThatIsNoPortIsAnError) {
  const std::vector<std::string> names = {"dmz"};
  try {
    const ProxyArp proxy(routes().table(), two_ports(), names);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("proxy_arp: no port 'dmz'"));
  }
}

// Of Scapy; the station is 10.1.0.5 at 02:00:00:00:00:05.
constexpr const char* kRequest =
    "ffffffffffff020000000005080600010800060400010200000000050a0100050000000000000a020007";
constexpr const char* kAnswer =
    "02000000000502000000000a0806000108000604000202000000000a0a0200070200000000050a010005";
constexpr const char* kProbe =
    "ffffffffffff02000000000508060001080006040001020000000005000000000000000000000a020007";
constexpr const char* kAnnouncement =
    "ffffffffffff020000000005080600010800060400010200000000050a0200070000000000000a020007";

TEST(ProxyArp, ARequestForAHostBeyondIsAnsweredAndTeaches) {
  NeighbourMemory memory;
  const NeighbourTableView table = memory.table();
  const auto routed = [&](const char* frame, const RouteSettings& settings) {
    return Routed(routes(), bytes_of_hex(frame), kLan, two_ports(), &table, settings);
  };
  EXPECT_TRUE(routed(kRequest, {}).is_consumed_for(Reason::kControl)) << "off by default";
  EXPECT_TRUE(routed(kProbe, {.proxy_arp = {"lan"}}).is_consumed_for(Reason::kControl));
  EXPECT_TRUE(routed(kAnnouncement, {.proxy_arp = {"lan"}}).is_consumed_for(Reason::kControl));
  int known = 0;
  table.each([&](const NeighbourSnapshot&) { ++known; });
  EXPECT_EQ(known, 0);
  const auto answered = routed(kRequest, {.proxy_arp = {"wan", "lan"}});
  EXPECT_TRUE(answered.is_answer(Reason::kReply, kLan));
  EXPECT_EQ(answered.hex(), kAnswer);
  table.each([&](const NeighbourSnapshot& entry) {
    EXPECT_EQ(entry.key, neighbour_of(kLan, 0x0a010005));
    ++known;
  });
  EXPECT_EQ(known, 1);
}

}  // namespace
}  // namespace millrace
