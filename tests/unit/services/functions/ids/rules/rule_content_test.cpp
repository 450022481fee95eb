// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

ContentMatch content_of_options(const std::string& options) {
  return last_test_of<ContentMatch>(options);
}

TEST(RuleContent, ModifiersStandBehindContents) {
  const ContentMatch content =
      content_of_options("content:!\"A|62|C\"; nocase; offset:3; depth:12; rawbytes; endswith;");
  EXPECT_EQ(content.bytes, "abc");
  EXPECT_TRUE(content.nocase && content.negated && content.raw && content.ends_with);
  EXPECT_FALSE(content.starts_with || content.is_relative());
  EXPECT_EQ(content.offset->value, 3);
  EXPECT_EQ(content.depth->value, 12);
}

TEST(RuleContent, RelativeOnesHaveDistanceAndWithin) {
  const ContentMatch content =
      content_of_options("content:\"x\"; content:\"abc\"; distance:-4; within:7;");
  EXPECT_TRUE(content.is_relative());
  EXPECT_EQ(content.distance->value, -4);
  EXPECT_EQ(content.within->value, 7);
  EXPECT_TRUE(content_of_options("content:\"abc\"; within:3;").is_relative())
      << "the first one of a buffer may be relative to its start";
}

TEST(RuleContent, PlacesMayBeVariables) {
  const Signature signature =
      signature_of("byte_extract:1,0,a; byte_extract:1,1,b; content:\"x\"; offset:b; depth:a;");
  const auto content = test_of<ContentMatch>(signature, 0, 2);
  EXPECT_EQ(content.offset->variable, 1);
  EXPECT_EQ(content.depth->variable, 0);
}

TEST(RuleContent, Snort3HasModifiersInTheContent) {
  const auto content = last_test_of<ContentMatch>(
      "content:\"AbCd\",nocase,offset 5,depth 10,fast_pattern,fast_pattern_offset 1,"
      "fast_pattern_length 2;",
      kOfSnort3);
  EXPECT_EQ(content.bytes, "abcd");
  EXPECT_EQ(content.offset->value, 5);
  EXPECT_EQ(content.depth->value, 10);
  const auto relative =
      last_test_of<ContentMatch>("content:!\"ab\",within 14,distance 1;", kOfSnort3);
  EXPECT_TRUE(relative.negated);
  EXPECT_EQ(relative.within->value, 14);
}

TEST(RuleContent, UriContentIsOfTheUri) {
  const Signature signature = signature_of("uricontent:\"/a\"; nocase;");
  ASSERT_EQ(signature.buffers.size(), 1u);
  EXPECT_EQ(signature.buffers[0].buffer, RuleBuffer::kHttpUri);
  EXPECT_TRUE(test_of<ContentMatch>(signature).nocase);
}

TEST(RuleContent, WhatContradictsIsRefused) {
  expect_refused({
      {"content:abc;", "no double quotes"},
      {"content:\"\";", "empty content"},
      {"content:\"a\"x;", "behind the quotes"},
      {"content:\"a\",foo;", "'foo' is no modifier"},
      {"content:\"a\",offset;", "'offset' has no value"},
      {"content:\"a\",nocase 1;", "'nocase' takes no value"},
      {"nocase;", "no content stands in front"},
      {"offset:1;", "no content stands in front"},
      {"content:\"a\"; nocase:1;", "takes no value"},
      {"content:\"a\"; offset:70000;", "not from 0 to 65535"},
      {"content:\"a\"; offset:-1;", "not from 0"},
      {"content:\"a\"; distance:1048577;", "not from"},
      {"content:\"a\"; offset:1; offset:2;", "twice"},
      {"content:\"abc\"; depth:2;", "2 is less than the content's 3 bytes"},
      {"content:\"abc\"; within:2;", "2 is less than the content's 3 bytes"},
      {"content:\"a\"; offset:1; distance:1;", "do not go with"},
      {"content:\"a\"; within:1; depth:1;", "do not go with"},
      {"content:\"a\"; depth:5; startswith;", "startswith does not go with"},
      {"content:\"a\"; startswith; within:5;", "startswith does not go with"},
      {"content:\"a\"; offset:b;", "no byte_extract or byte_math before it sets 'b'"},
      {"http.uri; content:\"a\"; http.header; nocase;", "no content stands in front"},
  });
}

TEST(RuleContent, FastPatternsAreOfOneContent) {
  expect_refused({
      {"content:\"a\"; fast_pattern; content:\"b\"; fast_pattern;", "one content of a rule"},
      {"content:\"abc\"; fast_pattern:1,3;", "not within the content"},
      {"content:\"abc\"; fast_pattern:1;", "neither only nor"},
      {"content:\"abc\"; fast_pattern:1,0;", "not from 1"},
      {"content:!\"abc\"; offset:1; fast_pattern;", "negated content that has a place"},
      {"content:\"abc\"; fast_pattern:only; offset:1;", "only does not go with"},
      {"content:!\"abc\"; fast_pattern:only;", "only does not go with"},
      {"content:\"abc\"; fast_pattern:only; content:\"b\"; distance:0;", "is relative to it"},
  });
  EXPECT_EQ(refusal_of("content:!\"abc\"; fast_pattern;"), "");
}

}  // namespace
}  // namespace millrace
