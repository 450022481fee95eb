// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_head.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

Signature head_of(const std::string& head) {
  Signature rule;
  read_rule_head(split_rule(head + " (sid:1;)").head, {}, rule);
  return rule;
}
std::string head_refusal(const std::string& head) {
  try {
    head_of(head);
  } catch (const RuleRefused& refused) {
    return refused.keyword + refused.reason;
  }
  return "";
}

TEST(RuleHeads, NameAnAction) {
  EXPECT_EQ(head_of("alert ip any any -> any any").action, RuleAction::kAlert);
  EXPECT_EQ(head_of("block ip any any -> any any").action, RuleAction::kDrop);
  EXPECT_EQ(head_of("pass ip any any -> any any").action, RuleAction::kPass);
  const Signature both = head_of("rejectboth tcp any any -> any any");
  EXPECT_EQ(both.action, RuleAction::kReject);
  EXPECT_EQ(both.reject_to, RejectTo::kBoth);
  EXPECT_EQ(head_of("reject tcp any any -> any any").reject_to, RejectTo::kSource);
  EXPECT_EQ(head_of("rejectdst tcp any any -> any any").reject_to, RejectTo::kDestination);
  for (const char* word : {"log", "sdrop", "ALERT", "config"}) {
    EXPECT_EQ(head_refusal(std::string(word) + " ip any any -> any any").substr(0, 12),
              "the action '");
  }
}

TEST(RuleHeads, NameAProtocol) {
  EXPECT_EQ(head_of("alert IP any any -> any any").protocol, RuleProtocol::kIp);
  EXPECT_EQ(head_of("alert tcp-pkt any any -> any any").protocol, RuleProtocol::kTcpPacket);
  EXPECT_EQ(head_of("alert ssl any any -> any any").protocol, RuleProtocol::kTls);
  EXPECT_EQ(head_of("alert http").protocol, RuleProtocol::kHttp);
  EXPECT_EQ(head_of("alert file").protocol, RuleProtocol::kHttp);
  EXPECT_EQ(head_of("alert http1").protocol, RuleProtocol::kHttp1);
  EXPECT_EQ(head_of("alert http2").protocol, RuleProtocol::kHttp2);
  for (const char* word : {"http3", "pkthdr", "dcerpc", "tls:client_hello_done", "ip5", "http4"}) {
    EXPECT_EQ(head_refusal("alert " + std::string(word) + " any any -> any any").substr(0, 14),
              "the protocol '")
        << word;
  }
}

TEST(RuleHeads, OfAVersionLeaveItsAddresses) {
  const Signature rule = head_of("alert icmpv6 any any -> any any");
  EXPECT_EQ(rule.protocol, RuleProtocol::kIcmp);
  EXPECT_TRUE(rule.source.contains(6, {}));
  EXPECT_FALSE(rule.source.contains(4, {}));
  EXPECT_TRUE(head_of("alert tcp4 any any -> any any").destination.contains(4, {}));
  EXPECT_EQ(head_refusal("alert ipv4 ::1 any -> any any"),
            "none of its addresses is of IPv4, which its protocol is");
}

TEST(RuleHeads, NameEndsAndADirection) {
  const Signature rule = head_of("alert udp 10.0.0.1 [1:5,!3] <> any 53");
  EXPECT_TRUE(rule.both_ways);
  EXPECT_TRUE(rule.source_ports.contains(4));
  EXPECT_FALSE(rule.source_ports.contains(3));
  EXPECT_TRUE(rule.destination_ports.contains(53));
  EXPECT_FALSE(rule.source.is_any);
  EXPECT_TRUE(rule.destination.is_any);
  EXPECT_EQ(head_refusal("alert udp any any <- any any"),
            "the direction '<-' is none of '->', '<>'");
}

}  // namespace
}  // namespace millrace
