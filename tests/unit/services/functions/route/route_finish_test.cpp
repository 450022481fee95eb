// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_finish.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "services/functions/route/route.hpp"
#include "services/functions/route/route_compute.hpp"
#include "shared/base/error.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/route/route_fixture.hpp"
#include "tests/unit/services/functions/route/route_packet.hpp"

namespace millrace {
namespace {

using testing::HasSubstr;

const BuiltRoutes& routes() {
  static const BuiltRoutes kRoutes(
      "10.2.0.0/16 wan 02:00:00:00:00:02\n10.3.0.0/16 lan 02:00:00:00:00:03\n10.4.0.0/16 drop\n"
      "2001:db8:2::/48 wan 02:00:00:00:00:02\n");
  return kRoutes;
}

std::vector<RouteRewrite> hops() { return resolve_hops(routes().table(), two_ports()); }

std::uint32_t hop_to(std::uint32_t address) { return routes().table().look_up(address); }

struct Finished {
  explicit Finished(const std::vector<std::byte>& frame, std::uint32_t word) {
    arena.add(frame);
    const std::uint16_t packet = 0;
    route_finish(
        hops(),
        {arena.batch(), {{&packet, 1}}, {&word, 1}, {hits}, {}, {}, {}, route_reason_numbers()});
  }
  Batch batch() const { return arena.batch(); }
  Reason reason() const { return static_cast<Reason>(batch().reason[0]); }
  BatchArena arena;
  std::vector<std::uint64_t> hits = std::vector<std::uint64_t>(8);
};

TEST(RouteFinish, AForwardedPacketHasNewAddressesOneHopLessAndAGoodChecksum) {
  const std::vector<std::byte> frame = make_frame({});
  const std::uint32_t hop = hop_to(0x0a020007);
  const Finished done(frame, hop);
  ASSERT_TRUE(done.batch().goes_on(0));
  std::vector<std::byte> expected = frame;
  const std::uint8_t macs[] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0x0b};
  std::memcpy(expected.data(), macs, sizeof macs);
  expected[22] = std::byte{63};
  put16(expected, 24, header_checksum(expected));
  const auto bytes = done.batch().bytes(0);
  EXPECT_TRUE(std::ranges::equal(bytes, expected));
  EXPECT_EQ(done.batch().output[0], 1);
  EXPECT_EQ(done.hits[hop], 1u);
}

TEST(RouteFinish, TheChecksumIsRightForEveryValueItCanHave) {
  // Identification runs through all values, so the checksum does too.
  BatchArena arena;
  const std::vector<RouteRewrite> rewrites = hops();
  const std::uint16_t packet = 0;
  const std::uint32_t word = hop_to(0x0a020007);
  std::vector<bool> seen(1 << 16);
  for (const std::uint8_t ttl : {2, 64, 255}) {
    for (std::uint32_t identification = 0; identification < 1 << 16; ++identification) {
      FrameSpec spec;
      spec.ttl = ttl;
      std::vector<std::byte> frame = make_frame(spec);
      put16(frame, 18, identification);
      put16(frame, 24, header_checksum(frame));
      seen[header_checksum(frame)] = true;
      arena.clear();
      arena.add(frame);
      route_finish(rewrites, {arena.batch(), {{&packet, 1}}, {&word, 1}, {}, {}, {}});
      frame[22] = std::byte(ttl - 1);
      put16(frame, 24, header_checksum(frame));
      ASSERT_EQ(std::memcmp(arena.batch().data(0) + 22, &frame[22], 4), 0) << identification;
    }
  }
  EXPECT_GE(std::ranges::count(seen, true), 65'535);
}

TEST(RouteFinish, AForwardedIpv6PacketHasNewAddressesAndOneHopLess) {
  const std::vector<std::byte> frame = make_ipv6_frame({.hop_limit = 2});
  const std::uint32_t hop = routes().table().ipv6.look_up(Ipv6FrameSpec{}.destination);
  const Finished done(frame, kRouteIpv6 | hop);
  ASSERT_TRUE(done.batch().goes_on(0));
  std::vector<std::byte> expected = frame;
  const std::uint8_t macs[] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0x0b};
  std::memcpy(expected.data(), macs, sizeof macs);
  expected[21] = std::byte{1};
  EXPECT_TRUE(std::ranges::equal(done.batch().bytes(0), expected));
  EXPECT_EQ(done.batch().output[0], 1);
  EXPECT_EQ(done.hits[hop], 1u);
}

TEST(RouteFinish, AnIpv6PacketIsDroppedForTheReasonsOfIpv4) {
  const std::vector<std::byte> frame = make_ipv6_frame({});
  const std::uint32_t hop = routes().table().ipv6.look_up(Ipv6FrameSpec{}.destination);
  const Finished no_route(frame, kRouteIpv6 | kHopDefaultIpv6);
  EXPECT_EQ(no_route.reason(), numbered(RouteReason::kNoRoute));
  EXPECT_EQ(no_route.hits[kHopDefaultIpv6], 1u);
  EXPECT_TRUE(std::ranges::equal(no_route.batch().bytes(0), frame));
  EXPECT_EQ(Finished(frame, kRouteIpv6 | kHopOwn).reason(), numbered(RouteReason::kOwnAddress));
  EXPECT_EQ(Finished(frame, kRouteIpv6 | kRouteTtlExpired | hop).reason(),
            numbered(RouteReason::kTtlExpired));
  EXPECT_EQ(Finished(frame, kRouteIpv6 | kRouteTtlExpired | kHopOwn).reason(),
            numbered(RouteReason::kOwnAddress));
  EXPECT_EQ(Finished(frame, kRouteIpv6 | 77u).reason(), Reason::kUnavailable);
}

TEST(RouteFinish, ADroppedPacketKeepsItsBytesAndGetsTheReason) {
  const std::vector<std::byte> frame = make_frame({});
  const Finished checked(frame, kRouteDrop | static_cast<std::uint32_t>(RouteReason::kBadChecksum));
  EXPECT_EQ(checked.reason(), numbered(RouteReason::kBadChecksum));
  EXPECT_THAT(checked.hits, testing::Each(0u));
  EXPECT_TRUE(std::ranges::equal(checked.batch().bytes(0), frame));
  EXPECT_EQ(checked.batch().output[0], kOutputDefault);

  EXPECT_EQ(Finished(frame, kHopDefault).reason(), numbered(RouteReason::kNoRoute));
  EXPECT_EQ(Finished(frame, kHopOwn).reason(), numbered(RouteReason::kOwnAddress));
  EXPECT_EQ(Finished(frame, kHopBroadcast).reason(), numbered(RouteReason::kNotUnicast));
  EXPECT_EQ(Finished(frame, hop_to(0x0a040001)).reason(), numbered(RouteReason::kNoRoute));
}

TEST(RouteFinish, AnExpiredPacketIsExpiredOnlyIfItHadSomewhereToGo) {
  const std::vector<std::byte> frame = make_frame({.ttl = 1});
  const Finished expired(frame, kRouteTtlExpired | hop_to(0x0a020007));
  EXPECT_EQ(expired.reason(), numbered(RouteReason::kTtlExpired));
  EXPECT_THAT(expired.hits, testing::Each(0u));
  const Finished for_us(frame, kRouteTtlExpired | kHopOwn);
  EXPECT_EQ(for_us.reason(), numbered(RouteReason::kOwnAddress));
  EXPECT_EQ(for_us.hits[kHopOwn], 1u);
}

TEST(RouteFinish, AWordThatNoComputeWritesDropsItsPacketAndNothingElse) {
  const std::vector<std::byte> frame = make_frame({});
  for (const std::uint32_t word : {kRouteHopMask, std::uint32_t{7}, kRouteTtlExpired | 77u,
                                   kRouteDrop | 200u, kRouteDrop | kRouteHopMask, ~0u}) {
    const Finished done(frame, word);
    EXPECT_FALSE(done.batch().goes_on(0));
    EXPECT_EQ(done.reason(), Reason::kUnavailable) << word;
  }
}

TEST(RouteFinish, APacketOfAGroupGoesToOneMemberAndCountsAtBoth) {
  const BuiltRoutes routes(
      "10.2.0.0/16 wan 02:00:00:00:00:02, lan 02:00:00:00:00:03\n"
      "2001:db8:2::/48 wan 02:00:00:00:00:02, lan 02:00:00:00:00:03\n");
  const RouteGroups groups(routes.table(), 5);
  const std::vector<RouteRewrite> rewrites = resolve_hops(routes.table(), two_ports());
  const std::uint32_t group = routes.table().look_up(0x0a020007);
  std::vector<std::uint64_t> hits(routes.report().counter_count), sent(2);
  BatchArena arena;
  const std::uint16_t packet = 0;
  for (std::uint32_t flow = 0; flow < 200; ++flow) {
    const bool is_ipv6 = flow % 2 == 1;
    const std::vector<std::byte> frame =
        is_ipv6 ? make_ipv6_frame({.source = {0x20010db8'00000000, flow}})
                : make_frame({.source = 0x0a010000 + flow});
    arena.clear();
    arena.add(frame);
    const std::uint32_t word = group | (is_ipv6 ? kRouteIpv6 : 0);
    route_finish(
        rewrites,
        {arena.batch(), {{&packet, 1}}, {&word, 1}, {hits}, {}, {}, {}, route_reason_numbers()},
        nullptr, groups);
    ASSERT_TRUE(arena.batch().goes_on(0));
    const std::uint8_t port = arena.batch().output[0];
    EXPECT_EQ(std::to_integer<int>(arena.batch().data(0)[5]), port == 1 ? 2 : 3);
    EXPECT_EQ(std::to_integer<int>(arena.batch().data(0)[11]), port == 1 ? 0x0b : 0x0a);
    EXPECT_EQ(std::to_integer<int>(arena.batch().data(0)[is_ipv6 ? 21 : 22]), 63);
    ++sent.at(port);
  }
  EXPECT_GT(sent[0], 60u);
  EXPECT_GT(sent[1], 60u);
  EXPECT_EQ(hits[group], 200u);
  EXPECT_EQ(hits[kHopFirst], sent[1]);
  EXPECT_EQ(hits[kHopFirst + 1], sent[0]);
}

TEST(RouteFinish, AGroupThatNobodyKnowsDropsItsPacket) {
  const BuiltRoutes routes("10.2.0.0/16 wan 02:00:00:00:00:02, lan 02:00:00:00:00:03\n");
  const std::vector<RouteRewrite> rewrites = resolve_hops(routes.table(), two_ports());
  BatchArena arena;
  arena.add(make_frame({}));
  const std::uint16_t packet = 0;
  const std::uint32_t word = routes.table().look_up(0x0a020007);
  route_finish(rewrites, {arena.batch(), {{&packet, 1}}, {&word, 1}, {}, {}, {}});
  EXPECT_FALSE(arena.batch().goes_on(0));
  EXPECT_EQ(arena.batch().reason[0], static_cast<std::uint8_t>(Reason::kUnavailable));
}

TEST(RouteFinish, AnExpiredPacketOfAGroupIsExpired) {
  const BuiltRoutes routes("10.2.0.0/16 wan 02:00:00:00:00:02, lan 02:00:00:00:00:03\n");
  const std::vector<RouteRewrite> rewrites = resolve_hops(routes.table(), two_ports());
  std::vector<std::uint64_t> hits(routes.report().counter_count);
  BatchArena arena;
  arena.add(make_frame({.ttl = 1}));
  const std::uint16_t packet = 0;
  const std::uint32_t word = routes.table().look_up(0x0a020007) | kRouteTtlExpired;
  route_finish(
      rewrites,
      {arena.batch(), {{&packet, 1}}, {&word, 1}, {hits}, {}, {}, {}, route_reason_numbers()},
      nullptr, {routes.table(), 5});
  EXPECT_EQ(arena.batch().reason[0], static_cast<std::uint8_t>(numbered(RouteReason::kTtlExpired)));
  EXPECT_THAT(hits, testing::Each(0u));
}

TEST(RouteFinish, PortsAreFoundByNameAtTheirPlaceInTheTopology) {
  auto ports = two_ports();
  std::swap(ports[0], ports[1]);
  const std::vector<RouteRewrite> rewrites = resolve_hops(routes().table(), ports);
  EXPECT_EQ(rewrites[hop_to(0x0a020001)].output, 0);
  EXPECT_EQ(rewrites[hop_to(0x0a020001)].macs[11], 0x0b);
  ports.pop_back();
  EXPECT_THROW(resolve_hops(routes().table(), ports), Error);
  ports = two_ports();
  ports[1].mac = "x";
  EXPECT_THROW(resolve_hops(routes().table(), ports), Error);
}

TEST(Route, RunsFromItsRowOfTheTable) {
  const FunctionType type = route_type();
  const auto function = type.make(routes().context());
  BatchArena arena;
  arena.add(make_frame({}));
  arena.add(make_frame({.destination = 0x0a030001}));
  arena.add(make_frame({.destination = 0x0b000001}));
  const Batch batch = arena.batch();
  const std::uint16_t packets[] = {0, 1, 2};
  std::vector<std::uint64_t> hits(routes().report().counter_count);
  function->compute(batch, {packets}, batch.results(0));
  function->finish({batch, {packets}, batch.results(0), {hits}, {}, {}});
  EXPECT_EQ(batch.output[0], 1);
  EXPECT_EQ(batch.output[1], 0);
  EXPECT_FALSE(batch.goes_on(2));
  EXPECT_EQ(hits[kHopDefault], 1u);
}

TEST(Route, APacketOfAVlanTakesOneOfSeveralNextHopsToo) {
  std::vector<PlanPort> ports = two_ports();
  ports.push_back({.name = "office",
                   .device = "vlan",
                   .settings = {{"id", "10"}, {"link", "lan"}},
                   .mac = "02:00:00:00:00:0c",
                   .addresses = {"10.7.0.1/24"}});
  const BuiltRoutes tagged("10.2.0.0/16 wan 02:00:00:00:00:02, wan 02:00:00:00:00:09\n", ports,
                           "true");
  const auto function = route_type().make(tagged.context());
  std::vector<std::byte> frame = make_frame({});
  const std::byte tag[] = {std::byte{0x81}, std::byte{0}, std::byte{0}, std::byte{10}};
  frame.insert(frame.begin() + 12, std::begin(tag), std::end(tag));
  BatchArena arena;
  arena.add(frame);
  const Batch batch = arena.batch();
  const std::uint16_t packet = 0;
  std::vector<std::uint64_t> hits(tagged.report().counter_count);
  const BatchFacts facts{.port_in = 0};
  function->compute(batch, {{&packet, 1}}, batch.results(0));
  function->finish({batch, {{&packet, 1}}, batch.results(0), {hits}, {}, facts});
  ASSERT_TRUE(batch.goes_on(0));
  EXPECT_EQ(batch.output[0], 1);
  EXPECT_EQ(hits[kHopFirst] + hits[kHopFirst + 1], 1u);
  EXPECT_EQ(hits[tagged.table().look_up(0x0a020007)], 1u);
}

TEST(Route, APortOfASettingThatDoesNotExistIsRefusedBeforeAWorkerStarts) {
  PlanFunction function = routes().context().function;
  const std::vector<PlanPort> ports = two_ports();
  const auto refusal = [&](const std::string& key, const std::string& port) -> std::string {
    function.settings = {{"table", "/dev/null"}, {key, "lan"}, {key, port}};
    try {
      route_type().build({.function = function, .ports = ports});
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(refusal("proxy_arp", "dmz"), HasSubstr("proxy_arp: no port 'dmz' in the topology"));
  EXPECT_THAT(refusal("advertise", "dmz"), HasSubstr("advertise: no port 'dmz' in the topology"));
  EXPECT_THAT(refusal("advertise", "wan"), HasSubstr("port 'wan' has 0 networks of IPv6"));
}

TEST(Route, RefusesSettingsThatAreNotItsOwn) {
  const auto error_of = [](const Settings& settings) -> std::string {
    PlanFunction function;
    function.settings = settings;
    try {
      route_type().check(function);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of({{"table", "a"}, {"table", "b"}}), "no error");
  EXPECT_THAT(error_of({}), HasSubstr("table is missing"));
  EXPECT_THAT(error_of({{"table", ""}}), HasSubstr("path"));
  EXPECT_THAT(error_of({{"tabel", "a"}}), HasSubstr("tabel: route has no such setting"));
}

}  // namespace
}  // namespace millrace
