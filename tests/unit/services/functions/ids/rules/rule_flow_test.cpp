// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;

TEST(RuleFlow, FlowHasADirectionAndAState) {
  FlowTest flow = signature_of("flow:established, to_server;").flow;
  EXPECT_TRUE(flow.established && flow.to_server);
  EXPECT_FALSE(flow.to_client || flow.not_established || flow.only_stream || flow.no_stream);
  EXPECT_TRUE(signature_of("flow:from_client;").flow.to_server);
  EXPECT_TRUE(signature_of("flow:from_server;").flow.to_client);
  flow = signature_of("flow:to_client,not_established,no_stream,no_frag;").flow;
  EXPECT_TRUE(flow.to_client && flow.not_established && flow.no_stream && flow.no_fragments);
  flow = signature_of("flow:stateless,only_stream;").flow;
  EXPECT_TRUE(flow.only_stream);
  EXPECT_FALSE(flow.established || flow.not_established);
  EXPECT_TRUE(signature_of("flow:only_frag;").flow.only_fragments);
}

TEST(RuleFlow, ContradictionsAreRefused) {
  expect_refused({
      {"flow:to_server,from_server;", "contradicts"},
      {"flow:to_server,from_client;", "twice"},
      {"flow:established,not_established;", "contradicts"},
      {"flow:stateless,established;", "contradicts"},
      {"flow:only_stream,no_stream;", "contradicts"},
      {"flow:sideways;", "'sideways' is not known"},
      {"flow:to_server; flow:established;", "twice"},
      {"flow;", "no value"},
  });
}

TEST(RuleFlow, FlowbitsHaveNumbersByName) {
  std::vector<std::string> names{"old"};
  const Signature signature = read_options(
      "flowbits:set,new; flowbits:isset,old|new|third; flowbits:isnotset, old; flowbits:unset,new;"
      "flowbits:toggle,third; flowbits:noalert;",
      {}, names);
  EXPECT_THAT(names, ElementsAre("old", "new", "third"));
  EXPECT_TRUE(signature.no_alert);
  ASSERT_EQ(signature.flowbits.size(), 5u);
  EXPECT_EQ(signature.flowbits[0].what, FlowbitTest::What::kSet);
  EXPECT_THAT(signature.flowbits[0].bits, ElementsAre(1));
  EXPECT_EQ(signature.flowbits[1].what, FlowbitTest::What::kIsSet);
  EXPECT_THAT(signature.flowbits[1].bits, ElementsAre(0, 1, 2));
  EXPECT_EQ(signature.flowbits[2].what, FlowbitTest::What::kIsNotSet);
  EXPECT_EQ(signature.flowbits[3].what, FlowbitTest::What::kUnset);
  EXPECT_EQ(signature.flowbits[4].what, FlowbitTest::What::kToggle);
}

TEST(RuleFlow, SnortSetsSeveralFlowbits) {
  const Signature signature = signature_of("flowbits:set,a&b;", kOfSnort3);
  ASSERT_EQ(signature.flowbits.size(), 2u);
  EXPECT_THAT(signature.flowbits[1].bits, ElementsAre(1));
}

TEST(RuleFlow, WhatFlowbitsCannotDoIsRefused) {
  expect_refused({
      {"flowbits:reset;", "'reset' is not known"},
      {"flowbits:set;", "a command and names"},
      {"flowbits:set,a,b;", "a command and names"},
      {"flowbits:set,;", "no name"},
      {"flowbits:set,a b;", "no name"},
      {"flowbits:set,a|b;", "'|' goes with isset only"},
      {"flowbits:isnotset,a|b;", "'|' goes with isset only"},
      {"flowbits:isset,a|b&c;", "does not go with"},
  });
  std::vector<std::string> names(kFlowbitsMax);
  EXPECT_THROW(read_options("flowbits:set,one-more;", {}, names), RuleRefused);
}

TEST(RuleFlow, ProtocolsAreRecognised) {
  const auto protocol = [](const char* options, RuleProtocol head) {
    return signature_of(options, draft_of(head)).protocol;
  };
  EXPECT_EQ(protocol("app-layer-protocol:http;", RuleProtocol::kTcp), RuleProtocol::kHttp);
  EXPECT_EQ(protocol("app-layer-protocol:tls;", RuleProtocol::kIp), RuleProtocol::kTls);
  EXPECT_EQ(protocol("app-layer-protocol:dns;", RuleProtocol::kIp), RuleProtocol::kDns);
  EXPECT_EQ(protocol("app-layer-protocol:ssh;", RuleProtocol::kSsh), RuleProtocol::kSsh);
  const Signature others = signature_of("app-layer-protocol:!http; app-layer-protocol:!tls;",
                                        draft_of(RuleProtocol::kTcp));
  EXPECT_EQ(others.protocol, RuleProtocol::kTcp);
  EXPECT_EQ(others.not_protocols,
            (std::vector<RuleProtocol>{RuleProtocol::kHttp, RuleProtocol::kTls}));
  EXPECT_TRUE(others.looks_at_transactions());
  expect_refused({
      {"app-layer-protocol:!bittorrent;", "not recognised"},
      {"app-layer-protocol:bittorrent;", "not recognised"},
      {"app-layer-protocol:dns;", "does not go with it"},
      {"app-layer-protocol:http; app-layer-protocol:tls;", "does not go with it"},
  });
}

}  // namespace
}  // namespace millrace
