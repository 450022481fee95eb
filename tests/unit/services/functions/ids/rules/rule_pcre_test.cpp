// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_pcre.hpp"

#include <gtest/gtest.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

TEST(RulePcre, FlagsAreThoseOfPcre) {
  const auto match = last_test_of<PcreMatch>(R"(pcre:!"/^a\/b\x3b/ismxAEGROB";)");
  EXPECT_EQ(match.expression, R"(^a\/b\x3b)");
  EXPECT_EQ(match.flags, PCRE2_CASELESS | PCRE2_DOTALL | PCRE2_MULTILINE | PCRE2_EXTENDED |
                             PCRE2_ANCHORED | PCRE2_DOLLAR_ENDONLY | PCRE2_UNGREEDY);
  EXPECT_TRUE(match.relative && match.negated);
}

TEST(RulePcre, LettersNameBuffers) {
  const struct {
    char letter;
    RuleBuffer buffer;
  } rows[] = {
      {'U', RuleBuffer::kHttpUri},         {'I', RuleBuffer::kHttpRawUri},
      {'P', RuleBuffer::kHttpRequestBody}, {'Q', RuleBuffer::kHttpResponseBody},
      {'H', RuleBuffer::kHttpHeader},      {'D', RuleBuffer::kHttpRawHeader},
      {'M', RuleBuffer::kHttpMethod},      {'C', RuleBuffer::kHttpCookie},
      {'S', RuleBuffer::kHttpStatusCode},  {'Y', RuleBuffer::kHttpStatusMessage},
      {'V', RuleBuffer::kHttpUserAgent},   {'W', RuleBuffer::kHttpHost},
      {'Z', RuleBuffer::kHttpRawHost},
  };
  for (const auto& row : rows) {
    const Signature signature = signature_of(std::string("pcre:\"/a/i") + row.letter + "\";");
    ASSERT_EQ(signature.buffers.size(), 1u) << row.letter;
    EXPECT_EQ(signature.buffers[0].buffer, row.buffer) << row.letter;
    EXPECT_EQ(test_of<PcreMatch>(signature).flags, PCRE2_CASELESS);
  }
}

TEST(RulePcre, QuotesAndBlanksMayStandInAnExpression) {
  EXPECT_EQ(last_test_of<PcreMatch>(R"(pcre: "/["']\s*=\"["']/R";)").expression,
            R"(["']\s*=\"["'])");
}

TEST(RulePcre, TheStickyBufferAndItsLetterAreOne) {
  const Signature signature = signature_of("http.uri; to_lowercase; content:\"b\"; pcre:\"/a/U\";");
  ASSERT_EQ(signature.buffers.size(), 1u);
  EXPECT_EQ(signature.buffers[0].tests.size(), 2u);
}

TEST(RulePcre, WhatPcre2RefusesIsRefusedWithItsPlace) {
  expect_refused({
      {R"(pcre:"/a(b/";)", "missing closing parenthesis at byte 3"},
      {R"(pcre:"/[b-a]/";)", "range out of order"},
      {R"(pcre:"/abc";)", "no slashes"},
      {R"(pcre:"abc";)", "no slashes"},
      {R"(pcre:"//i";)", "empty expression"},
      {"pcre:/abc/;", "no double quotes"},
      {R"(pcre:"/a/k";)", "the flag 'k' is not known"},
      {R"(pcre:"/a/UH";)", "two of its flags"},
      {R"(pcre:"/a/BU";)", "'B' does not go with a buffer"},
      {R"(http.header; pcre:"/a/U";)", "another buffer than the sticky one"},
  });
  expect_refused({{R"(pcre:"/a/U";)", "the flag 'U' is not known"}}, kOfSnort3);
}

TEST(RulePcre, GroupsAreCounted) {
  EXPECT_EQ(check_expression("a(b)(?:c)(d)", 0), 2u);
  EXPECT_EQ(check_expression("a", PCRE2_CASELESS), 0u);
}

}  // namespace
}  // namespace millrace
