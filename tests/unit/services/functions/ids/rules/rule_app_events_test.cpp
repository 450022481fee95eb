// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

TEST(RuleAppEvents, AreValuesOfABufferAndOfTheirProtocol) {
  const Signature rule =
      signature_of("app-layer-event:dns.z_flag_set; app-layer-event:dns.invalid_opcode;",
                   draft_of(RuleProtocol::kUdp));
  ASSERT_EQ(rule.buffers.size(), 2u) << "one value is not both";
  EXPECT_EQ(rule.buffers[0].buffer, RuleBuffer::kAppEvent);
  const auto content = test_of<ContentMatch>(rule);
  EXPECT_EQ(content.bytes, "dns.z_flag_set");
  EXPECT_TRUE(content.starts_with && content.ends_with);
  EXPECT_EQ(rule.protocol, RuleProtocol::kUdp) << "DNS has both transports";
  EXPECT_TRUE(rule.looks_at_transactions());
  EXPECT_EQ(signature_of("app-layer-event:http.missing_host_header;").protocol,
            RuleProtocol::kHttp);
  const Signature http = signature_of(
      "flow:to_server; http.uri; content:\"a\"; app-layer-event:http.uri_host_invalid;");
  EXPECT_EQ(http.buffers.size(), 2u);
}

TEST(RuleAppEvents, ThatNoParserTellsAreRefused) {
  expect_refused({{"app-layer-event:http.request_field_too_long;",
                   "app-layer-event: 'http.request_field_too_long' is none of the events"},
                  {"app-layer-event:applayer_mismatch_protocol_both_directions;", "is none of"},
                  {"app-layer-event:smtp.invalid_reply;", "is none of"},
                  {"app-layer-event:!dns.z_flag_set;", "is none of"},
                  {"app-layer-event;", "it has no value"}});
  expect_refused({{"app-layer-event:http.missing_host_header;", "does not have it"}},
                 draft_of(RuleProtocol::kTls));
}

}  // namespace
}  // namespace millrace
