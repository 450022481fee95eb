// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_alerts.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "shared/layout/batch_arena.hpp"
#include "shared/layout/event_text.hpp"
#include "tests/unit/services/functions/event_ring.hpp"
#include "tests/unit/services/functions/stream/tcp_frames.hpp"

namespace millrace {
namespace {

std::vector<EventRecord> records_of(const MatchedRule& rule, const AlertedPacket& packet,
                                    const AlertBytes& bytes = {}) {
  BatchArena arena(kBatchCapacityDefault);
  arena.add(segment(false, kAck, 1, 1, "data"));
  EventRingOfTest ring;
  const Batch batch = arena.batch();
  const BatchFacts facts{.port_in = 0};
  const FinishContext call{.batch = batch,
                           .selected = {},
                           .results = {},
                           .counters = {},
                           .state = {},
                           .facts = facts,
                           .events = ring.writer(batch)};
  Signature signature;
  signature.sid = 5;
  signature.gid = 6;
  signature.revision = 7;
  signature.priority = 2;
  tell_alert(call, packet, rule, signature, EventAction::kBlocked, bytes);
  return ring.told();
}

SignatureEvent told_of(const MatchedRule& rule, const AlertedPacket& packet) {
  const auto told = records_of(rule, packet);
  EXPECT_EQ(told.size(), 1u);
  EXPECT_EQ(told.at(0).kind, EventKind::kSignature);
  return told.at(0).signature;
}

TEST(IdsAlerts, SayWhichRuleItIs) {
  const SignatureEvent event = told_of({3, false, kNoTransaction}, {.packet = 0});
  EXPECT_EQ(event.rule, 3u);
  EXPECT_EQ(event.sid, 5u);
  EXPECT_EQ(event.gid, 6u);
  EXPECT_EQ(event.revision, 7u);
  EXPECT_EQ(event.priority, 2u);
  EXPECT_EQ(event.action, EventAction::kBlocked);
  EXPECT_EQ(event.direction, FlowDirection::kUnknown);
  EXPECT_EQ(event.scope, SignatureScope::kPacket);
  EXPECT_EQ(event.app[0], '\0');
}

TEST(IdsAlerts, SayWhatItWasLookingAt) {
  const AlertedPacket packet{
      .packet = 0, .direction = FlowDirection::kToClient, .app = AppProtocol::kHttp};
  EXPECT_EQ(told_of({3, true, kNoTransaction, false, 1}, packet).scope, SignatureScope::kStream);
  const SignatureEvent event = told_of({3, true, 9, false, 1}, packet);
  EXPECT_EQ(event.scope, SignatureScope::kTransaction);
  EXPECT_EQ(event.transaction.number(), 9u);
  EXPECT_EQ(event.direction, FlowDirection::kToClient);
  EXPECT_STREQ(event.app, "http");
}

TEST(IdsAlerts, AreAboutTheDataThatMatchAndNotAboutWhatDecidesIt) {
  const std::string payload = "data";
  AlertedPacket packet{.packet = 0,
                       .direction = FlowDirection::kToServer,
                       .payload = std::as_bytes(std::span(payload))};
  const EventRecord same = records_of({3, true, kNoTransaction}, packet).at(0);
  EXPECT_EQ(same.source_port, 40'000);
  EXPECT_EQ(same.destination_port, 80);
  const MatchedRule of_server{3, true, kNoTransaction, false, 1};
  const auto turned = records_of(of_server, packet, {.payload = 4});
  ASSERT_EQ(turned.size(), 1u) << "the payload is another direction's";
  EXPECT_EQ(turned[0].signature.direction, FlowDirection::kToClient);
  EXPECT_EQ(turned[0].source, same.destination);
  EXPECT_EQ(turned[0].destination, same.source);
  EXPECT_EQ(turned[0].source_port, 80);
  EXPECT_EQ(turned[0].destination_port, 40'000);
  EXPECT_EQ(turned[0].protocol, 6);
  EXPECT_EQ(turned[0].packet, 0);

  const Frame inner = segment(true, kAck, 1, 1, "in a tunnel", 50'000);
  PacketView view{.frame = inner, .headers = parse_headers(inner), .tuple = {}};
  packet.inner = &view;
  packet.direction = FlowDirection::kToClient;
  const EventRecord carried = records_of({3, true, kNoTransaction}, packet).at(0);
  EXPECT_EQ(carried.signature.direction, FlowDirection::kToServer);
  EXPECT_EQ(carried.source_port, 50'000);
  EXPECT_EQ(carried.destination_port, 80);
  EXPECT_EQ(carried.source, same.source);
  packet.direction = FlowDirection::kUnknown;
  EXPECT_FALSE(is_turned(packet, of_server)) << "of no flow";
}

TEST(IdsAlerts, OfATunnelHaveThePacketAround) {
  const Frame inner = segment(true, kAck, 1, 1, "in a tunnel", 50'000);
  const PacketView view{.frame = inner, .headers = parse_headers(inner), .tuple = {}};
  const AlertedPacket packet{.packet = 0, .inner = &view, .depth = 2};
  const auto records = records_of({3, false, kNoTransaction}, packet);
  std::span<const EventRecord> rest(records);
  EventLine line;
  next_line(rest, line);
  ASSERT_TRUE(line.is_whole && rest.empty());
  EXPECT_EQ(line.record.source_port, 80);
  EXPECT_EQ(line.record.destination_port, 50'000);
  std::span<const std::byte> text = line.text();
  const auto field = next_field(text);
  ASSERT_TRUE(field && text.empty());
  EXPECT_EQ(field->field, EventField::kTunnel);
  EventTunnel tunnel{};
  ASSERT_EQ(field->value.size(), sizeof tunnel);
  std::ranges::copy(field->value, std::as_writable_bytes(std::span(&tunnel, 1)).begin());
  EXPECT_EQ(tunnel.source, line.record.destination) << "the same hosts the other way";
  EXPECT_EQ(tunnel.source_port, 40'000);
  EXPECT_EQ(tunnel.destination_port, 80);
  EXPECT_EQ(tunnel.ip_version, 4);
  EXPECT_EQ(tunnel.protocol, 6);
  EXPECT_EQ(tunnel.depth, 2);
  const AlertedPacket datagram{.packet = 0, .inner = &view};
  EXPECT_EQ(records_of({3, false, kNoTransaction}, datagram).size(), 1u) << "put together";
}

TEST(IdsAlerts, HaveBytesOfTheirPacketsOnRequest) {
  const std::string payload = "data";
  const AlertedPacket packet{.packet = 0, .payload = std::as_bytes(std::span(payload))};
  const auto records = records_of({3, false, kNoTransaction}, packet, {.payload = 3, .packet = 60});
  std::span<const EventRecord> rest(records);
  EventLine line;
  next_line(rest, line);
  ASSERT_TRUE(line.is_whole && rest.empty());
  EXPECT_EQ(line.record.signature.sid, 5u);
  std::span<const std::byte> text = line.text();
  const auto first = next_field(text), second = next_field(text);
  ASSERT_TRUE(first && second && text.empty());
  EXPECT_EQ(first->field, EventField::kPayload);
  EXPECT_EQ(first->text(), "dat");
  EXPECT_TRUE(first->is_cut);
  EXPECT_EQ(second->field, EventField::kPacket);
  const Frame frame = segment(false, kAck, 1, 1, "data");
  const std::string_view whole(reinterpret_cast<const char*>(frame.data()), frame.size());
  EXPECT_EQ(second->text(), whole.substr(0, 60));
  const auto without = records_of({3, false, kNoTransaction}, {.packet = 0}, {.payload = 3});
  EXPECT_EQ(without.size(), 1u) << "a packet without payload";
}

}  // namespace
}  // namespace millrace
