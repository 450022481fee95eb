// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_alerts.hpp"

#include <gtest/gtest.h>

#include <string>

#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/event_ring.hpp"
#include "tests/unit/services/functions/stream/tcp_frames.hpp"

namespace millrace {
namespace {

SignatureEvent told_of(const MatchedRule& rule, const AlertedPacket& packet) {
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
  tell_alert(call, packet, rule, signature, EventAction::kBlocked);
  const auto told = ring.told();
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
  EXPECT_EQ(told_of({3, true, kNoTransaction}, packet).scope, SignatureScope::kStream);
  const SignatureEvent event = told_of({3, true, 9}, packet);
  EXPECT_EQ(event.scope, SignatureScope::kTransaction);
  EXPECT_EQ(event.transaction.number(), 9u);
  EXPECT_EQ(event.direction, FlowDirection::kToClient);
  EXPECT_STREQ(event.app, "http");
}

}  // namespace
}  // namespace millrace
