// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/answer_routes.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/services/functions/route/router_fixture.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kGateway = 0xc0000201;  // 192.0.2.1
constexpr MacAddress kGatewayMac = {2, 0, 0, 0, 0, 0x77};

/// Its answers go by the table, and it has a table of neighbours.
struct Answering {
  /// An echo request from `source` to the address of lan, which came in by lan.
  explicit Answering(std::uint32_t source, bool knows_gateway = true) {
    if (knows_gateway) {
      neighbours.learn(neighbour_of(1, kGateway), kGatewayMac, neighbour_ms(kRouteNowNs),
                       {.only_update = false, .overrides = true, .confirms = true});
    }
    RouteFrame frame = make_frame({.source = source, .destination = kLanIpv4});
    frame[23] = std::byte{1};
    frame[34] = std::byte{8};
    put16(frame, 24, header_checksum(frame));
    put16(frame, 36, 0);
    put16(frame, 36, slow_checksum(frame, 34));
    routed.emplace(routes, addressed(frame, 0x0a), 0, two_ports(), &neighbours);
  }

  BuiltRoutes routes{"10.2.0.0/16 wan via 192.0.2.1\n", two_ports(), "true"};
  NeighbourMemory memory;
  NeighbourTableView neighbours = memory.table();
  std::optional<Routed> routed;
};

TEST(AnswerRoutes, AnAnswerLeavesByItsRoute) {
  const Answering answering(0x0a020007);
  EXPECT_TRUE(answering.routed->is_answer(Reason::kReply, 1));
  EXPECT_EQ(answering.routed->hex().substr(0, 24),
            "020000000077"
            "02000000000b");
}

TEST(AnswerRoutes, AnAnswerWaitsForItsNeighbour) {
  const Answering answering(0x0a020007, false);
  EXPECT_TRUE(answering.routed->is_consumed_for(Reason::kHeld));
  EXPECT_TRUE(answering.routed->has_record(1, SideKind::kHold, 1, Reason::kHeld) ||
              answering.routed->has_record(0, SideKind::kHold, 1, Reason::kHeld));
}

TEST(AnswerRoutes, ASourceWithoutRouteIsNotAnswered) {
  const Answering answering(0xac100009);
  EXPECT_TRUE(answering.routed->is_dropped_for(numbered(RouteReason::kNoRoute)));
  EXPECT_TRUE(answering.routed->records().empty());
}

TEST(AnswerRoutes, AnUnknownNeighbourOfTheSameLinkIsNotAskedFor) {
  const Answering answering(0x0a010005);
  EXPECT_TRUE(answering.routed->is_answer(Reason::kReply, 0));
  EXPECT_EQ(answering.routed->hex().substr(0, 24), "02a5a5a5a5a502000000000a");
  EXPECT_TRUE(answering.routed->records().empty());
}

TEST(AnswerRoutes, OfALinkLocalAddressTheLinkCounts) {
  RouterParts parts;
  parts.take(make_frame({}));
  parts.learn(neighbour_of(0, 0xa9fe0005), kGatewayMac);
  const BuiltRoutes routes("", two_ports(), "true");
  const AnswerRoutes answers(routes.table(), two_ports(), parts.ports, parts.hops);
  const auto way = answers.way_to(parts.call(), 0, kStationMac, 0xa9fe0005);
  ASSERT_TRUE(way);
  EXPECT_EQ(way->port, 0);
  EXPECT_EQ(way->neighbour, neighbour_of(0, 0xa9fe0005));
}

TEST(AnswerRoutes, WithoutTablesAnAnswerGoesBackToTheStation) {
  RouterParts parts;
  parts.take(make_frame({}));
  const auto way = parts.answers.way_to(parts.call(), 0, kStationMac, 0xac100009);
  ASSERT_TRUE(way);
  EXPECT_EQ(way->port, 0);
  EXPECT_EQ(way->mac, kStationMac);
}

}  // namespace
}  // namespace millrace
