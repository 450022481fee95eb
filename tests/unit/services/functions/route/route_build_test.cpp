// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_build.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <span>
#include <vector>

#include "services/functions/route/route_load.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/services/functions/route/live/live_world.hpp"
#include "tests/unit/services/functions/route/route_fixture.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RouteReason reason_of(const RouteHop& hop) { return static_cast<RouteReason>(hop.reason); }

TEST(RouteBuild, TheLongestPrefixWinsWhateverTheOrderOfLines) {
  const BuiltRoutes routes(
      "10.20.30.40/32 lan 02:00:00:00:00:32\n"
      "10.0.0.0/8     wan 02:00:00:00:00:08\n"
      "0.0.0.0/0      wan 02:00:00:00:00:00\n"
      "10.20.0.0/16   lan 02:00:00:00:00:16\n"
      "10.20.30.0/24  lan 02:00:00:00:00:24\n"
      "10.20.30.32/27 lan 02:00:00:00:00:27\n");
  EXPECT_EQ(routes.report().accepted, 6u);
  EXPECT_EQ(routes.report().refused, 0u);
  EXPECT_EQ(routes.hop_of(0x08080808).mac[5], 0x00);
  EXPECT_EQ(routes.hop_of(0x0a000000).mac[5], 0x08);
  EXPECT_EQ(routes.hop_of(0x0affffff).mac[5], 0x08);
  EXPECT_EQ(routes.hop_of(0x0b000000).mac[5], 0x00);
  EXPECT_EQ(routes.hop_of(0x0a14ffff).mac[5], 0x16);
  EXPECT_EQ(routes.hop_of(0x0a141e00).mac[5], 0x24);
  EXPECT_EQ(routes.hop_of(0x0a141e20).mac[5], 0x27);
  EXPECT_EQ(routes.hop_of(0x0a141e27).mac[5], 0x27);
  EXPECT_EQ(routes.hop_of(0x0a141e28).mac[5], 0x32);
  EXPECT_EQ(routes.hop_of(0x0a141e40).mac[5], 0x24);
}

TEST(RouteBuild, WithoutADefaultRouteTheRestHasNoRoute) {
  const BuiltRoutes routes("10.0.0.0/8 wan 02:00:00:00:00:02\n10.9.0.0/16 drop\n");
  EXPECT_EQ(reason_of(routes.hop_of(0x0b000000)), RouteReason::kNoRoute);
  EXPECT_EQ(reason_of(routes.hop_of(0x0a090000)), RouteReason::kNoRoute);
  EXPECT_EQ(reason_of(routes.hop_of(0x0a080000)), RouteReason::kNone);
}

TEST(RouteBuild, OwnAddressesAndBroadcastsBeatEveryRoute) {
  const BuiltRoutes routes("10.1.0.1/32 wan 02:00:00:00:00:02\n0.0.0.0/0 wan 02:00:00:00:00:03\n");
  EXPECT_EQ(reason_of(routes.hop_of(0x0a010001)), RouteReason::kOwnAddress);
  EXPECT_EQ(reason_of(routes.hop_of(0x0a0100ff)), RouteReason::kNotUnicast);
  EXPECT_EQ(reason_of(routes.hop_of(0xc0000202)), RouteReason::kOwnAddress);
  EXPECT_EQ(reason_of(routes.hop_of(0xc0000203)), RouteReason::kNotUnicast);
  EXPECT_EQ(reason_of(routes.hop_of(0x0a010002)), RouteReason::kNone);
  EXPECT_THAT(routes.table().own, ElementsAre(0x0a0100ffu, 0xc0000203u, 0x0a010001u, 0xc0000202u));
}

TEST(RouteBuild, ANetworkOfTwoOrOneHasNoBroadcastAddress) {
  auto ports = two_ports();
  ports[0].addresses = {"10.1.0.0/31"};
  ports[1].addresses = {"10.2.0.1/32", "10.3.0.1"};
  const BuiltRoutes routes("0.0.0.0/0 wan 02:00:00:00:00:03\n", ports);
  EXPECT_EQ(reason_of(routes.hop_of(0x0a010000)), RouteReason::kOwnAddress);
  EXPECT_EQ(reason_of(routes.hop_of(0x0a010001)), RouteReason::kNone);
  EXPECT_EQ(reason_of(routes.hop_of(0x0a020001)), RouteReason::kOwnAddress);
  EXPECT_EQ(reason_of(routes.hop_of(0x0a030001)), RouteReason::kOwnAddress);
}

TEST(RouteBuild, OneNextHopForManyPrefixesStandsOnce) {
  const BuiltRoutes routes(
      "10.0.0.0/8 wan 02:00:00:00:00:02\n11.0.0.0/8 wan 02:00:00:00:00:02\n"
      "12.0.0.0/8 lan 02:00:00:00:00:02\n");
  EXPECT_EQ(routes.table().hops.size(), kHopFirst + 2);
  EXPECT_EQ(routes.report().counter_count, kHopFirst + 2);
  EXPECT_EQ(routes.table().look_up(0x0a000000), routes.table().look_up(0x0b000000));
}

TEST(RouteBuild, EachWrongLineIsRefusedWithItsPlaceAndTheRestLoads) {
  const BuiltRoutes routes(
      "# routes\n"
      "10.0.0.0/8 dmz 02:00:00:00:00:02\n"
      "10.0.0.0/8 wan 02:00:00:00:00:02\n"
      "\n"
      "10.0.0.0/8 lan 02:00:00:00:00:03\n"
      "11.0.0.0/8 wan\n"
      "12.0.0.0/8 wan 02:00:00:00:00:04");
  EXPECT_EQ(routes.report().accepted, 2u);
  EXPECT_EQ(routes.report().refused, 3u);
  EXPECT_THAT(routes.report().refusals,
              ElementsAre(testing::AllOf(HasSubstr("routes.txt:2: "), HasSubstr("'dmz'")),
                          testing::AllOf(HasSubstr("routes.txt:5: "), HasSubstr("routes.txt:3")),
                          HasSubstr("routes.txt:6: ")));
  EXPECT_EQ(routes.hop_of(0x0c000001).mac[5], 4);
  EXPECT_EQ(routes.hop_of(0x0a000001).mac[5], 2);
}

TEST(RouteBuild, OnlyAHundredRefusalsAreKeptAndAllAreCounted) {
  std::string text;
  for (int i = 0; i < 150; ++i) text += "x\n";
  const BuiltRoutes routes(text);
  EXPECT_EQ(routes.report().refused, 150u);
  EXPECT_EQ(routes.report().refusals.size(), 100u);
}

TEST(RouteBuild, WithoutATopologyAnyNameIsAPortUpToTheLimit) {
  std::string text;
  for (std::uint32_t i = 0; i <= kPortCountMax; ++i) {
    text += "10." + std::to_string(i) + ".0.0/16 p" + std::to_string(i) + " 02:00:00:00:00:02\n";
  }
  const BuiltRoutes routes(text, {});
  EXPECT_EQ(routes.report().accepted, kPortCountMax);
  EXPECT_EQ(routes.report().refused, 1u);
  EXPECT_EQ(std::string(routes.table().ports[3].data()), "p3");
}

TEST(RouteBuild, SixtyFiveThousandNextHopsFitAndOneMoreIsRefused) {
  std::string text;
  for (std::uint32_t i = 0; i <= kHopCountMax; ++i) {
    char line[80];
    std::snprintf(line, sizeof line, "%s/32 wan 02:00:00:%02x:%02x:%02x\n",
                  ("11." + std::to_string(i >> 16) + "." + std::to_string(i >> 8 & 255) + "." +
                   std::to_string(i & 255))
                      .c_str(),
                  i >> 16, i >> 8 & 255, i & 255);
    text += line;
  }
  const BuiltRoutes routes(text);
  EXPECT_EQ(routes.report().accepted, kHopCountMax);
  EXPECT_EQ(routes.report().refused, 1u);
  for (const std::uint32_t i : {0u, 1u, 255u, 256u, 65'533u}) {
    const RouteHop& hop = routes.hop_of(0x0b000000 + i);
    EXPECT_EQ(hop.mac[4] << 8 | hop.mac[5], static_cast<int>(i));
  }
}

TEST(RouteBuild, NetworksOfThePortsAreOnLinkUnlessALineSaysOtherwise) {
  const BuiltRoutes routes("192.0.2.0/30 lan via 10.1.0.9\n", two_ports(), "true");
  const RouteHop& near = routes.hop_of(0x0a010005);
  EXPECT_EQ(near.kind, static_cast<std::uint8_t>(RouteHopKind::kOnLink));
  EXPECT_STREQ(routes.table().ports[near.port].data(), "lan");
  EXPECT_EQ(routes.hop_of(ipv6("2001:db8::5")).kind,
            static_cast<std::uint8_t>(RouteHopKind::kOnLink));
  EXPECT_EQ(routes.hop_of(0xc0000201).kind, static_cast<std::uint8_t>(RouteHopKind::kGateway4));
}

TEST(RouteBuild, TablesThatLeaveNoNextHopForTheNetworksOfThePortsAreRefused) {
  std::string text;
  for (std::uint32_t i = 0; i < kHopCountMax; ++i) {
    const std::string end = std::to_string(i >> 8) + "." + std::to_string(i & 255);
    text += "11.0." + end + "/32 wan via 12.0." + end + "\n";
  }
  EXPECT_EQ(BuiltRoutes(text).report().refused, kHopCountMax);
  EXPECT_EQ(BuiltRoutes(text, {}, "true").report().accepted, kHopCountMax);
  EXPECT_THROW(BuiltRoutes(text, two_ports(), "true"), Error);
}

/// Next hop of each of these hashes, and what the text says of weights.
std::vector<RouteHop> members_of(const BuiltRoutes& routes, const RouteHop& group,
                                 std::span<const std::uint32_t> hashes) {
  std::vector<RouteHop> hops;
  for (const std::uint32_t hash : hashes) {
    std::uint32_t at = group.first_member;
    while (routes.table().members[at].last < hash) ++at;
    hops.push_back(routes.table().hops[routes.table().members[at].hop]);
  }
  return hops;
}

TEST(RouteBuild, AGroupSharesAllHashesOutByWeight) {
  const BuiltRoutes routes(
      "10.0.0.0/8 wan 02:00:00:00:00:02 weight 3, lan 02:00:00:00:00:03, wan 02:00:00:00:00:04\n");
  const RouteHop& group = routes.hop_of(0x0a000001);
  ASSERT_EQ(group.kind, static_cast<std::uint8_t>(RouteHopKind::kGroup));
  ASSERT_EQ(group.member_count, 3);
  EXPECT_EQ(routes.table().members.size(), 3u);
  // A slow obvious way: five slots of the hash, the first three of them the first one's.
  std::vector<std::uint32_t> hashes = {0, 1, UINT32_MAX};
  for (std::uint64_t slot = 1; slot <= 5; ++slot) {
    const auto last = static_cast<std::uint32_t>((slot << 32) / 5 - (slot == 5));
    hashes.insert(hashes.end(), {last - 1, last, last + 1});
  }
  const std::vector<RouteHop> hops = members_of(routes, group, hashes);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const std::uint64_t slot = std::uint64_t{hashes[i]} * 5 >> 32;
    EXPECT_EQ(hops[i].mac[5], slot < 3 ? 2 : slot) << hashes[i];
    EXPECT_STREQ(routes.table().ports[hops[i].port].data(), slot == 3 ? "lan" : "wan");
  }
}

TEST(RouteBuild, GroupsOfTheSameSharesStandOnceAndOthersByThemselves) {
  const std::string one = "lan 02:00:00:00:00:03", other = "wan 02:00:00:00:00:02";
  const BuiltRoutes routes("10.0.0.0/8 " + one + ", " + other + "\n" +                    //
                           "11.0.0.0/8 " + one + " weight 7, " + other + " weight 7\n" +  //
                           "12.0.0.0/8 " + other + ", " + one + "\n" +                    //
                           "13.0.0.0/8 " + one + " weight 2, " + other + "\n" +           //
                           "14.0.0.0/8 " + one + " weight 9\n" +                          //
                           "2001:db8::/32 " + one + "," + other + "\n");
  const RouteTable& table = routes.table();
  EXPECT_EQ(table.look_up(0x0a000001), table.look_up(0x0b000001));
  EXPECT_EQ(table.look_up(0x0a000001), table.ipv6.look_up(ipv6("2001:db8::7")));
  EXPECT_NE(table.look_up(0x0a000001), table.look_up(0x0c000001));
  EXPECT_NE(table.look_up(0x0a000001), table.look_up(0x0d000001));
  EXPECT_EQ(routes.hop_of(0x0e000001).mac[5], 3) << "one next hop is no group";
  EXPECT_EQ(table.hops.size(), kHopFirst + 5) << "two next hops, three groups";
  EXPECT_EQ(routes.report().counter_count, kHopFirst + 5);
  EXPECT_EQ(table.members.size(), 6u);
}

TEST(RouteBuild, ADefaultRouteMayBeAGroup) {
  const BuiltRoutes routes(
      "0.0.0.0/0 lan via 10.1.0.8, wan via 192.0.2.1\n::/0 lan via fe80::1, wan via fe80::1\n",
      two_ports(), "true");
  EXPECT_EQ(routes.table().look_up(0x08080808), kHopDefault);
  EXPECT_EQ(routes.hop_of(0x08080808).member_count, 2);
  EXPECT_EQ(routes.table().ipv6.look_up(ipv6("2600::1")), kHopDefaultIpv6);
  EXPECT_EQ(routes.hop_of(ipv6("2600::1")).member_count, 2);
  EXPECT_NE(routes.hop_of(ipv6("2600::1")).first_member, routes.hop_of(0x08080808).first_member);
}

TEST(RouteBuild, OfARefusedGroupNothingIsKept) {
  const BuiltRoutes routes(
      "10.0.0.0/8 wan 02:00:00:00:00:02, dmz 02:00:00:00:00:03\n"
      "11.0.0.0/8 wan 02:00:00:00:00:02, lan via 10.1.0.9\n"
      "12.0.0.0/8 wan 02:00:00:00:00:02, wan 02:00:00:00:00:02\n");
  EXPECT_THAT(routes.report().refusals,
              ElementsAre(testing::AllOf(HasSubstr("routes.txt:1: "), HasSubstr("'dmz'")),
                          testing::AllOf(HasSubstr("routes.txt:2: "), HasSubstr("answers: false")),
                          testing::AllOf(HasSubstr("routes.txt:3: "), HasSubstr("next hop 2"))));
  EXPECT_EQ(routes.table().hops.size(), kHopFirst);
  EXPECT_TRUE(routes.table().members.empty());
}

TEST(RouteBuild, ASmallTableIsASmallFile) {
  const BuiltRoutes routes("0.0.0.0/0 wan 02:00:00:00:00:02\n10.0.0.0/8 lan 02:00:00:00:00:03\n");
  struct stat info {};
  ASSERT_EQ(stat(routes.context().function.image.c_str(), &info), 0);
  EXPECT_GT(info.st_size, 64 << 20);
  EXPECT_LT(info.st_blocks * 512, 1 << 20);
}

TEST(RouteBuild, BothFamiliesStandInOneTable) {
  const BuiltRoutes routes(
      "10.0.0.0/8 wan 02:00:00:00:00:02\n2001:db8::/32 wan 02:00:00:00:00:02\n"
      "2001:db8:9::/48 lan 02:00:00:00:00:03\n2001:db8:a::/48 drop\n"
      "2001:db8:9::/48 wan 02:00:00:00:00:04\n");
  EXPECT_EQ(routes.report().accepted, 4u);
  EXPECT_THAT(routes.report().refusals,
              ElementsAre(testing::AllOf(HasSubstr("routes.txt:5: 2001:db8:9::/48"),
                                         HasSubstr("routes.txt:3"))));
  EXPECT_EQ(routes.hop_of(0x0a000001).mac[5], 2);
  EXPECT_EQ(routes.hop_of(ipv6("2001:db8::1:2")).mac[5], 2);
  EXPECT_EQ(routes.hop_of(ipv6("2001:db8:9:ffff::")).mac[5], 3);
  EXPECT_EQ(reason_of(routes.hop_of(ipv6("2001:db8:a::1"))), RouteReason::kNoRoute);
  EXPECT_EQ(reason_of(routes.hop_of(ipv6("2001:db9::"))), RouteReason::kNoRoute);
  EXPECT_EQ(routes.table().look_up(0x0a000001), routes.table().ipv6.look_up(ipv6("2001:db8::2")))
      << "one next hop";
}

TEST(RouteBuild, EachFamilyHasADefaultRouteOfItsOwn) {
  const BuiltRoutes one("0.0.0.0/0 wan 02:00:00:00:00:02\n2001:db8::/32 wan 02:00:00:00:00:03\n");
  EXPECT_EQ(one.hop_of(0x08080808).mac[5], 2);
  EXPECT_EQ(reason_of(one.hop_of(ipv6("2600::1"))), RouteReason::kNoRoute);
  const BuiltRoutes other("::/0 lan 02:00:00:00:00:04\n");
  EXPECT_EQ(reason_of(other.hop_of(0x08080808)), RouteReason::kNoRoute);
  EXPECT_EQ(other.hop_of(ipv6("2600::1")).mac[5], 4);
  EXPECT_EQ(other.table().ipv6.look_up(ipv6("2600::1")), kHopDefaultIpv6);
}

TEST(RouteBuild, OwnIpv6AddressesAndTheAnycastAddressOfTheirNetworksAreOurs) {
  auto ports = two_ports();
  ports[1].addresses = {"2001:db8:1::3/127", "2001:db8:2::1"};
  const BuiltRoutes routes("2001:db8::/32 wan 02:00:00:00:00:02\n", ports);
  for (const char* text : {"2001:db8::1", "2001:db8::", "2001:db8:1::3", "2001:db8:2::1"}) {
    EXPECT_EQ(reason_of(routes.hop_of(ipv6(text))), RouteReason::kOwnAddress) << text;
  }
  for (const char* text : {"2001:db8::2", "2001:db8:1::2", "2001:db8:2::", "2001:db8:0:1::"}) {
    EXPECT_EQ(reason_of(routes.hop_of(ipv6(text))), RouteReason::kNone) << text;
  }
  EXPECT_TRUE(routes.table().ipv6.is_own(ipv6("2001:db8:2::1")));
  EXPECT_FALSE(routes.table().ipv6.is_own(ipv6("2001:db8::")));
}

TEST(RouteBuild, AnAddressThatATranslationGivesToPacketsIsOursAsADestinationAlone) {
  const RouteFolder folder;
  std::ofstream(folder.file("routes.txt")) << "0.0.0.0/0 wan 02:00:00:00:00:02\n";
  PlanFunction function{
      .name = "route", .type = "route", .settings = {{"table", folder.file("routes.txt")}}};
  function.image = folder.file("route.img");
  const auto ports = two_ports();
  std::vector<PlanPath> paths(2);
  paths[1].translation.pool = {{0xc0000202, 0xc0000203}};
  build_route_image({.function = function, .ports = ports, .paths = paths});
  const MappedImage image(function.image, kRouteImage);
  const RouteTable table = view_route_image(image.bytes());
  EXPECT_THAT(table.own, ElementsAre(0x0a0100ffu, 0x0a010001u));
  EXPECT_EQ(reason_of(table.hops[table.look_up(0xc0000202)]), RouteReason::kOwnAddress);
}

TEST(RouteBuild, WithoutAnIpv6RouteTheImageHasNothingOfIt) {
  const BuiltRoutes routes("10.0.0.0/8 wan 02:00:00:00:00:02\n2001:db8::1/32 drop\n");
  EXPECT_FALSE(routes.table().ipv6.present());
  struct stat without {
  }, with{};
  ASSERT_EQ(stat(routes.context().function.image.c_str(), &without), 0);
  const BuiltRoutes both("10.0.0.0/8 wan 02:00:00:00:00:02\n2001:db8::/32 drop\n");
  ASSERT_EQ(stat(both.context().function.image.c_str(), &with), 0);
  EXPECT_LT(without.st_size, 65 << 20);
  EXPECT_GT(with.st_size, 128 << 20);
  EXPECT_LT(with.st_blocks * 512, 1 << 20);
}

TEST(RouteBuild, ATableThatFollowsTheKernelIsLiveAndForAGpuHasAJournal) {
  const test::LiveWorld world;
  EXPECT_TRUE(read_route_live(world.path()));
  EXPECT_TRUE(world.table().journal.empty());
  const test::LiveWorld on_device("198.51.100.0/24 drop\n", true);
  EXPECT_TRUE(read_route_live(on_device.path()));
  EXPECT_FALSE(on_device.table().journal.empty());
  EXPECT_EQ(on_device.table().look_up(0xc6336401), kHopNowhere);
}

TEST(RouteBuild, WithoutRoomForALiveTableItIsOneThatIsBuiltAnew) {
  constexpr int kNoRights = 77;
  const pid_t child = fork();
  if (child == 0) {
    const bool mounted = unshare(CLONE_NEWNS) == 0 &&
                         mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         mount("small", "/dev/shm", "tmpfs", 0, "size=16m") == 0;
    if (!mounted) _exit(kNoRights);
    const test::LiveWorld world;
    const bool right =
        !read_route_live(world.path()) &&
        world.hop_to("198.51.100.1").reason == static_cast<std::uint8_t>(RouteReason::kNoRoute) &&
        world.hop_to("10.1.0.7").reason == 0;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == kNoRights) GTEST_SKIP() << "mounting takes root";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(RouteBuild, AnAddressOfAPortThatIsNoneIsAnError) {
  auto ports = two_ports();
  for (const char* text : {"10.1.0/24", "10.1.0.1/33", "10.1.0.1/", "10.1.0.1/a", "lan",
                           "2001:db8::/129", "2001:db8/64", "2001:db8::1/", "10.1.0.1/128"}) {
    ports[0].addresses = {text};
    EXPECT_THROW(own_addresses(ports), Error) << text;
  }
}

}  // namespace
}  // namespace millrace
