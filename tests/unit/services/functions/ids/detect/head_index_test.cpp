// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/head_index.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/detect/packet_by_hand.hpp"
#include "tests/unit/services/functions/ids/detect/rule_by_hand.hpp"

namespace millrace {
namespace {

using by_hand::content, by_hand::Packet, by_hand::Rule;

TEST(HeadIndex, APacketMeetsTheRulesOfItsProtocolThatHaveNoBuffers) {
  Signature only_stream = Rule(RuleProtocol::kTcp);
  only_stream.flow.only_stream = true;
  const std::vector<Signature> rules{
      Rule(RuleProtocol::kTcp),  Rule(RuleProtocol::kUdp),
      Rule(RuleProtocol::kIcmp), Rule(RuleProtocol::kSctp),
      Rule(RuleProtocol::kIp),   Rule(RuleProtocol::kTcp).asks(content("abc")),
      Rule(RuleProtocol::kTls),  only_stream,
      Rule(RuleProtocol::kDns),  Rule(RuleProtocol::kTcpPacket),
  };
  const HeadIndex index(rules);
  const auto met_by = [&](Packet packet, AppProtocol app) {
    packet.app = app;
    Candidates found;
    index.find(packet.view(), found);
    std::ranges::sort(found);
    return found;
  };
  EXPECT_EQ(met_by(Packet::tcp(""), AppProtocol::kUnknown), (Candidates{0, 4, 9}));
  EXPECT_EQ(met_by(Packet::tcp(""), AppProtocol::kTls), (Candidates{0, 4, 6, 9}));
  EXPECT_EQ(met_by(Packet::udp(""), AppProtocol::kDns), (Candidates{1, 4, 8}));
  EXPECT_EQ(met_by(Packet(FrameBuilder().ipv4(1, 8).padding(8)), AppProtocol::kUnknown),
            (Candidates{2, 4}));
  EXPECT_EQ(met_by(Packet(FrameBuilder().ipv6(58, 8).padding(8)), AppProtocol::kUnknown),
            (Candidates{2, 4}));
  EXPECT_EQ(met_by(Packet(FrameBuilder().ipv4(132, 12).padding(12)), AppProtocol::kUnknown),
            (Candidates{3, 4}));
  EXPECT_EQ(met_by(Packet(FrameBuilder().ipv4(47, 12).padding(12)), AppProtocol::kUnknown),
            (Candidates{4}));
}

}  // namespace
}  // namespace millrace
