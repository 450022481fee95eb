// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/rule_routes.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/detect/rule_by_hand.hpp"

namespace millrace {
namespace {

using by_hand::content, by_hand::Rule;

ContentMatch placed(std::string bytes) {
  ContentMatch match = content(std::move(bytes));
  match.offset = RuleNumber{.value = 1};
  return match;
}

/// "dps": as a datagram, as a packet of TCP, in a stream; "t": with transactions.
std::string ways_of(const Signature& signature) {
  const RuleRoutes routes = routes_of(signature);
  std::string ways;
  if (routes.takes(PayloadOf::kDatagram)) ways += 'd';
  if (routes.takes(PayloadOf::kTcpPacket)) ways += 'p';
  if (routes.takes(PayloadOf::kStream)) ways += 's';
  return routes.transactions ? ways + 't' : ways;
}

TEST(RuleRoutes, AProtocolAndAContentDecideWhereARuleIsLookedAt) {
  EXPECT_EQ(ways_of(Rule(RuleProtocol::kTcp).asks(content("ab"))), "s");
  EXPECT_EQ(ways_of(Rule(RuleProtocol::kTcp).asks(placed("ab"))), "ps");
  EXPECT_EQ(ways_of(Rule(RuleProtocol::kTcpPacket).asks(content("ab"))), "p");
  EXPECT_EQ(ways_of(Rule(RuleProtocol::kTcpStream).asks(content("ab"))), "s");
  EXPECT_EQ(ways_of(Rule(RuleProtocol::kIp).asks(content("ab"))), "ds");
  EXPECT_EQ(ways_of(Rule(RuleProtocol::kIp).asks(placed("ab"))), "dps");
  EXPECT_EQ(ways_of(Rule(RuleProtocol::kUdp).asks(placed("ab"))), "d");
  EXPECT_EQ(ways_of(Rule(RuleProtocol::kIcmp).asks(content("ab"))), "d");
  EXPECT_EQ(ways_of(Rule(RuleProtocol::kHttp).asks(content("ab"))), "s");
  EXPECT_EQ(ways_of(Rule(RuleProtocol::kDns).asks(content("ab"))), "ds");
}

TEST(RuleRoutes, HeadersArePacketsAndOtherBuffersTransactions) {
  EXPECT_EQ(ways_of(Rule(RuleProtocol::kTcp)), "p");
  EXPECT_EQ(ways_of(Rule(RuleProtocol::kIp)), "dp");
  EXPECT_EQ(ways_of(Rule(RuleProtocol::kHttp)), "p");
  EXPECT_EQ(ways_of(Rule(RuleProtocol::kHttp).asks(content("ab"), RuleBuffer::kHttpUri)), "t");
  EXPECT_EQ(
      ways_of(
          Rule(RuleProtocol::kHttp).asks(content("ab")).asks(content("ab"), RuleBuffer::kHttpUri)),
      "t");
}

TEST(RuleRoutes, WithoutContentsTheLiteralOfAnExpressionIsTheGate) {
  const auto bytes_of = [](const Signature& signature) {
    const std::optional<RuleGate> gate = gate_of(signature);
    return gate ? gate->bytes : "(none)";
  };
  const PcreMatch pcre{.expression = "a.bcd"};
  EXPECT_EQ(bytes_of(Rule(RuleProtocol::kTcp).asks(pcre)), "bcd");
  EXPECT_EQ(bytes_of(Rule(RuleProtocol::kTcp).asks(content("x")).asks(pcre)), "bcd");
  EXPECT_EQ(bytes_of(Rule(RuleProtocol::kTcp).asks(content("xy")).asks(pcre).fast(0, 0)), "xy");
  EXPECT_EQ(bytes_of(Rule(RuleProtocol::kTcp).asks(PcreMatch{.expression = "a.b"})), "(none)");
  EXPECT_EQ(bytes_of(Rule(RuleProtocol::kTcp).asks(PcreMatch{.expression = "ab", .negated = true})),
            "(none)");
}

TEST(RuleRoutes, FlowSaysStreamsOrPacketsAlone) {
  Signature rule = Rule(RuleProtocol::kTcp).asks(placed("ab"));
  rule.flow.only_stream = true;
  EXPECT_EQ(ways_of(rule), "s");
  rule.flow = {};
  rule.flow.no_stream = true;
  EXPECT_EQ(ways_of(rule), "p");
  Signature sized = Rule(RuleProtocol::kTcp).asks(content("ab"));
  sized.packet.headers.push_back({HeaderField::kDataSize, {.low = 10}});
  EXPECT_EQ(ways_of(sized), "p");
}

TEST(RuleRoutes, TheGateIsTheFastPatternAndItsPartAlone) {
  Signature rule = Rule(RuleProtocol::kUdp).asks(content("longer one")).asks(content("abcd"));
  rule.fast_pattern = FastPattern{.buffer = 0, .test = 1, .offset = 1, .length = 2};
  const std::optional<RuleGate> part = gate_of(rule);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->bytes, "bc");
  EXPECT_FALSE(part->ends_content);
  rule.fast_pattern->length = 3;
  EXPECT_EQ(gate_of(rule)->bytes, "bcd");
  EXPECT_TRUE(gate_of(rule)->ends_content);
}

TEST(RuleRoutes, AnotherContentGatesWhereTheFastPatternCannot) {
  Signature rule = Rule(RuleProtocol::kUdp).asks(content("a")).asks(content("bcd")).fast(0, 0);
  EXPECT_EQ(gate_of(rule)->bytes, "bcd");
  rule.fast_pattern.reset();
  EXPECT_EQ(gate_of(rule)->test, 1);
  std::get<ContentMatch>(rule.buffers[0].tests[1]).negated = true;
  EXPECT_FALSE(gate_of(rule));
}

TEST(RuleRoutes, WithTransactionsThePayloadGatesNothing) {
  const Signature rule = Rule(RuleProtocol::kHttp)
                             .asks(content("of the payload"))
                             .asks(content("uri"), RuleBuffer::kHttpUri)
                             .fast(0, 0);
  ASSERT_TRUE(gate_of(rule));
  EXPECT_EQ(gate_of(rule)->bytes, "uri");
  const Signature sized = Rule(RuleProtocol::kHttp)
                              .asks(content("of the payload"))
                              .asks(BufferSize{.low = 3}, RuleBuffer::kHttpUri)
                              .fast(0, 0);
  EXPECT_FALSE(gate_of(sized));
}

TEST(RuleRoutes, OfALongLiteralTheEndIsTheGate) {
  const std::string bytes = std::string(100, 'a') + "end";
  const std::optional<RuleGate> gate = gate_of(Rule(RuleProtocol::kUdp).asks(content(bytes)));
  ASSERT_TRUE(gate);
  EXPECT_EQ(gate->bytes, bytes.substr(bytes.size() - kGateBytesMax));
}

}  // namespace
}  // namespace millrace
