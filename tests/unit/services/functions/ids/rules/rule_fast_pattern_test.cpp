// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

/// "http.uri abc": the buffer and the bytes of a rule's fast pattern.
std::string pattern_of(const std::string& options, const DraftOf& of = {}) {
  const Signature signature = signature_of(options, of);
  if (!signature.fast_pattern) return "";
  const FastPattern& pattern = *signature.fast_pattern;
  const auto content = test_of<ContentMatch>(signature, pattern.buffer, pattern.test);
  return std::string(traits_of(signature.buffers[pattern.buffer].buffer).name) + " " +
         content.bytes.substr(pattern.offset, pattern.length);
}

TEST(RuleFastPattern, TheRuleMayNameOneOrAPartOfIt) {
  EXPECT_EQ(pattern_of("content:\"longest\"; content:\"one\"; fast_pattern;"), "pkt_data one");
  EXPECT_EQ(pattern_of("content:\"longest\"; content:\"one\"; fast_pattern:only;"), "pkt_data one");
  EXPECT_EQ(pattern_of("content:\"abcdef\"; fast_pattern:2,3;"), "pkt_data cde");
  EXPECT_EQ(
      pattern_of("content:\"abcdef\",fast_pattern_offset 2,fast_pattern_length 3;", kOfSnort3),
      "pkt_data cde");
  EXPECT_EQ(pattern_of("content:\"abcdef\",fast_pattern,fast_pattern_offset 2;", kOfSnort3),
            "pkt_data cdef");
  EXPECT_EQ(
      pattern_of("http.uri; content:\"longest\"; http.method; content:\"PUT\"; fast_pattern;"),
      "http.method PUT");
}

TEST(RuleFastPattern, ElseItIsTheLongestPositiveOne) {
  EXPECT_EQ(pattern_of("content:\"abc\"; content:\"abcd\"; content:!\"abcdef\";"), "pkt_data abcd");
  EXPECT_EQ(pattern_of("content:!\"abcdef\"; fast_pattern; content:\"abc\";"), "pkt_data abc");
  EXPECT_EQ(pattern_of("content:!\"abc\";"), "");
  EXPECT_EQ(pattern_of("pcre:\"/abc/\";"), "");
  EXPECT_EQ(pattern_of(""), "");
}

TEST(RuleFastPattern, SelectiveBuffersGoFirst) {
  EXPECT_EQ(pattern_of("content:\"a-longer-one\"; http.uri; content:\"/abc\";"), "http.uri /abc");
  EXPECT_EQ(pattern_of("http.method; content:\"OPTIONS\"; http.uri; content:\"/abc\";"),
            "http.uri /abc");
  EXPECT_EQ(pattern_of("content:\"a-longer-one\"; http.uri; content:\"/\";"),
            "pkt_data a-longer-one")
      << "short ones select nothing";
}

TEST(RuleFastPattern, OfEqualLengthTheRarerBytesWin) {
  EXPECT_EQ(pattern_of("content:\"aaaaaa\"; content:\"a/$%b1\";"), "pkt_data a/$%b1");
  EXPECT_EQ(pattern_of("content:\"|00 00 00 00|\"; content:\"name\";"), "pkt_data name");
}

TEST(RuleFastPattern, BehindTransformsThereIsNone) {
  EXPECT_EQ(pattern_of("http.uri; to_lowercase; content:\"abcdef\";"), "");
  EXPECT_EQ(pattern_of("http.uri; to_lowercase; content:\"abcdef\"; fast_pattern;"), "");
  EXPECT_EQ(pattern_of("http.uri; to_lowercase; content:\"abcdef\"; pkt_data; content:\"x\";"),
            "pkt_data x");
}

}  // namespace
}  // namespace millrace
