// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/regex.hpp"

#include <gtest/gtest.h>

#include <string>

#include "services/functions/ids/detect/content_search.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

using RegexFound = RegexMatch::Found;

RegexMatch find_regex(const Regex& regex, const std::string& text, RegexText how = {}) {
  RegexScratch scratch;
  how.bytes = std::as_bytes(std::span(text));
  return regex.find(how, scratch);
}

TEST(Regex, FindsPlacesAndTheFirstGroup) {
  const Regex regex("b(c+)", PCRE2_CASELESS);
  const RegexMatch match = find_regex(regex, "abxaBCcd");
  EXPECT_EQ(match.found, RegexFound::kYes);
  EXPECT_EQ(match.begin, 4u);
  EXPECT_EQ(match.end, 7u);
  EXPECT_EQ(match.group_begin, 5u);
  EXPECT_EQ(match.group_end, 7u);
  EXPECT_EQ(regex.groups(), 1u);
  EXPECT_EQ(find_regex(regex, "abcbc", {.from = 2}).begin, 3u);
  EXPECT_EQ(find_regex(regex, "abcbc", {.from = 5}).found, RegexFound::kNo);
  EXPECT_EQ(find_regex(regex, "abcbc", {.from = 6}).found, RegexFound::kNo);
  EXPECT_EQ(find_regex(Regex("x|y(z)", 0), "x").group_begin, kNotFound);
}

TEST(Regex, MatchesNothing) {
  EXPECT_EQ(find_regex(Regex("^$", 0), "").found, RegexFound::kYes);
  EXPECT_EQ(find_regex(Regex("a", 0), "").found, RegexFound::kNo);
}

TEST(Regex, BytesAreNoUtf8) {
  EXPECT_EQ(find_regex(Regex("\\xff.", PCRE2_DOTALL), "a\xff\x80").found, RegexFound::kYes);
  EXPECT_THROW(Regex("(*UTF)a", 0), Error);
}

TEST(Regex, SaysWhatIsWrongAndWhere) {
  try {
    const Regex regex("a(b", 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the expression is refused at byte 3: missing closing parenthesis");
  }
}

TEST(Regex, WithBytesInFrontItDoesNotBeginThere) {
  const Regex begin("^a", 0);
  EXPECT_TRUE(begin.is_anchored());
  EXPECT_EQ(find_regex(begin, "ab").found, RegexFound::kYes);
  EXPECT_EQ(find_regex(begin, "ab", {.begins_here = false}).found, RegexFound::kNo);
  const Regex lines("^b", PCRE2_MULTILINE);
  EXPECT_FALSE(lines.is_anchored());
  EXPECT_EQ(find_regex(lines, "b\nb", {.begins_here = false}).begin, 2u);
}

TEST(Regex, WhatCanFollowLeavesItsEndOpen) {
  for (const char* expression : {"ab$", "ab\\z", "ab\\Z", "ab\\b", "ab(?=c)", "ab(?!c)"}) {
    const Regex regex(expression, 0);
    EXPECT_TRUE(regex.minds_what_follows()) << expression;
    EXPECT_EQ(find_regex(regex, "ab", {.ends_here = false}).found, RegexFound::kOpen) << expression;
    EXPECT_NE(find_regex(regex, "xx", {.ends_here = false}).found, RegexFound::kYes) << expression;
  }
  EXPECT_EQ(find_regex(Regex("ab$", 0), "ab").found, RegexFound::kYes);
  EXPECT_EQ(find_regex(Regex("ab(?!c)", 0), "abd", {.ends_here = false}).found, RegexFound::kYes);
  const Regex plain("ab+", 0);
  EXPECT_FALSE(plain.minds_what_follows());
  EXPECT_EQ(find_regex(plain, "ab", {.ends_here = false}).found, RegexFound::kYes);
}

TEST(Regex, ACatastrophicExpressionRunsIntoItsLimit) {
  const std::string text(40, 'a');
  EXPECT_EQ(find_regex(Regex("^(a+)+$", 0), text + "b").found, RegexFound::kFailed);
  // The same by the interpreter.
  const Regex slow("(*NO_JIT)^(a+)+$", 0);
  EXPECT_EQ(find_regex(slow, text + "b").found, RegexFound::kFailed);
}

TEST(Regex, GroupsBeyondTheFirstDoNotHurt) {
  const RegexMatch match = find_regex(Regex("(a)(b)(c)\\3", 0), "xabcc");
  EXPECT_EQ(match.found, RegexFound::kYes);
  EXPECT_EQ(match.end, 5u);
  EXPECT_EQ(match.group_begin, 1u);
}

}  // namespace
}  // namespace millrace
