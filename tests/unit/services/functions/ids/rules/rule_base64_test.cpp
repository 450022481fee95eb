// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

TEST(RuleBase64, SaysWhatIsDecoded) {
  auto test = last_test_of<Base64Decode>("base64_decode:bytes 300, offset 7, relative;");
  EXPECT_EQ(test.bytes, 300u);
  EXPECT_EQ(test.offset, 7u);
  EXPECT_TRUE(test.relative);
  EXPECT_EQ(test.form, Base64Form::kPlain);
  EXPECT_EQ(test.decoded, nullptr);
  test = last_test_of<Base64Decode>("base64_decode;");
  EXPECT_EQ(test.bytes, Base64Decode::kBytesMax);
  EXPECT_EQ(test.offset, 0u);
  EXPECT_FALSE(test.relative);
  test = last_test_of<Base64Decode>("base64_decode:offset 0,relative;", kOfSnort3);
  EXPECT_TRUE(test.relative);
  EXPECT_EQ(test.form, Base64Form::kFolded);
}

TEST(RuleBase64, IsAboutTheBufferOfTheTestBefore) {
  const Signature signature =
      signature_of("content:\"a\"; content:\"b\"; http_header; base64_decode:relative;");
  ASSERT_EQ(signature.buffers.size(), 2u);
  EXPECT_EQ(signature.buffers[1].buffer, RuleBuffer::kHttpHeader);
  EXPECT_TRUE(test_of<Base64Decode>(signature, 1, 1).relative);
  const Signature sticky = signature_of("content:\"a\"; http.uri; content:\"b\"; base64_decode;");
  EXPECT_EQ(sticky.buffers[1].tests.size(), 2u);
}

TEST(RuleBase64, WhatIsAskedOfTheDataStandsInIt) {
  const Signature signature = signature_of(
      "http.uri; content:\"abcdef\"; base64_decode:relative; base64_data; content:\"long one\"; "
      "nocase; pcre:\"/x/R\"; http.method; content:\"GET\";");
  ASSERT_EQ(signature.buffers.size(), 2u);
  EXPECT_EQ(signature.buffers[1].buffer, RuleBuffer::kHttpMethod);
  const auto decode = test_of<Base64Decode>(signature, 0, 1);
  ASSERT_NE(decode.decoded, nullptr);
  ASSERT_EQ(decode.decoded->tests.size(), 2u);
  EXPECT_EQ(std::get<ContentMatch>(decode.decoded->tests[0]).bytes, "long one");
  EXPECT_TRUE(std::get<PcreMatch>(decode.decoded->tests[1]).relative);
  ASSERT_TRUE(signature.fast_pattern);
  EXPECT_EQ(signature.fast_pattern->buffer, 0u) << "what is decoded gates nothing";
}

TEST(RuleBase64, AFastPatternBehindTheDataIsFound) {
  const Signature signature = signature_of(
      "http.uri; content:\"abcdef\"; base64_decode; base64_data; content:\"x\"; http.host; "
      "content:\"h\"; fast_pattern;");
  ASSERT_TRUE(signature.fast_pattern);
  EXPECT_EQ(signature.buffers[signature.fast_pattern->buffer].buffer, RuleBuffer::kHttpHost);
}

TEST(RuleBase64, WhatMakesNoSenseIsRefused) {
  expect_refused({
      {"base64_decode:bytes 0;", "not from 1"},
      {"base64_decode:bytes 65536;", "not from 1"},
      {"base64_decode:offset 65536;", "not from 0"},
      {"base64_decode:relatve;", "none of bytes, offset, relative"},
      {"base64_data; content:\"a\";", "no base64_decode"},
      {"base64_decode; base64_data; content:\"a\"; base64_decode;", "not decoded again"},
      {"base64_decode; content:\"a\"; base64_decode;", "twice"},
      {"base64_decode; base64_data; content:\"a\"; fast_pattern;", "does not go with base64_data"},
      {"base64_decode; base64_data; to_lowercase; content:\"a\";", "does not go with base64_data"},
      {"byte_extract:1,0,x; base64_decode; base64_data; content:\"a\"; depth:x;",
       "used in another"},
  });
}

}  // namespace
}  // namespace millrace
