// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/signature.hpp"

#include <gtest/gtest.h>

#include <random>

namespace millrace {
namespace {

Ipv6Bytes address_of(std::uint8_t first, std::uint8_t fourth, std::uint8_t last = 0) {
  Ipv6Bytes bytes{};
  bytes[0] = first;
  bytes[3] = fourth;
  bytes[15] = last;
  return bytes;
}

TEST(AddressSets, ContainWhatARangeOfTheVersionHas) {
  AddressSet set{false,
                 {{4, address_of(10, 1), address_of(10, 3)},
                  {4, address_of(10, 7), address_of(10, 7)},
                  {6, address_of(10, 5, 1), address_of(10, 5, 9)}}};
  for (std::uint8_t fourth = 0; fourth < 10; ++fourth) {
    const bool is_there = (fourth >= 1 && fourth <= 3) || fourth == 7;
    EXPECT_EQ(set.contains(4, address_of(10, fourth)), is_there) << int{fourth};
    // Of IPv4 the first four bytes count.
    EXPECT_EQ(set.contains(4, address_of(10, fourth, 200)), is_there) << int{fourth};
  }
  EXPECT_FALSE(set.contains(6, address_of(10, 2)));
  EXPECT_FALSE(set.contains(6, address_of(10, 5, 0)));
  EXPECT_TRUE(set.contains(6, address_of(10, 5, 9)));
  EXPECT_FALSE(set.contains(6, address_of(10, 5, 10)));
  EXPECT_TRUE(AddressSet{}.contains(6, address_of(1, 2)));
  EXPECT_FALSE((AddressSet{false, {}}.contains(4, address_of(1, 2))));
}

TEST(PortSets, ContainWhatARangeHas) {
  std::mt19937 random(7);
  PortSet set{false, {}};
  std::uint32_t port = 0;
  while (port < 60000) {
    const std::uint32_t low = port + random() % 500 + 2, high = low + random() % 300;
    set.ranges.emplace_back(static_cast<std::uint16_t>(low), static_cast<std::uint16_t>(high));
    port = high;
  }
  for (port = 0; port <= UINT16_MAX; ++port) {
    bool is_there = false;
    for (const auto& [low, high] : set.ranges) is_there = is_there || (low <= port && port <= high);
    ASSERT_EQ(set.contains(static_cast<std::uint16_t>(port)), is_there) << port;
  }
  EXPECT_TRUE(PortSet{}.contains(0));
}

TEST(BitsTests, PassByHow) {
  using How = BitsTest::How;
  EXPECT_TRUE((BitsTest{How::kExactly, 2, 0}.passes(2)));
  EXPECT_FALSE((BitsTest{How::kExactly, 2, 0}.passes(0x82)));
  EXPECT_TRUE((BitsTest{How::kExactly, 2, 0xc0}.passes(0x82)));
  EXPECT_TRUE((BitsTest{How::kAllOf, 3, 0}.passes(7)));
  EXPECT_FALSE((BitsTest{How::kAllOf, 3, 0}.passes(5)));
  EXPECT_TRUE((BitsTest{How::kAnyOf, 3, 0}.passes(5)));
  EXPECT_FALSE((BitsTest{How::kAnyOf, 3, 0}.passes(4)));
  EXPECT_TRUE((BitsTest{How::kNoneOf, 3, 0}.passes(4)));
  EXPECT_FALSE((BitsTest{How::kNoneOf, 3, 0}.passes(1)));
}

/// Packets, streams, transactions: "p", "s", "t".
std::string looks_of(const Signature& rule) {
  return std::string(rule.looks_at_packets() ? "p" : "") + (rule.looks_at_streams() ? "s" : "") +
         (rule.looks_at_transactions() ? "t" : "");
}
Signature rule_of(RuleProtocol protocol) {
  Signature rule;
  rule.protocol = protocol;
  return rule;
}
Signature with_content(RuleProtocol protocol, RuleBuffer buffer, bool has_place = false) {
  Signature rule = rule_of(protocol);
  ContentMatch content;
  content.bytes = "a";
  if (has_place) content.depth = RuleNumber{4};
  rule.buffers.push_back({buffer, {}, {content}});
  return rule;
}

TEST(Signatures, WithoutContentsLookAtPacketsOrTransactions) {
  EXPECT_EQ(looks_of(rule_of(RuleProtocol::kIp)), "p");
  EXPECT_EQ(looks_of(rule_of(RuleProtocol::kTcp)), "p");
  EXPECT_EQ(looks_of(rule_of(RuleProtocol::kHttp)), "t");
}

TEST(Signatures, WithContentsLookAtWhatTheProtocolCarries) {
  EXPECT_EQ(looks_of(with_content(RuleProtocol::kTcp, RuleBuffer::kPayload)), "s");
  EXPECT_EQ(looks_of(with_content(RuleProtocol::kTcp, RuleBuffer::kPayload, true)), "ps");
  EXPECT_EQ(looks_of(with_content(RuleProtocol::kTcpStream, RuleBuffer::kPayload, true)), "s");
  EXPECT_EQ(looks_of(with_content(RuleProtocol::kTcpPacket, RuleBuffer::kPayload)), "p");
  EXPECT_EQ(looks_of(with_content(RuleProtocol::kUdp, RuleBuffer::kPayload)), "p");
  EXPECT_EQ(looks_of(with_content(RuleProtocol::kIp, RuleBuffer::kPayload)), "ps");
  EXPECT_EQ(looks_of(with_content(RuleProtocol::kDns, RuleBuffer::kPayload)), "pst");
  EXPECT_EQ(looks_of(with_content(RuleProtocol::kSmtp, RuleBuffer::kPayload)), "st");
  EXPECT_EQ(looks_of(with_content(RuleProtocol::kTcp, RuleBuffer::kHttpUri)), "t");
  EXPECT_EQ(looks_of(with_content(RuleProtocol::kTcp, RuleBuffer::kHttpUri, true)), "t");
}

TEST(Signatures, ThatTestHeadersLookAtNoStream) {
  Signature rule = with_content(RuleProtocol::kTcp, RuleBuffer::kPayload);
  rule.packet.headers.push_back({HeaderField::kDataSize, {0, 10, false}});
  EXPECT_EQ(looks_of(rule), "p");
  rule.packet = {};
  rule.flow.no_stream = true;
  EXPECT_EQ(looks_of(rule), "p");
  rule = with_content(RuleProtocol::kTcp, RuleBuffer::kPayload, true);
  rule.flow.only_stream = true;
  EXPECT_EQ(looks_of(rule), "s");
}

TEST(Signatures, OfAHeadAloneHoldForTheFlow) {
  EXPECT_TRUE(rule_of(RuleProtocol::kIp).looks_at_heads_only());
  EXPECT_TRUE(rule_of(RuleProtocol::kTcp).looks_at_heads_only());
  for (const RuleProtocol protocol :
       {RuleProtocol::kTcpPacket, RuleProtocol::kTcpStream, RuleProtocol::kHttp}) {
    EXPECT_FALSE(rule_of(protocol).looks_at_heads_only());
  }
  EXPECT_FALSE(with_content(RuleProtocol::kUdp, RuleBuffer::kPayload).looks_at_heads_only());
  Signature rule = rule_of(RuleProtocol::kTcp);
  rule.flowbits.push_back({FlowbitTest::What::kSet, {1}});
  EXPECT_TRUE(rule.looks_at_heads_only());
  rule.flowbits.push_back({FlowbitTest::What::kIsSet, {2}});
  EXPECT_FALSE(rule.looks_at_heads_only()) << "bits change";
  rule = rule_of(RuleProtocol::kTcp);
  rule.flow.to_server = true;
  EXPECT_FALSE(rule.looks_at_heads_only());
  rule = rule_of(RuleProtocol::kIp);
  rule.packet.headers.push_back({HeaderField::kTtl, {0, 10, false}});
  EXPECT_FALSE(rule.looks_at_heads_only());
}

}  // namespace
}  // namespace millrace
