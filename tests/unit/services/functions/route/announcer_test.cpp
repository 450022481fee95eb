// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/announcer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/services/functions/route/router_fixture.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint8_t kLoop = 2;

// Of Scapy: the announcements of lan's addresses 10.1.0.1 and fe80::ff:fe00:a, 2001:db8::1.
const std::string kArp =
    "ffffffffffff02000000000a08060001080006040001"
    "02000000000a0a0100010000000000000a010001"
    "000000000000000000000000000000000000";

/// dual_ports() and a loop.
std::vector<PlanPort> looped_ports() {
  std::vector<PlanPort> ports = dual_ports();
  ports.push_back({.name = "again", .device = "loop", .mac = "02:00:00:00:00:03"});
  return ports;
}

struct Announcing : RouterParts {
  explicit Announcing(const std::vector<PlanPort>& plan = looped_ports(),
                      const std::vector<std::string>& advertise = {})
      : RouterParts(plan, 0, 50, advertise), announcer(ports, plan, advertiser) {
    facts.port_in = kLoop;
  }
  bool tick(std::uint64_t since_ns, std::uint64_t time_ns) {
    RouteFrame frame(kTickFrameBytes);
    write_tick(frame, {2, 0, 0, 0, 0, 3}, {.number = 7, .time_ns = time_ns, .since_ns = since_ns});
    take(frame);
    return announcer.tick(call(), 0);
  }
  /// What left beside it: "port: bytes".
  std::vector<std::string> said() const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < records().size(); ++i) {
      EXPECT_TRUE(has_record(i, SideKind::kSend, records()[i].port, Reason::kAnnounce));
      all.push_back(std::to_string(records()[i].port) + ": " + side_hex(i));
    }
    return all;
  }

  Announcer announcer;
};

TEST(Announcer, AddressesAreToldOfTwiceTwoSecondsApart) {
  Announcing parts;
  std::vector<std::size_t> counts;
  for (std::uint64_t second = 0; second < 6; ++second) {
    ASSERT_TRUE(parts.tick(second * kSecond, (second + 1) * kSecond));
    EXPECT_TRUE(parts.is_consumed_for(Reason::kControl));
    counts.push_back(parts.records().size());
  }
  // Of two ports an address of IPv4, a link-local one and one of IPv6 each.
  // In between one report of groups each.
  EXPECT_THAT(counts, ElementsAre(6, 2, 6, 2, 0, 0));
}

TEST(Announcer, OfIpv4ByArpAndOfIpv6ByAdvertisementsToAllNodes) {
  Announcing parts;
  parts.tick(0, kSecond);
  const std::vector<std::string> said = parts.said();
  ASSERT_EQ(said.size(), 6u);
  EXPECT_EQ(said[0], "0: " + kArp);
  NeighbourMessage message;
  for (const std::size_t number : {1u, 2u}) {
    ASSERT_TRUE(parse_neighbour(parts.side_frame(number), message)) << number;
    EXPECT_TRUE(message.advertisement && message.router && message.override_);
    EXPECT_FALSE(message.solicited);
    EXPECT_EQ(message.destination, kIpv6AllNodes);
    EXPECT_EQ(message.source, message.target);
    EXPECT_EQ(message.mac, kLanMac);
  }
  EXPECT_EQ(message.target, ipv6_bytes(kLanIpv6));
  EXPECT_EQ(said[3].substr(0, 3), "1: ");
}

TEST(Announcer, ATickThatSpeaksForLongSaysItOnce) {
  Announcing parts;
  parts.tick(0, 10 * kSecond);
  EXPECT_EQ(parts.records().size(), 8u) << "and the groups of two ports";
}

TEST(Announcer, ATickThatIsMissedIsNotMadeGood) {
  Announcing parts;
  parts.tick(kSecond, 2 * kSecond - 1);
  EXPECT_TRUE(parts.records().empty());
}

TEST(Announcer, OnlyATickThatCameByALoopIsOne) {
  Announcing parts;
  parts.facts.port_in = 0;
  EXPECT_FALSE(parts.tick(0, kSecond));
  EXPECT_TRUE(parts.records().empty());
  EXPECT_TRUE(parts.batch().goes_on(0)) << "left to others";
  parts.facts.port_in = kLoop;
  parts.take(RouteFrame(kTickFrameBytes));
  EXPECT_FALSE(parts.announcer.tick(parts.call(), 0));
  parts.facts.port_in = kOutputDefault;
  EXPECT_FALSE(parts.tick(0, kSecond));
}

TEST(Announcer, ManyAddressesAreToldOfInTurn) {
  std::vector<PlanPort> plan = looped_ports();
  plan[0].addresses.clear();
  plan[1].addresses.clear();
  for (int i = 1; i <= 40; ++i) plan[0].addresses.push_back("10.1.0." + std::to_string(i) + "/24");
  Announcing parts(plan);
  std::map<std::string, int> times;
  for (std::uint64_t second = 0; second < 10; ++second) {
    parts.tick(second * kSecond, (second + 1) * kSecond);
    EXPECT_LE(parts.records().size(), 32u);
    EXPECT_TRUE(parts.is_consumed_for(Reason::kControl));
    for (const std::string& frame : parts.said()) ++times[frame];
  }
  EXPECT_EQ(times.size(), 40u);
  for (const auto& [frame, count] : times) EXPECT_EQ(count, 2) << frame;
}

TEST(Announcer, WithoutRoomTheTickIsDropped) {
  Announcing parts;
  RouteFrame frame(kTickFrameBytes);
  write_tick(frame, {2, 0, 0, 0, 0, 3}, {.number = 0, .time_ns = kSecond, .since_ns = 0});
  parts.take(frame);
  parts.fill_side_list();
  EXPECT_TRUE(parts.announcer.tick(parts.call(), 0));
  EXPECT_TRUE(parts.is_dropped_for(Reason::kSideFull));
}

TEST(Announcer, AdvertisementsAreUnaskedToo) {
  Announcing parts(looped_ports(), {"lan"});
  const auto advertises = [&](std::uint64_t since, std::uint64_t until) {
    parts.tick(since, until);
    std::size_t count = 0;
    for (std::size_t i = 0; i < parts.records().size(); ++i) {
      const RouteFrame frame = parts.side_frame(i);
      // ICMPv6 type 134 to all nodes.
      if (frame.size() <= 54 || frame[12] != std::byte{0x86} || frame[54] != std::byte{134})
        continue;
      EXPECT_EQ(parts.records()[i].port, 0);
      ++count;
    }
    return count;
  };
  EXPECT_EQ(advertises(0, kSecond), 1u);
  EXPECT_EQ(advertises(kSecond, 16 * kSecond), 0u);
  EXPECT_EQ(advertises(16 * kSecond, 17 * kSecond), 1u);
  EXPECT_EQ(advertises(32 * kSecond, 33 * kSecond), 1u);
  EXPECT_EQ(advertises(33 * kSecond, 399 * kSecond), 0u);
}

std::vector<std::uint64_t> advertised(const MacAddress& mac, std::uint64_t seconds) {
  std::vector<std::uint64_t> at;
  for (std::uint64_t second = 0; second < seconds; ++second) {
    const Tick tick{.time_ns = (second + 1) * kSecond, .since_ns = second * kSecond};
    if (is_advertisement_due(mac, tick)) at.push_back(second + 1);
  }
  return at;
}

TEST(IsAdvertisementDue, ThreeTimesEarlyThenAtRandomWithinTheIntervalsOfRfc4861) {
  const std::vector<std::uint64_t> at = advertised(kLanMac, 100'000);
  ASSERT_GT(at.size(), 200u);
  EXPECT_THAT(std::vector(at.begin(), at.begin() + 3), ElementsAre(1, 17, 33));
  std::set<std::uint64_t> gaps;
  for (std::size_t i = 3; i < at.size(); ++i) {
    const std::uint64_t gap = at[i] - at[i - 1];
    EXPECT_LE(gap, 600u);
    if (i > 3) {
      EXPECT_GE(gap, 200u);
    }
    gaps.insert(gap);
  }
  EXPECT_GT(gaps.size(), 100u);
  const std::vector<std::uint64_t> other = advertised(kWanMac, 100'000);
  EXPECT_NE(at, other) << "two routers do not speak at one moment";
}

TEST(IsAdvertisementDue, ATickThatSpeaksForLongIsEnoughForOne) {
  for (const std::uint64_t hours : {1u, 24u, 24u * 365}) {
    const std::uint64_t end = hours * 3600 * kSecond;
    EXPECT_TRUE(is_advertisement_due(kLanMac, {.time_ns = end, .since_ns = end - 600 * kSecond}));
    EXPECT_TRUE(is_advertisement_due(kLanMac, {.time_ns = end, .since_ns = end / 2}));
  }
}

}  // namespace
}  // namespace millrace
