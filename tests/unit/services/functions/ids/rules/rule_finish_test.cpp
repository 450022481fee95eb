// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

TEST(RuleFinish, ARuleHasASid) {
  const RuleSetup setup;
  std::vector<std::string> flowbits;
  RuleFiles files;
  RuleDraft draft{.setup = setup, .flowbits = flowbits, .files = files};
  EXPECT_THROW(finish_draft(draft), RuleRefused);
  draft.signature.sid = 1;
  EXPECT_NO_THROW(finish_draft(draft));
}

TEST(RuleFinish, BuffersOfOneCaseTakeContentsOfEitherCase) {
  EXPECT_EQ(last_test_of<ContentMatch>("ja3.hash; content:\"AB0c\";").bytes, "ab0c");
  EXPECT_EQ(last_test_of<ContentMatch>("ja3s.hash; content:\"AB0c\";").bytes, "ab0c");
  EXPECT_EQ(last_test_of<ContentMatch>("tls.cert_fingerprint; content:\"4A:5B\";").bytes, "4a:5b");
  EXPECT_EQ(last_test_of<ContentMatch>("tls.cert_serial; content:\"4a:5b\";").bytes, "4A:5B");
  EXPECT_EQ(last_test_of<ContentMatch>("http.uri; content:\"Ab\";").bytes, "Ab");
  EXPECT_EQ(last_test_of<ContentMatch>("http.host; content:\"Ab\"; nocase;").bytes, "ab");
  expect_refused({{"http.host; content:\"Ab\";", "in lower case"}});
}

TEST(RuleFinish, AVariableIsOfOneBuffer) {
  EXPECT_EQ(refusal_of("http.uri; byte_extract:1,0,a; byte_test:1,>,a,1;"), "");
  expect_refused({
      {"http.uri; byte_extract:1,0,a; http.header; byte_test:1,>,a,1;", "is used in another"},
      {"http.uri; byte_extract:1,0,a; http.header; content:\"x\"; within:a;", "in another"},
      {"http.uri; byte_extract:1,0,a; http.header; isdataat:a;", "in another"},
      {"http.uri; byte_extract:1,0,a; http.header; byte_jump:1,a;", "in another"},
      {"http.uri; byte_extract:1,0,a; http.header;"
       "byte_math:bytes 1,offset 0,oper +,rvalue a,result b;",
       "in another"},
  });
}

TEST(RuleFinish, FlagsAreOfTcp) {
  for (const RuleProtocol protocol :
       {RuleProtocol::kIp, RuleProtocol::kTcp, RuleProtocol::kTcpPacket}) {
    EXPECT_EQ(refusal_of("flags:S;", draft_of(protocol)), "");
  }
  expect_refused({{"flags:S;", "does not have it"}}, draft_of(RuleProtocol::kUdp));
  expect_refused({{"flags:S;", "does not have it"}}, draft_of(RuleProtocol::kIcmp));
  expect_refused({{"flags:S; flow:only_stream;", "does not go with"}});
}

}  // namespace
}  // namespace millrace
